import { isPlainEnvelope, MIN_MEMBER_LENGTH, plainEnvelopeSteps, scanEnvelope, scanEnvelopeSteps } from "./envelope.js";
import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR } from "./error.js";

/** A request id. `1` and `"1"` are different ids. */
export type Id = string | number;

/** Parameters by name. MCP does not allow positional arrays. */
export type Params = Record<string, unknown>;

/** A request. It gets exactly one response, with the same id. */
export interface RequestMessage {
  /** The version of JSON-RPC. */
  jsonrpc: "2.0";
  /** The id that the response repeats. */
  id: Id;
  /** The method to call. */
  method: string;
  /** The parameters. Absent if the method has none. */
  params?: Params;
}

/** A notification. It gets no response. */
export interface NotificationMessage {
  /** The version of JSON-RPC. */
  jsonrpc: "2.0";
  /** The method of the notification. */
  method: string;
  /** The parameters. Absent if the method has none. */
  params?: Params;
}

/** The response to a request that succeeded. */
export interface ResultMessage {
  /** The version of JSON-RPC. */
  jsonrpc: "2.0";
  /** The id of the request. */
  id: Id;
  /** The result, of any type. */
  result: unknown;
}

/** The error of a failed request: a code for programs, a message for people, and optional data. */
export interface ErrorObject {
  /** The error code, an integer. */
  code: number;
  /** One sentence for people. */
  message: string;
  /** Further data of any type, for programs. */
  data?: unknown;
}

/** The response to a request that failed or could not be read. */
export interface ErrorMessage {
  /** The version of JSON-RPC. */
  jsonrpc: "2.0";
  /** The id of the request. Absent or null only if the sender could not read it. */
  id?: Id | null;
  /** The error. */
  error: ErrorObject;
}

/** A message after classification. */
export type ClassifiedMessage =
  | { kind: "request"; message: RequestMessage }
  | { kind: "notification"; message: NotificationMessage }
  | { kind: "result"; message: ResultMessage }
  | { kind: "error"; message: ErrorMessage }
  | { kind: "batch"; items: unknown[] }
  /**
   * Invalid input. The receiver answers it with an error, with `id` if the id is known. If `silent` is set, the input
   * is not a request, so it gets no answer. If the input was meant as the response to a request sent by this side,
   * `answers` is the id of that request.
   */
  | { kind: "invalid"; code: number; reason: string; id?: Id; silent?: true; answers?: Id };

/**
 * Maximum length of an id that a peer may choose, in UTF-16 units. A request with a longer id is refused, because ids
 * are stored while a request runs and repeated in every message about it.
 */
const MAX_ID_LENGTH = 1024;

/**
 * True for strings and for integers that a number represents exactly. `null`, fractions, objects and integers beyond
 * 2^53 are not ids.
 */
export function isId(value: unknown): value is Id {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** True for `{…}`, false for arrays and null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Limits on parsed input. */
export interface ParseLimits {
  /** Maximum depth of nested objects and arrays. */
  maxDepth: number;
  /** Maximum number of values in one message. */
  maxNodes: number;
}

/** The default limits. */
export const DEFAULT_PARSE_LIMITS: ParseLimits = { maxDepth: 128, maxNodes: 100_000 };

/** Texts up to this length are always parsed, so that a refusal can contain the id of the request. */
const LONG = 65_536;

/** Parses and classifies one text. Never throws. */
export function parseMessage(text: string, limits: ParseLimits = DEFAULT_PARSE_LIMITS): ClassifiedMessage {
  let value: unknown;
  // `JSON.parse` takes a second for megabytes of brackets, so long texts are scanned first.
  if (text.length > LONG && hasMoreBrackets(text, limits.maxDepth)) {
    const flaw = scanEnvelope(text, limits.maxDepth);
    if (flaw !== undefined) return invalidLong(flaw, text);
  }
  try {
    value = JSON.parse(text);
  } catch (error) {
    return invalid(`the message is not JSON: ${(error as Error).message}`, PARSE_ERROR);
  }
  if (typeof value === "object" && value !== null) {
    const flaw = flawOf(text, value as Params, limits);
    if (flaw !== undefined) return withId(invalid(flaw), value);
  }
  return classify(value);
}

/** Texts from this length on take milliseconds to parse, so a server of many clients parses them in several turns. */
export const PARSE_IN_TURNS_LENGTH = 1_048_576;

/**
 * Like `parseMessage`, but lets the event loop turn between the steps, so that one long message delays other clients by
 * little more than its `JSON.parse`, which cannot pause. `defer` calls a function in the next turn.
 */
export function parseInTurns(
  text: string,
  defer: (run: () => void) => void,
  done: (message: ClassifiedMessage) => void,
): void {
  const steps = parseSteps(text, DEFAULT_PARSE_LIMITS);
  const step = () => {
    const { done: isDone, value } = steps.next();
    if (isDone === true) done(value);
    else defer(step);
  };
  step();
}

function* parseSteps(text: string, limits: ParseLimits): Generator<undefined, ClassifiedMessage> {
  if (hasMoreBrackets(text, limits.maxDepth)) {
    const flaw = yield* scanEnvelopeSteps(text, limits.maxDepth);
    if (flaw !== undefined) return invalidLong(flaw, text);
    yield;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return invalid(`the message is not JSON: ${(error as Error).message}`, PARSE_ERROR);
  }
  if (typeof value !== "object" || value === null) return classify(value);
  yield;
  // One walk instead of the shortcuts of `flawOf`: they save little for a long text, and their counters cannot pause.
  valuesLeft = limits.maxNodes;
  const flaw = contentFlaw(value, limits.maxDepth, limits);
  yield;
  const isPlain = yield* plainEnvelopeSteps(text);
  const twice = isPlain ? undefined : yield* scanEnvelopeSteps(text, Number.POSITIVE_INFINITY);
  const found = twice ?? flaw;
  return found === undefined ? classify(value) : withId(invalid(found), value);
}

/** Classifies a long text by the defect that a scan found. */
function invalidLong(flaw: string, text: string): ClassifiedMessage {
  // A text that does not end with a bracket is not a JSON object or array.
  return invalid(flaw, /[}\]]\s*$/.test(text) ? INVALID_REQUEST : PARSE_ERROR);
}

