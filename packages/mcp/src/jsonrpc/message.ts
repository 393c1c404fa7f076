import { isPlainEnvelope, LEAST_MEMBER, scanEnvelope } from "./envelope.js";
import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR } from "./error.js";

/** A request id. `1` and `"1"` are two different ids. */
export type Id = string | number;

/** Parameters are an object by MCP's rules; positional arrays are refused. */
export type Params = Record<string, unknown>;

/** A request: it is answered once, by its id. */
export interface RequestMessage {
  jsonrpc: "2.0";
  id: Id;
  method: string;
  params?: Params;
}

/** A notification: it gets no answer. */
export interface NotificationMessage {
  jsonrpc: "2.0";
  method: string;
  params?: Params;
}

/** The answer to a request that went well. */
export interface ResultMessage {
  jsonrpc: "2.0";
  id: Id;
  result: unknown;
}

/** What went wrong: a number for programs, a text for people, and data of any shape. */
export interface ErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

/** The answer to a request that failed, or that could not be read. */
export interface ErrorMessage {
  jsonrpc: "2.0";
  /** Absent (or null) only when the sender could not read the request's id. */
  id?: Id | null;
  error: ErrorObject;
}

/** One message after its one classification. */
export type Classified =
  | { kind: "request"; message: RequestMessage }
  | { kind: "notification"; message: NotificationMessage }
  | { kind: "result"; message: ResultMessage }
  | { kind: "error"; message: ErrorMessage }
  | { kind: "batch"; items: unknown[] }
  /**
   * Unless it is `silent` (no request, so that nobody waits), it is answered with an error, under `id` if that is known. `answers` is
   * the id of the request from here that it would have answered.
   */
  | { kind: "invalid"; code: number; reason: string; id?: Id; silent?: true; answers?: Id };

/** Ids are kept while a request runs and come back in every message about it, so a peer may not choose endless ones. */
const MAX_ID_LENGTH = 1024;

