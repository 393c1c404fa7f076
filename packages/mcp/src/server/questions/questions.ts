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
  run: ServerCall,
  message: string,
  schema: AnySchema,
  options: QuestionOptions,
): Promise<unknown> {
  const reply = await tryElicit(run, message, schema, options);
  if (reply.action === "accept") return reply.content;
  throw refusal(
    reply.action,
    `the user ${reply.action === "decline" ? "declined to answer" : "dismissed"}: ${message}`,
  );
}

/** Asks for a form and tells what the user did. */
export async function tryElicit(
  run: ServerCall,
  message: string,
  schema: AnySchema,
  options: QuestionOptions,
): Promise<ElicitReply<unknown>> {
  const form = formOf(run, schema);
  const params = { message, requestedSchema: requestedSchema(run, form) };
  return readElicitReply(run, await ask(run, "elicitation/create", params, ["elicitation.form"], options), form);
}

/** Asks the user to open a page; resolves on consent. */
export async function elicitUrl(
  run: ServerCall,
  message: string,
  url: string,
  options: UrlQuestionOptions,
): Promise<void> {
  if (!URL.canParse(url)) {
    throw new McpError("internal_error", `"${url}" is no URL`, { fix: "Pass an absolute URL." });
  }
  const id = run.call.features.elicitationIds ? { elicitationId: options.elicitationId ?? run.facts.randomId() } : {};
  const params = { mode: "url", message, url, ...id };
  const answer = await ask(run, "elicitation/create", params, ["elicitation.url"], options);
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action !== "accept") throw refusal(action === "decline" ? "decline" : "cancel", `the user did not open ${url}`);
}

/** Asks the client's model. */
export async function sample(
  run: ServerCall,
  request: SampleRequest,
  options: QuestionOptions,
): Promise<CreateMessageResult> {
  const { params, needs } = sampleQuestion(run, request);
  return readSample(await ask(run, "sampling/createMessage", params, needs, options));
}

/** Asks which folders the client works in. */
export async function roots(run: ServerCall, options: QuestionOptions): Promise<Root[]> {
  const answer = await ask(run, "roots/list", undefined, ["roots"], options);
  const { result, problems } = checkListRootsResult(answer);
  if (result !== undefined) return result.roots;
  throw new McpError("invalid_params", `the client's answer to roots/list is malformed: ${problems.join("; ")}`);
}

async function ask(
  run: ServerCall,
  method: PreparedQuestion["question"]["method"],
  params: Params | undefined,
  needs: readonly string[],
  options: QuestionOptions,
): Promise<unknown> {
  const question = params === undefined ? { method } : { method, params };
  // A user who takes a while to answer is no tool that takes too long.
  run.deadline?.pause();
  try {
    return await run.asker.ask({ question, needs, key: options.key });
  } finally {
    run.deadline?.resume();
  }
}

function refusal(action: "decline" | "cancel", message: string): McpError {
  return new McpError(action === "decline" ? "declined" : "dismissed", message, {
    fix: "Catch this kind, or use `ctx.tryElicit`, to go on without the answer.",
  });
}