/** Classifies a parsed value. Only the exact member names count. */
export function classify(value: unknown): ClassifiedMessage {
  if (!isObject(value)) {
    return Array.isArray(value) ? { kind: "batch", items: value } : invalid("a message must be a JSON object");
  }
  if (value["jsonrpc"] !== "2.0") return withId(invalid('a message must have "jsonrpc": "2.0"'), value);
  if (typeof value["method"] === "string") return classifyCall(value);
  if (Object.hasOwn(value, "method")) return withId(invalid("`method` must be a string"), value);
  return classifyResponse(value);
}

function classifyCall(value: Record<string, unknown>): ClassifiedMessage {
  const params = value["params"];
  const id = value["id"];
  if (value["result"] !== undefined || value["error"] !== undefined) {
    const flaw = withId(
      invalid("a message must be a request or a response: it has `method`, or `result` or `error`, not both"),
      value,
    );
    // The peer may have meant this message as a response. If this side sent a request with this id, `answers` makes
    // that request fail instead of waiting forever.
    return isId(id) ? { ...flaw, answers: id } : flaw;
  }
  if (params !== undefined && !isObject(params)) {
    const flaw = invalid("`params` must be a JSON object", INVALID_PARAMS);
    return Object.hasOwn(value, "id") ? withId(flaw, value) : { ...flaw, silent: true };
  }
  if (id === undefined && !Object.hasOwn(value, "id")) {
    // Safe: `method` and `params` have been checked.
    return { kind: "notification", message: value as unknown as NotificationMessage };
  }
  if (!isId(id)) return invalid("a request id must be a string, or an integer of at most 2^53 - 1");
  if (typeof id === "string" && id.length > MAX_ID_LENGTH)
    return invalid(`a request id must have at most ${MAX_ID_LENGTH} characters`);
  // Safe: `method`, `params` and `id` have been checked.
  return { kind: "request", message: value as unknown as RequestMessage };
}

function classifyResponse(value: Record<string, unknown>): ClassifiedMessage {
  const hasResult = Object.hasOwn(value, "result");
  const hasError = Object.hasOwn(value, "error");
  if (hasResult === hasError) {
    const reason = "a message must have `method`, or exactly one of `result` and `error`";
    return hasResult ? malformed(reason, value) : withId(invalid(reason), value);
  }
  const id = value["id"];
  // Only an error may lack an id, because it may refer to a request whose id could not be read.
  if (!isId(id) && (hasResult || (id !== undefined && id !== null))) {
    return malformed("a response must have the id of its request");
  }
  // Safe: `id` has been checked, and a result may be any value.
  if (hasResult) return { kind: "result", message: value as unknown as ResultMessage };
  const error = value["error"];
  if (!isObject(error) || !Number.isInteger(error["code"]) || typeof error["message"] !== "string") {
    return malformed("`error` must have an integer `code` and a string `message`", value);
  }
  // Safe: `id`, and the code and message of `error`, have been checked.
  return { kind: "error", message: value as unknown as ErrorMessage };
}

function invalid(reason: string, code = INVALID_REQUEST): ClassifiedMessage & { kind: "invalid" } {
  return { kind: "invalid", code, reason };
}

/**
 * Classifies a response that cannot be read. It is silent, because its id is that of a request sent by this side, and
 * an error response with that id would mislead the peer.
 */
function malformed(reason: string, value?: unknown): ClassifiedMessage {
  return { ...withId(invalid(reason), value), silent: true };
}

function withId(
  result: ClassifiedMessage & { kind: "invalid" },
  value: unknown,
): ClassifiedMessage & { kind: "invalid" } {
  if (!isObject(value) || !isId(value["id"])) return result;
  const { id } = value as { id: Id };
  return Object.hasOwn(value, "method") ? { ...result, id } : { ...result, id, answers: id };
}

