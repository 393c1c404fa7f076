import { nearestName, type Revision } from "@parley/mcp/protocol";
import type { MessageProblem } from "../contract/timeline.js";
import { checkDefinition, MOST_PROBLEMS, MOST_STEPS, type Place } from "./check-shape.js";
import { definitionsOf, type SchemaDefinitions } from "./schema-definitions.js";
import { describeValue, listed, quoted } from "./shape-words.js";

/** A message, and what must be known to hold it to the schema of its revision. */
export interface JudgedMessage {
  readonly revision: Revision;
  readonly sender: "client" | "server";
  readonly message: Readonly<Record<string, unknown>>;
  /** The method of the request that a result or an error answers. */
  readonly answers?: string | undefined;
}

/** What a message was held to, and where it breaks it. */
export interface MessageVerdict {
  readonly definition: string;
  readonly problems: MessageProblem[];
  /** The message has more values than are examined, so that there may be more problems. */
  readonly isPartial?: boolean;
}

/** The definitions that hold, and what holds a value of the message to one of them. */
interface Judge {
  readonly definitions: SchemaDefinitions;
  check(name: string, value: unknown, place?: Place): MessageProblem[];
}

/** Methods of the official extensions, which the schemas of the core do not describe. */
const EXTENSION_METHODS = /^(?:tasks\/|notifications\/tasks(?:\/|$)|skills\/|ui\/|resources\/directory\/read$)/;
/** The prefix of another extension, such as `com.example/`. */
const FOREIGN_PREFIX = /(?:^|\/)[\w-]+(?:\.[\w-]+)+\//;
/** Kinds of results that the official extensions add. */
const EXTENSION_RESULTS: ReadonlySet<string> = new Set(["task"]);

/**
 * Holds a message to the published schema of its revision: a request or notification to the definition of its method, a result to
 * that of the method it answers, an error to that of its code. Methods of extensions are only held to their envelope. At most
 * `MOST_PROBLEMS` problems are found in `MOST_STEPS` steps, and a value of any form is judged without a throw.
 */
export function messageProblems(judged: JudgedMessage): MessageVerdict {
  const definitions = definitionsOf(judged.revision);
  const budget = { left: MOST_STEPS };
  const found = judgeMessage(
    { definitions, check: (name, value, place) => checkDefinition(definitions, name, value, place, budget) },
    judged,
  );
  return budget.left < 0 ? { ...found, isPartial: true } : found;
}

function judgeMessage(judge: Judge, judged: JudgedMessage): MessageVerdict {
  const { message } = judged;
  if (!isObject(message)) {
    return verdict("JSONRPCMessage", [
      problem("", "JSONRPCMessage", `${describeValue(message)}; a message is an object`),
    ]);
  }
  const parts = ["method", "result", "error"].filter((key) => Object.hasOwn(message, key));
  if (parts.length !== 1) {
    const words = parts.length === 0 ? "has no method, result or error" : `has ${parts.join(" and ")}`;
    const demand = "a message is one request, notification, result or error";
    return verdict("JSONRPCMessage", [problem("", "JSONRPCMessage", `${words}; ${demand}`)]);
  }
  if (parts[0] === "method") return judgeCall(judge, judged);
  return parts[0] === "result" ? judgeResult(judge, judged) : judgeError(judge, judged);
}

function judgeCall({ definitions, check }: Judge, { revision, sender, message }: JudgedMessage): MessageVerdict {
  const envelope = Object.hasOwn(message, "id") ? "JSONRPCRequest" : "JSONRPCNotification";
  const outer = check(envelope, message);
  const { method } = message;
  if (typeof method !== "string") return verdict(envelope, outer);
  const name = definitions.nameOfMethod(method);
  if (name === undefined) {
    if (EXTENSION_METHODS.test(method) || FOREIGN_PREFIX.test(method)) return verdict(envelope, outer);
    const near = nearestName(method, definitions.methods());
    const hint = near === undefined ? "" : `; ${near} is close`;
    return verdict(envelope, outer, [
      problem("/method", envelope, `${revision} has no method ${quoted(method)}${hint}`),
    ]);
  }
  const inner = check(name, message);
  if (!definitions.isSentBy(sender, method)) {
    inner.push(problem("/method", name, `a ${sender} does not send ${method} in ${revision}`));
  }
  return verdict(name, outer, inner);
}

