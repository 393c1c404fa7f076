import type { AskedQuestion, Question } from "../../era/era.js";
import { answerTo, questionFor } from "../../era/question.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkListRootsResult } from "../../protocol/checks/check-answers.js";
import { McpError } from "../../protocol/error.js";
import type { Root } from "../../protocol/features/roots.js";
import type { CreateMessageResult } from "../../protocol/features/sampling.js";
import type { AnySchema } from "../../schema/standard.js";
import type { ServerCall } from "../call/server-call.js";
import type { ElicitReply, QuestionOptions, SampleRequest, UrlQuestionOptions } from "../contract/context.js";
import { type Answered, formOf, readElicitReply } from "./elicitation.js";
import { readSample, sampleQuestion } from "./sampling.js";

/** Asks the user to fill in a form. Throws when the user does not. */
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

/** Asks the user to fill in a form, and returns what the user did. */
export async function tryElicit(
  call: ServerCall,
  message: string,
  schema: AnySchema,
  options: QuestionOptions,
): Promise<ElicitReply<unknown>> {
  const form = formOf(call, schema);
  const params = { message, requestedSchema: form.requestedSchema };
  const question: Question = { method: "elicitation/create", params };
  return readElicitReply(await ask(call, { question, needs: ["elicitation.form"] }, options), form);
}

/** Asks the user to open a page. Resolves when the user agrees, not when the visit is over. */
export async function elicitUrl(
  call: ServerCall,
  message: string,
  url: string,
  options: UrlQuestionOptions,
): Promise<void> {
  if (!URL.canParse(url)) {
    throw new McpError("misuse", `"${url}" is not a valid URL`, { fix: "Pass an absolute URL." });
  }
  const elicitationId = options.elicitationId ?? call.facts.randomId();
  const question: Question = { method: "elicitation/create", params: { mode: "url", message, url, elicitationId } };
  const { answer } = await ask(call, { question, needs: ["elicitation.url"] }, options);
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action !== "accept") throw refusal(action === "decline" ? "decline" : "cancel", `the user did not open ${url}`);
}

/** Asks the client's model. */
export async function sample(
  call: ServerCall,
  request: SampleRequest,
  options: QuestionOptions,
): Promise<CreateMessageResult> {
  const { answer } = await ask(call, sampleQuestion(request), options);
  return readSample(answer);
}

/** Asks which folders the client works in. */
export async function roots(call: ServerCall, options: QuestionOptions): Promise<Root[]> {
  const { answer } = await ask(call, { question: { method: "roots/list" }, needs: ["roots"] }, options);
  const { result, problems } = checkListRootsResult(answer);
  if (result !== undefined) return result.roots;
  throw new McpError("invalid_params", `the client's answer to roots/list is malformed: ${problems.join("; ")}`);
}

/** Puts a question of another server to the client; the answer is in the form of the newest revision. */
export async function forwardQuestion(call: ServerCall, question: Question, key: string): Promise<unknown> {
  return (await ask(call, { question, needs: needsOf(question) }, { key })).answer;
}

function needsOf({ method, params = {} }: Question): string[] {
  if (method === "roots/list") return ["roots"];
  if (method === "elicitation/create") return [params["mode"] === "url" ? "elicitation.url" : "elicitation.form"];
  const usesTools = params["tools"] !== undefined || params["toolChoice"] !== undefined;
  return usesTools ? ["sampling", "sampling.tools"] : ["sampling"];
}

/** Asks in the form of the client's revision, and returns the answer in the form of the newest one. */
async function ask(
  { request, asker, root }: ServerCall,
  asked: AskedQuestion,
  { key }: QuestionOptions,
): Promise<Answered> {
  const { question, needs } = questionFor(asked, request.revision);
  // The time that the user takes does not count for the tool's timeout.
  const deadline = root.admission?.deadline;
  deadline?.pause();
  try {
    const answer = await asker.ask({ question, needs, key });
    return { answer: answerTo(asked.question, answer, request.revision), shown: question };
  } finally {
    deadline?.resume();
  }
}

function refusal(action: "decline" | "cancel", message: string): McpError {
  return new McpError(action === "decline" ? "declined" : "dismissed", message, {
    fix: "Catch this kind of error, or use `ctx.tryElicit`, to continue without the answer.",
  });
}