/**
 * True if the text has more opening brackets than `limit`. Nesting of n levels needs n opening brackets, and counting
 * them costs far less than walking the value.
 */
function hasMoreBrackets(text: string, limit: number): boolean {
  if (text.length <= 2 * limit) return false;
  let count = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++count > limit) return true;
    }
  }
  return false;
}

/**
 * Returns the defect of a message that can be parsed. First checks the members that nearly every message has, by name,
 * because that is cheapest.
 */
function flawOf(text: string, value: Params, limits: ParseLimits): string | undefined {
  const { id, method } = value;
  let least = '{"jsonrpc":"2.0"}'.length;
  if (typeof id === "number") least += 6 + minDigits(id);
  else if (typeof id === "string") least += 8 + id.length;
  if (typeof method === "string") least += 12 + method.length;
  let content = value["params"] ?? value["result"];
  valuesLeft = limits.maxNodes;
  minLength = least;
  let flaw: string | undefined;
  if (typeof content === "object" && content !== null) {
    // The text has only room for an empty `params` or `result`, so there is nothing else to check.
    if (text.length === least + 12) return undefined;
    minLength += 10;
    flaw = contentFlaw(content, limits.maxDepth - 1, limits);
  } else content = undefined;
  // Nearly all messages are written without spaces. The rest of their text is too short for another member or a
  // duplicate one, so they need no scan.
  if (flaw === undefined && text.length - minLength < MIN_MEMBER_LENGTH) return undefined;
  const twice = isPlainEnvelope(text) ? undefined : scanEnvelope(text, Number.POSITIVE_INFINITY);
  return twice ?? flaw ?? contentFlaw(value, limits.maxDepth, limits, content);
}

/**
 * Number of values that the message may still have. A module variable, because passing a parameter at every step would
 * be slower.
 */
let valuesLeft = 0;
/** The smallest number of characters that the values visited so far can take in the text. */
let minLength = 0;

/**
 * Returns the defect of the values inside `value`, except `known`, which was checked before: too many values, too deep
 * nesting, or an infinite number such as `1e400`.
 */
function contentFlaw(value: object, levels: number, limits: ParseLimits, known?: unknown): string | undefined {
  if (levels <= 0) return `the message is nested deeper than ${limits.maxDepth} levels`;
  if (Array.isArray(value)) return itemsFlaw(value, levels, limits);
  // One of the two brackets. Each member adds two quotes, the colon, and a comma or the other bracket.
  let room = 1;
  for (const name in value) {
    // Safe: `for` visits only own members of a parsed object.
    const member = (value as Params)[name];
    if (member === known) continue;
    room += name.length + 4;
    // Strings are the most frequent values; handled here without a call.
    if (typeof member === "string" && valuesLeft > 0) {
      valuesLeft--;
      room += member.length + 2;
      continue;
    }
    const flaw = valueFlaw(member, levels, limits);
    if (flaw !== undefined) return flaw;
  }
  minLength += room;
  return undefined;
}

function itemsFlaw(items: readonly unknown[], levels: number, limits: ParseLimits): string | undefined {
  for (let at = 0; at < items.length; at++) {
    const flaw = valueFlaw(items[at], levels, limits);
    if (flaw !== undefined) return flaw;
  }
  minLength += items.length + 1;
  return undefined;
}

function valueFlaw(value: unknown, levels: number, limits: ParseLimits): string | undefined {
  if (--valuesLeft < 0) return `the message has more than ${limits.maxNodes} values`;
  if (typeof value === "number") {
    minLength += minDigits(value);
    return value - value !== 0 ? "a number is too large for a double-precision value" : undefined;
  }
  if (typeof value === "object" && value !== null) return contentFlaw(value, levels - 1, limits);
  minLength += typeof value === "string" ? value.length + 2 : 4;
  return undefined;
}

/**
 * Returns a lower bound of the number of characters that a number takes in the text. The exact minimum would cost more
 * to compute. A number that ends in three zeros may be written shorter, as `1e3`.
 */
function minDigits(value: number): number {
  if (value < 10 || value > 1e9 || value % 1000 === 0) return 1;
  if (value < 1000) return value < 100 ? 2 : 3;
  return value < 10_000 ? 4 : value < 100_000 ? 5 : 6;
}

/** Returns the text of a request. `params` is JSON text. */
export function requestText(id: Id, method: string, params: string | undefined): string {
  const body = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${body}}`;
}

/** Returns an id as JSON. Numbers are the common case and need no escaping. */
export function idText(id: Id): string | number {
  return typeof id === "number" ? id : JSON.stringify(id);
}

/** Returns the text of an error response, without an id if the id of the request could not be read. */
export function errorText(id: Id | undefined, code: number, message: string, data?: unknown): string {
  const error = data === undefined ? { code, message } : { code, message, data };
  const idPart = id === undefined ? "" : `"id":${JSON.stringify(id)},`;
  return `{"jsonrpc":"2.0",${idPart}"error":${JSON.stringify(error)}}`;
}

/** Returns the text of a result response. `result` is JSON text. */
export function resultText(id: Id, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;
}
