import { nearestName, type Revision } from "@parley/mcp/protocol";
import type { MessageProblem } from "../contract/timeline.js";
import { checkDefinition, MAX_PROBLEMS, MAX_STEPS, type Place } from "./check-shape.js";
import { definitionsOf, type SchemaDefinitions } from "./schema-definitions.js";
import { describeValue, joinWithOr, quoted } from "./shape-words.js";

/** A message to validate, with its context. */
export interface CheckedMessage {
  readonly revision: Revision;
  readonly sender: "client" | "server";
  readonly message: Readonly<Record<string, unknown>>;
  /** The method of the request that a result or an error answers. */
  readonly answers?: string | undefined;
}

/** The definition that a message was validated against, and its problems. */
export interface MessageVerdict {
  readonly definition: string;
  readonly problems: MessageProblem[];
  /** True if the message was too large to be checked completely. There may be more problems. */
  readonly isPartial?: boolean;
}

/** The definitions of a revision, and a function that checks a value against one of them. */
interface MessageChecker {
  readonly definitions: SchemaDefinitions;
  check(name: string, value: unknown, place?: Place): MessageProblem[];
}

/** Methods of the official extensions, which the core schemas do not define. */
const EXTENSION_METHODS = /^(?:tasks\/|notifications\/tasks(?:\/|$)|skills\/|ui\/|resources\/directory\/read$)/;
/** Matches the prefix of other extensions, such as `com.example/`. */
const FOREIGN_PREFIX = /(?:^|\/)[\w-]+(?:\.[\w-]+)+\//;
/** Result types that the official extensions add. */
const EXTENSION_RESULTS: ReadonlySet<string> = new Set(["task"]);

/**
 * Validates a message against the published schema of its revision. The definition depends on the method of a request
 * or notification, on the answered method for a result, and on the code of an error. For methods of extensions, only
 * the envelope is checked. Finds at most `MAX_PROBLEMS` problems in `MAX_STEPS` steps. Never throws, whatever the
 * value.
 */
export function messageProblems(checked: CheckedMessage): MessageVerdict {
  const definitions = definitionsOf(checked.revision);
  const budget = { left: MAX_STEPS };
  const found = checkMessage(
    { definitions, check: (name, value, place) => checkDefinition(definitions, name, value, place, budget) },
    checked,
  );
  return budget.left < 0 ? { ...found, isPartial: true } : found;
}

function checkMessage(checker: MessageChecker, checked: CheckedMessage): MessageVerdict {
  const { message } = checked;
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
  if (parts[0] === "method") return checkCall(checker, checked);
  return parts[0] === "result" ? checkResult(checker, checked) : checkError(checker, checked);
}

