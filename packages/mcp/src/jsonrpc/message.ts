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
  | { kind: "invalid"; code: number; reason: string; id?: Id };

/** Ids are kept while a request runs and come back in every message about it, so a peer may not choose endless ones. */
const MAX_ID_LENGTH = 1024;

/** Strings and integers; `null`, fractions and objects are not ids. */
export function isId(value: unknown): value is Id {
  return typeof value === "string" || (typeof value === "number" && Number.isInteger(value));
}

/** True for `{…}`, false for arrays and null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Limits on parsed input. A text too short to break them is not walked. */
export interface ParseLimits {
  maxDepth: number;
  maxNodes: number;
}

export const DEFAULT_PARSE_LIMITS: ParseLimits = { maxDepth: 128, maxNodes: 100_000 };

/** Parses and classifies one text. Never throws. */
export function parseMessage(text: string, limits: ParseLimits = DEFAULT_PARSE_LIMITS): Classified {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: "invalid", code: PARSE_ERROR, reason: `the message is not JSON: ${(error as Error).message}` };
  }
  // A node needs at least 2 characters.
  if (text.length > 2 * limits.maxNodes || hasMoreBrackets(text, limits.maxDepth)) {
    const broken = brokenLimit(value, limits);
    if (broken !== undefined) return withId({ kind: "invalid", code: INVALID_REQUEST, reason: broken }, value);
  }
  return classify(value);
}

/** Decides what a parsed value is. Only the exact member names count. */
export function classify(value: unknown): Classified {
  if (!isObject(value)) {
    if (Array.isArray(value)) return { kind: "batch", items: value };
    return { kind: "invalid", code: INVALID_REQUEST, reason: "a message is a JSON object" };
  }
  if (value["jsonrpc"] !== "2.0") return withId(invalid('a message has "jsonrpc": "2.0"'), value);
  if (typeof value["method"] === "string") return classifyCall(value);
  if (Object.hasOwn(value, "method")) return withId(invalid("`method` is a string"), value);
  return classifyResponse(value);
}

function classifyCall(value: Record<string, unknown>): Classified {
  const params = value["params"];
  if (params !== undefined && !isObject(params)) {
    return withId({ kind: "invalid", code: INVALID_PARAMS, reason: "`params` is a JSON object" }, value);
  }
  const id = value["id"];
  if (id === undefined && !Object.hasOwn(value, "id")) {
    // Safe: `method` and `params` have been checked.
    return { kind: "notification", message: value as unknown as NotificationMessage };
  }
  if (!isId(id)) return invalid("a request id is a string or an integer");
  if (typeof id === "string" && id.length > MAX_ID_LENGTH)
    return invalid(`a request id has at most ${MAX_ID_LENGTH} characters`);
  // Safe: `method`, `params` and `id` have been checked.
  return { kind: "request", message: value as unknown as RequestMessage };
}

function classifyResponse(value: Record<string, unknown>): Classified {
  const hasResult = Object.hasOwn(value, "result");
  const hasError = Object.hasOwn(value, "error");
  if (hasResult === hasError) {
    return withId(invalid("a message has `method`, or exactly one of `result` and `error`"), value);
  }
  const id = value["id"];
  if (hasResult) {
    if (!isId(id)) return invalid("a result carries the id of its request");
    // Safe: `id` has been checked, and a result may be any value.
    return { kind: "result", message: value as unknown as ResultMessage };
  }
  const error = value["error"];
  if (!isObject(error) || !Number.isInteger(error["code"]) || typeof error["message"] !== "string") {
    return withId(invalid("`error` has an integer `code` and a string `message`"), value);
  }
  if (id !== undefined && id !== null && !isId(id)) return invalid("an error carries the id of its request");
  // Safe: `id`, and the code and message of `error`, have been checked.
  return { kind: "error", message: value as unknown as ErrorMessage };
}

function invalid(reason: string): Classified & { kind: "invalid" } {
  return { kind: "invalid", code: INVALID_REQUEST, reason };
}

function withId(result: Classified & { kind: "invalid" }, value: unknown): Classified {
  const id = isObject(value) ? value["id"] : undefined;
  return isId(id) ? { ...result, id } : result;
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

function brokenLimit(root: unknown, limits: ParseLimits): string | undefined {
  let nodes = 0;
  let level: unknown[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.maxDepth + 1) return `the message is nested deeper than ${limits.maxDepth} levels`;
    const next: unknown[] = [];
    for (const value of level) {
      nodes++;
      if (typeof value !== "object" || value === null) continue;
      for (const child of Array.isArray(value) ? value : Object.values(value)) next.push(child);
    }
    if (nodes + next.length > limits.maxNodes) return `the message has more than ${limits.maxNodes} values`;
    level = next;
  }
  return undefined;
}
