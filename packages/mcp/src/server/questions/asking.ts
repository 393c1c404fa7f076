// All functions that ask a client, in one module. A process loads the module at its first question. See
// `with-asking.ts`.
import type { AskedQuestion, Question } from "../../era/era.js";
import { answerTo, questionFor } from "../../era/question.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkListRootsResult } from "../../protocol/checks/check-answers.js";
import { compileSchema } from "../../protocol/compile-schema.js";
import { McpError } from "../../protocol/error.js";
import type { ElicitRequestedSchema } from "../../protocol/features/elicitation.js";
import type { Root } from "../../protocol/features/roots.js";
import type { CreateMessageResult } from "../../protocol/features/sampling.js";
import { standardFormats } from "../../schema/json-schema/formats.js";
import { describeIssues, type Parser } from "../../schema/parse.js";
import type { AnySchema } from "../../schema/standard.js";
import type { Asker } from "../call/asker.js";
import type { ServerCall } from "../call/server-call.js";
import { visitsOf } from "../call/url-required.js";
import type { ElicitReply, QuestionOptions, SampleRequest, UrlQuestionOptions } from "../contract/context.js";
import { Replay } from "./by-replay.js";
import { requestAsker } from "./by-request.js";
import { toForm } from "./form.js";
import { readSample, sampleQuestion } from "./sampling.js";

export { openReplay } from "./by-replay.js";

/** Asks the user to fill in a form. Throws if the user declines or dismisses the form. */
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

/** Asks the user to fill in a form, and returns the user's action with the answer. */
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

/** Asks the user to open a page. Resolves when the user agrees, not when the visit ends. */
export async function elicitUrl(
  call: ServerCall,
  message: string,
  url: string,
  options: UrlQuestionOptions,
): Promise<void> {
  if (!URL.canParse(url)) {
    throw new McpError("misuse", `"${url}" is not a valid URL`, { fix: "Pass an absolute URL." });
  }
  const elicitationId = options.elicitationId ?? call.config.randomId();
  const question: Question = { method: "elicitation/create", params: { mode: "url", message, url, elicitationId } };
  const { answer } = await ask(call, { question, needs: ["elicitation.url"] }, options);
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action !== "accept") throw refusal(action === "decline" ? "decline" : "cancel", `the user did not open ${url}`);
}

/** Asks the client's model to generate a message. */
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

/** Forwards a question of another server to the client. The answer is in the form of the newest revision. */
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
async function ask(call: ServerCall, asked: AskedQuestion, { key }: QuestionOptions): Promise<ClientAnswer> {
  const { revision } = call.request;
  const { question, needs } = questionFor(asked, revision);
  // The tool's timeout does not include the time that the user takes.
  const deadline = call.root.admission?.deadline;
  deadline?.pause();
  try {
    const answer = await askerOf(call).ask({ question, needs, key });
    return { answer: answerTo(asked.question, answer, revision), shown: question };
  } finally {
    deadline?.resume();
  }
}

/** The client's answer, and the question in the form that the client received. */
interface ClientAnswer {
  readonly answer: unknown;
  readonly shown: Question;
}

/** A compiled schema and the form that asks for it. */
interface Form {
  readonly parser: Parser;
  readonly requestedSchema: ElicitRequestedSchema;
}

/** Forms by server and schema object. Each server converts a schema object only once, and with its own options. */
const forms = new WeakMap<object, WeakMap<object, Form>>();

/** Returns the form for a schema. Throws if a form cannot express it. */
function formOf(call: ServerCall, schema: AnySchema): Form {
  const own = forms.get(call.config) ?? new WeakMap<object, Form>();
  forms.set(call.config, own);
  const known = own.get(schema);
  if (known !== undefined) return known;
  const parser = compileSchema(schema, {
    io: "input",
    what: "a question",
    adapter: call.config.options.toJsonSchema,
    formats: standardFormats,
  });
  const form = { parser, requestedSchema: toForm(parser.jsonSchema) };
  own.set(schema, form);
  return form;
}

/**
 * Reads the user's reply and validates its content against the schema.
 *
 * Spec: Elicitation, "Response Actions",
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions
 */
async function readElicitReply({ answer, shown }: ClientAnswer, form: Form): Promise<ElicitReply<unknown>> {
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action === "decline" || action === "cancel") return { action };
  if (!isObject(answer) || action !== "accept") {
    throw new McpError("invalid_params", "the `action` of an answer must be accept, decline or cancel");
  }
  const parsed = await form.parser.parse(answer["content"] ?? {});
  if (parsed.ok) return { action, content: parsed.value };
  throw new McpError(
    "invalid_params",
    `an answer does not fit the requested schema: ${describeIssues(parsed.issues)}`,
    {
      data: { requestedSchema: shown.params?.["requestedSchema"] },
    },
  );
}

function refusal(action: "decline" | "cancel", message: string): McpError {
  return new McpError(action === "decline" ? "declined" : "dismissed", message, {
    fix: "Catch this kind of error, or use `ctx.tryElicit`, to continue without the answer.",
  });
}

/** Returns the asker of a call, created by its first question or step. Mounted servers ask through the outer call. */
export function askerOf(call: ServerCall): Asker {
  call.questions ??= {};
  call.questions.asker ??= call.outer === undefined ? usualAsker(call) : askerOf(call.outer);
  return call.questions.asker;
}

/** Creates the asker of a call whose request has no answers. */
export function usualAsker(call: ServerCall): Asker {
  return call.replays ? new Replay(call, undefined, {}) : requestAsker(call);
}

/**
 * Asks the client to visit the pages of the error.
 *
 * If questions are sent in interim results, the promise never resolves, because each round ends with a question. If the
 * client has agreed to all visits and the handler still throws, the next round asks again, until the rounds of the call
 * are used up.
 *
 * If answers arrive within the call, `run` runs the handler again after the visits, at most `limits.rounds` times.
 */
export async function askForVisits<T = never>(
  call: ServerCall,
  error: McpError,
  run?: () => T | Promise<T>,
): Promise<T> {
  const visits = visitsOf(error);
  const asker = askerOf(call);
  const { repeats } = asker;
  const isOver = repeats !== undefined && (run === undefined || repeats >= call.config.limits.rounds);
  if (visits.length === 0 || isOver) throw error;
  // Questions that were answered before the last run resolve at once.
  for (let asked = 0; repeats === undefined || asked <= repeats; asked++) {
    await Promise.all(visits.map(({ message, url }) => elicitUrl(call, message, url, {})));
  }
  asker.repeat?.();
  // Safe: without `run`, the error was thrown above or the loop never ends.
  return (run as () => T | Promise<T>)();
}