/** Strings and integers that a number holds exactly; `null`, fractions, objects and integers beyond 2^53 are not ids. */
export function isId(value: unknown): value is Id {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** True for `{…}`, false for arrays and null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Limits on parsed input. */
export interface ParseLimits {
  maxDepth: number;
  maxNodes: number;
}

export const DEFAULT_PARSE_LIMITS: ParseLimits = { maxDepth: 128, maxNodes: 100_000 };

/** Texts of at most this many characters are parsed whatever they are, so that a refusal can name the request. */
const LONG = 65_536;

/** Parses and classifies one text. Never throws. */
export function parseMessage(text: string, limits: ParseLimits = DEFAULT_PARSE_LIMITS): Classified {
  let value: unknown;
  // `JSON.parse` takes a second for megabytes of brackets.
  if (text.length > LONG && hasMoreBrackets(text, limits.maxDepth)) {
    const flaw = scanEnvelope(text, limits.maxDepth);
    // A text that does not even end with a bracket is no JSON, whatever it holds.
    if (flaw !== undefined) return invalid(flaw, /[}\]]\s*$/.test(text) ? INVALID_REQUEST : PARSE_ERROR);
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

/** Decides what a parsed value is. Only the exact member names count. */
export function classify(value: unknown): Classified {
  if (!isObject(value)) {
    return Array.isArray(value) ? { kind: "batch", items: value } : invalid("a message is a JSON object");
  }
  if (value["jsonrpc"] !== "2.0") return withId(invalid('a message has "jsonrpc": "2.0"'), value);
  if (typeof value["method"] === "string") return classifyCall(value);
  if (Object.hasOwn(value, "method")) return withId(invalid("`method` is a string"), value);
  return classifyResponse(value);
}

function classifyCall(value: Record<string, unknown>): Classified {
  const params = value["params"];
  const id = value["id"];
  if (value["result"] !== undefined || value["error"] !== undefined) {
    const flaw = withId(
      invalid("a message is a request or a response: it has `method`, or `result` or `error`"),
      value,
    );
    // A call from here that has this id would wait for nothing.
    return isId(id) ? { ...flaw, answers: id } : flaw;
  }
  if (params !== undefined && !isObject(params)) {
    const flaw = invalid("`params` is a JSON object", INVALID_PARAMS);
    return Object.hasOwn(value, "id") ? withId(flaw, value) : { ...flaw, silent: true };
  }
  if (id === undefined && !Object.hasOwn(value, "id")) {
    // Safe: `method` and `params` have been checked.
    return { kind: "notification", message: value as unknown as NotificationMessage };
  }
  if (!isId(id)) return invalid("a request id is a string, or an integer of at most 2^53 - 1");
  if (typeof id === "string" && id.length > MAX_ID_LENGTH)
    return invalid(`a request id has at most ${MAX_ID_LENGTH} characters`);
  // Safe: `method`, `params` and `id` have been checked.
  return { kind: "request", message: value as unknown as RequestMessage };
}

function classifyResponse(value: Record<string, unknown>): Classified {
  const hasResult = Object.hasOwn(value, "result");
  const hasError = Object.hasOwn(value, "error");
  if (hasResult === hasError) {
    const reason = "a message has `method`, or exactly one of `result` and `error`";
    return hasResult ? malformed(reason, value) : withId(invalid(reason), value);
  }
  const id = value["id"];
  // An error may be about a request whose id could not be read.
  if (!isId(id) && (hasResult || (id !== undefined && id !== null))) {
    return malformed("a response carries the id of its request");
  }
  // Safe: `id` has been checked, and a result may be any value.
  if (hasResult) return { kind: "result", message: value as unknown as ResultMessage };
  const error = value["error"];
  if (!isObject(error) || !Number.isInteger(error["code"]) || typeof error["message"] !== "string") {
    return malformed("`error` has an integer `code` and a string `message`", value);
  }
  // Safe: `id`, and the code and message of `error`, have been checked.
  return { kind: "error", message: value as unknown as ErrorMessage };
}

function invalid(reason: string, code = INVALID_REQUEST): Classified & { kind: "invalid" } {
  return { kind: "invalid", code, reason };
}

/** A response that cannot be read; its id is that of a request from here, so that an answer under it would mislead. */
function malformed(reason: string, value?: unknown): Classified {
  return { ...withId(invalid(reason), value), silent: true };
}

function withId(result: Classified & { kind: "invalid" }, value: unknown): Classified & { kind: "invalid" } {
  if (!isObject(value) || !isId(value["id"])) return result;
  const { id } = value as { id: Id };
  return Object.hasOwn(value, "method") ? { ...result, id } : { ...result, id, answers: id };
}

/** A nesting of n needs n opening brackets; to count them costs far less than to walk the value. */
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

/** What is wrong with a message that can be parsed. The members that nearly every one has come first, by name: that costs least. */
function flawOf(text: string, value: Params, limits: ParseLimits): string | undefined {
  const { id, method } = value;
  let least = '{"jsonrpc":"2.0"}'.length;
  if (typeof id === "number") least += 6 + leastDigits(id);
  else if (typeof id === "string") least += 8 + id.length;
  if (typeof method === "string") least += 12 + method.length;
  let content = value["params"] ?? value["result"];
  valuesLeft = limits.maxNodes;
  leastLength = least;
  let flaw: string | undefined;
  if (typeof content === "object" && content !== null) {
    // Room for `{}` alone.
    if (text.length === least + 12) return undefined;
    leastLength += 10;
    flaw = contentFlaw(content, limits.maxDepth - 1, limits);
  } else content = undefined;
  // Nearly all messages are written without a space, so that there is no room for another member, or for a second of a name.
  if (flaw === undefined && text.length - leastLength < LEAST_MEMBER) return undefined;
  const twice = isPlainEnvelope(text) ? undefined : scanEnvelope(text, Number.POSITIVE_INFINITY);
  return twice ?? flaw ?? contentFlaw(value, limits.maxDepth, limits, content);
}

/** How many more values the message may have; beside the function that counts, because a parameter costs at every step. */
let valuesLeft = 0;
/** The characters that the values walked need at least, however they are spelled. */
let leastLength = 0;

/** What is wrong with the values below one, except `known`: too many, too deep, or a number that is infinite, as `1e400` is. */
function contentFlaw(value: object, levels: number, limits: ParseLimits, known?: unknown): string | undefined {
  if (levels <= 0) return `the message is nested deeper than ${limits.maxDepth} levels`;
  if (Array.isArray(value)) return itemsFlaw(value, levels, limits);
  // One of the brackets; with each member two quotes, the colon, and a comma or the other bracket.
  let room = 1;
  for (const name in value) {
    // Safe: what `for` finds in a parsed object are its own members.
    const member = (value as Params)[name];
    if (member === known) continue;
    room += name.length + 4;
    // The most frequent ones without a call.
    if (typeof member === "string" && valuesLeft > 0) {
      valuesLeft--;
      room += member.length + 2;
      continue;
    }
    const flaw = valueFlaw(member, levels, limits);
    if (flaw !== undefined) return flaw;
  }
  leastLength += room;
  return undefined;
}

function itemsFlaw(items: readonly unknown[], levels: number, limits: ParseLimits): string | undefined {
  for (let at = 0; at < items.length; at++) {
    const flaw = valueFlaw(items[at], levels, limits);
    if (flaw !== undefined) return flaw;
  }
  leastLength += items.length + 1;
  return undefined;
}

function valueFlaw(value: unknown, levels: number, limits: ParseLimits): string | undefined {
  if (--valuesLeft < 0) return `the message has more than ${limits.maxNodes} values`;
  if (typeof value === "number") {
    leastLength += leastDigits(value);
    return value - value !== 0 ? "a number is too large for a double-precision value" : undefined;
  }
  if (typeof value === "object" && value !== null) return contentFlaw(value, levels - 1, limits);
  leastLength += typeof value === "string" ? value.length + 2 : 4;
  return undefined;
}

/** How many digits a number has at least; one that ends in three zeros may be written shorter, as `1e3` is. */
function leastDigits(value: number): number {
  if (value < 10 || value > 1e9 || value % 1000 === 0) return 1;
  if (value < 1000) return value < 100 ? 2 : 3;
  return value < 10_000 ? 4 : value < 100_000 ? 5 : 6;
}

/** The text of a request; `params` is JSON text already. */
export function requestText(id: Id, method: string, params: string | undefined): string {
  const body = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${body}}`;
}

/** Numbers are the common case and need no escaping. */
export function idText(id: Id): string | number {
  return typeof id === "number" ? id : JSON.stringify(id);
}

/** The text of an error answer. Without an id when the request's could not be read. */
export function errorText(id: Id | undefined, code: number, message: string, data?: unknown): string {
  const error = data === undefined ? { code, message } : { code, message, data };
  const idPart = id === undefined ? "" : `"id":${JSON.stringify(id)},`;
  return `{"jsonrpc":"2.0",${idPart}"error":${JSON.stringify(error)}}`;
}

/** The text of a result answer; `result` is JSON text already. */
export function resultText(id: Id, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;
}