function checkCall(
  { definitions, check }: MessageChecker,
  { revision, sender, message }: CheckedMessage,
): MessageVerdict {
  const envelope = Object.hasOwn(message, "id") ? "JSONRPCRequest" : "JSONRPCNotification";
  const outer = check(envelope, message);
  const { method } = message;
  if (typeof method !== "string") return verdict(envelope, outer);
  const name = definitions.nameOfMethod(method);
  if (name === undefined) {
    if (EXTENSION_METHODS.test(method) || FOREIGN_PREFIX.test(method)) return verdict(envelope, outer);
    const near = nearestName(method, definitions.methods());
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
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

function checkResult(checker: MessageChecker, checked: CheckedMessage): MessageVerdict {
  const { definitions, check } = checker;
  const { message, answers } = checked;
  const envelope = definitions.has("JSONRPCResultResponse") ? "JSONRPCResultResponse" : "JSONRPCResponse";
  const outer = [...answererProblems(definitions, checked), ...check(envelope, message)];
  const requestName = answers === undefined ? undefined : definitions.nameOfMethod(answers);
  const { result } = message;
  if (requestName === undefined || !isObject(result)) return verdict(envelope, outer);
  const base = requestName.replace(/Request$/, "");
  const { definition, problems } = checkResultContent(checker, base, result);
  return verdict(definition, outer, problems);
}

/** Checks a result against the definition for its request and result type. */
function checkResultContent(
  { definitions, check }: MessageChecker,
  base: string,
  result: Readonly<Record<string, unknown>>,
): MessageVerdict {
  const at = { above: undefined, key: "result" };
  const name = definitions.has(`${base}Result`) ? `${base}Result` : "EmptyResult";
  const checkAs = (definition: string) => verdict(definition, check(definition, result, at));
  const { resultType } = result;
  if (definitions.has("InputRequiredResult") && resultType !== "complete") {
    if (resultType === "input_required")
      return checkInputRequired(definitions, base, checkAs("InputRequiredResult"), result);
    if (typeof resultType === "string" && isExtensionResult(resultType)) return verdict("Result", []);
    const found = resultType === undefined ? "is missing" : describeValue(resultType);
    const kinds = joinWithOr([
      JSON.stringify("complete"),
      ...(definitions.allowsQuestions(base) ? ['"input_required"'] : []),
    ]);
    return verdict(name, checkAs(name).problems, [
      problem("/result/resultType", name, `${found}; ${name} requires ${kinds}`),
    ]);
  }
  return isObject(result.task) && definitions.has("CreateTaskResult") ? checkAs("CreateTaskResult") : checkAs(name);
}

function isExtensionResult(resultType: string): boolean {
  return EXTENSION_RESULTS.has(resultType) || FOREIGN_PREFIX.test(resultType);
}

function checkInputRequired(
  definitions: SchemaDefinitions,
  base: string,
  { definition, problems }: MessageVerdict,
  { inputRequests, requestState }: Readonly<Record<string, unknown>>,
): MessageVerdict {
  const more: MessageProblem[] = [];
  if (!definitions.allowsQuestions(base)) {
    more.push(problem("/result/resultType", definition, `is "input_required"; ${base} does not allow questions`));
  }
  // The text of the specification requires `inputRequests` or `requestState`, but the schema does not, so this is
  // checked separately.
  if (inputRequests === undefined && requestState === undefined) {
    more.push(
      problem("/result", definition, `has no inputRequests or requestState; ${definition} requires one of them`),
    );
  }
  return verdict(definition, problems, more);
}

function checkError({ definitions, check }: MessageChecker, checked: CheckedMessage): MessageVerdict {
  const { message } = checked;
  const envelope = definitions.has("JSONRPCErrorResponse") ? "JSONRPCErrorResponse" : "JSONRPCError";
  // The older schemas require an id. JSON-RPC uses null if the id of the request could not be read, so a null or
  // missing id is not a problem.
  const unreadable = envelope === "JSONRPCError" && (message.id === undefined || message.id === null);
  const outer = [
    ...answererProblems(definitions, checked),
    ...check(envelope, unreadable ? { ...message, id: 0 } : message),
  ];
  const code = isObject(message.error) ? message.error.code : undefined;
  const name = typeof code === "number" ? definitions.nameOfError(code) : undefined;
  return name === undefined ? verdict(envelope, outer) : verdict(name, outer, check(name, message));
}

/** Reports a response that a client sends in a revision in which servers send no requests. */
function answererProblems(definitions: SchemaDefinitions, { sender, revision }: CheckedMessage): MessageProblem[] {
  if (sender === "server" || definitions.has("ServerRequest")) return [];
  return [problem("", "JSONRPCResponse", `a client sends no responses in ${revision}`)];
}

/**
 * Merges the problems. Of several problems at the same path, only the last one remains, because it comes from the more
 * specific definition.
 */
function verdict(definition: string, outer: MessageProblem[], inner: MessageProblem[] = []): MessageVerdict {
  const byPath = new Map([...outer, ...inner].map((each) => [each.path, each]));
  return { definition, problems: [...byPath.values()].slice(0, MAX_PROBLEMS) };
}

function problem(path: string, definition: string, message: string): MessageProblem {
  return { path, message, definition };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
