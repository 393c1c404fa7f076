import { isObject, type Params } from "../../jsonrpc/message.js";
import { checkListRootsResult } from "../../protocol/answers.js";
import { McpError } from "../../protocol/error.js";
import type { Root } from "../../protocol/features/roots.js";
import type { CreateMessageResult } from "../../protocol/features/sampling.js";
import type { AnySchema } from "../../schema/standard.js";
import type { ServerCall } from "../call/server-call.js";
import type { ElicitReply, QuestionOptions, SampleRequest, UrlQuestionOptions } from "../context.js";
import type { PreparedQuestion } from "./asker.js";
import { formOf, readElicitReply, requestedSchema } from "./elicitation.js";
import { readSample, sampleQuestion } from "./sampling.js";

/** Asks for a form; throws when the user does not fill it in. */
export async function elicit(
  call: ServerCall,
  message: string,
  schema: AnySchema,
  options: QuestionOptions,
): Promise<unknown> {
  const reply = await tryElicit(call, message, schema, options);
  if (reply.action === "accept") return reply.content;
  throw refusal(
    reply.action,
    `the user ${reply.action === "decline" ? "declined to answer" : "dismissed"}: ${message}`,
  );
}

/** Asks for a form and tells what the user did. */
export async function tryElicit(
  call: ServerCall,
  message: string,
  schema: AnySchema,
  options: QuestionOptions,
): Promise<ElicitReply<unknown>> {
  const form = formOf(call, schema);
  const params = { message, requestedSchema: requestedSchema(call, form) };
  return readElicitReply(call, await ask(call, "elicitation/create", params, ["elicitation.form"], options), form);
}

/** Asks the user to open a page; resolves on consent. */
export async function elicitUrl(
  call: ServerCall,
  message: string,
  url: string,
  options: UrlQuestionOptions,
): Promise<void> {
  if (!URL.canParse(url)) {
    throw new McpError("internal_error", `"${url}" is no URL`, { fix: "Pass an absolute URL." });
  }
  const id = call.request.features.elicitationIds
    ? { elicitationId: options.elicitationId ?? call.facts.randomId() }
    : {};
  const params = { mode: "url", message, url, ...id };
  const answer = await ask(call, "elicitation/create", params, ["elicitation.url"], options);
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action !== "accept") throw refusal(action === "decline" ? "decline" : "cancel", `the user did not open ${url}`);
}

/** Asks the client's model. */
export async function sample(
  call: ServerCall,
  request: SampleRequest,
  options: QuestionOptions,
): Promise<CreateMessageResult> {
  const { params, needs } = sampleQuestion(call, request);
  return readSample(await ask(call, "sampling/createMessage", params, needs, options));
}

/** Asks which folders the client works in. */
export async function roots(call: ServerCall, options: QuestionOptions): Promise<Root[]> {
  const answer = await ask(call, "roots/list", undefined, ["roots"], options);
  const { result, problems } = checkListRootsResult(answer);
  if (result !== undefined) return result.roots;
  throw new McpError("invalid_params", `the client's answer to roots/list is malformed: ${problems.join("; ")}`);
}

async function ask(
  call: ServerCall,
  method: PreparedQuestion["question"]["method"],
  params: Params | undefined,
  needs: readonly string[],
  options: QuestionOptions,
): Promise<unknown> {
  const question = params === undefined ? { method } : { method, params };
  // A user who takes a while to answer is no tool that takes too long.
  call.deadline?.pause();
  try {
    return await call.asker.ask({ question, needs, key: options.key });
  } finally {
    call.deadline?.resume();
  }
}

function refusal(action: "decline" | "cancel", message: string): McpError {
  return new McpError(action === "decline" ? "declined" : "dismissed", message, {
    fix: "Catch this kind, or use `ctx.tryElicit`, to go on without the answer.",
  });
}