function judgeResult(judge: Judge, judged: JudgedMessage): MessageVerdict {
  const { definitions, check } = judge;
  const { message, answers } = judged;
  const envelope = definitions.has("JSONRPCResultResponse") ? "JSONRPCResultResponse" : "JSONRPCResponse";
  const outer = [...answererProblems(definitions, judged), ...check(envelope, message)];
  const requestName = answers === undefined ? undefined : definitions.nameOfMethod(answers);
  const { result } = message;
  if (requestName === undefined || !isObject(result)) return verdict(envelope, outer);
  const base = requestName.replace(/Request$/, "");
  const { definition, problems } = judgeAnswer(judge, base, result);
  return verdict(definition, outer, problems);
}

/** Holds a result to the definition that its kind has for the request. */
function judgeAnswer(
  { definitions, check }: Judge,
  base: string,
  result: Readonly<Record<string, unknown>>,
): MessageVerdict {
  const at = { above: undefined, key: "result" };
  const name = definitions.has(`${base}Result`) ? `${base}Result` : "EmptyResult";
  const held = (definition: string) => verdict(definition, check(definition, result, at));
  const { resultType } = result;
  if (definitions.has("InputRequiredResult") && resultType !== "complete") {
    if (resultType === "input_required") return judgeInterim(definitions, base, held("InputRequiredResult"), result);
    if (typeof resultType === "string" && isExtensionResult(resultType)) return verdict("Result", []);
    const found = resultType === undefined ? "is missing" : describeValue(resultType);
    const kinds = listed([JSON.stringify("complete"), ...(definitions.mayAsk(base) ? ['"input_required"'] : [])]);
    return verdict(name, held(name).problems, [
      problem("/result/resultType", name, `${found}; ${name} demands ${kinds}`),
    ]);
  }
  return isObject(result.task) && definitions.has("CreateTaskResult") ? held("CreateTaskResult") : held(name);
}

function isExtensionResult(resultType: string): boolean {
  return EXTENSION_RESULTS.has(resultType) || FOREIGN_PREFIX.test(resultType);
}

function judgeInterim(
  definitions: SchemaDefinitions,
  base: string,
  { definition, problems }: MessageVerdict,
  { inputRequests, requestState }: Readonly<Record<string, unknown>>,
): MessageVerdict {
  const more: MessageProblem[] = [];
  if (!definitions.mayAsk(base)) {
    more.push(problem("/result/resultType", definition, `is "input_required"; ${base} is not answered with questions`));
  }
  // The prose demands at least one of the two; the schema cannot say so.
  if (inputRequests === undefined && requestState === undefined) {
    more.push(
      problem("/result", definition, `has no inputRequests or requestState; ${definition} demands one of them`),
    );
  }
  return verdict(definition, problems, more);
}

function judgeError({ definitions, check }: Judge, judged: JudgedMessage): MessageVerdict {
  const { message } = judged;
  const envelope = definitions.has("JSONRPCErrorResponse") ? "JSONRPCErrorResponse" : "JSONRPCError";
  // The older schemas demand an id even where JSON-RPC itself says that it could not be read and is null.
  const unreadable = envelope === "JSONRPCError" && (message.id === undefined || message.id === null);
  const outer = [
    ...answererProblems(definitions, judged),
    ...check(envelope, unreadable ? { ...message, id: 0 } : message),
  ];
  const code = isObject(message.error) ? message.error.code : undefined;
  const name = typeof code === "number" ? definitions.nameOfError(code) : undefined;
  return name === undefined ? verdict(envelope, outer) : verdict(name, outer, check(name, message));
}

/** A revision whose schema knows no requests from the server has nothing for the client to answer. */
function answererProblems(definitions: SchemaDefinitions, { sender, revision }: JudgedMessage): MessageProblem[] {
  if (sender === "server" || definitions.has("ServerRequest")) return [];
  return [problem("", "JSONRPCResponse", `a client sends no responses in ${revision}`)];
}

/** Of several problems at one place, the one that the narrowest definition has is kept. */
function verdict(definition: string, outer: MessageProblem[], inner: MessageProblem[] = []): MessageVerdict {
  const byPath = new Map([...outer, ...inner].map((each) => [each.path, each]));
  return { definition, problems: [...byPath.values()].slice(0, MOST_PROBLEMS) };
}

function problem(path: string, definition: string, message: string): MessageProblem {
  return { path, message, definition };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
