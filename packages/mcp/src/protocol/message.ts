import type { Id } from "../jsonrpc/message.js";
import type { ClientCapabilities } from "./capabilities.js";
import type { Implementation } from "./implementation.js";
import type { MetaObject } from "./json.js";
import type { LoggingLevel } from "./logging.js";

/** The id that matches a response to its request: a string or an integer; `1` differs from `"1"`. */
export type RequestId = Id;

/** The value that matches progress notifications to their request. */
export type ProgressToken = string | number;

/** An opaque position in a list; only the server that created it can interpret it. */
export type Cursor = string;

/** The `_meta` of a request. The `io.modelcontextprotocol/` members exist from 2026-07-28 on, where the first two are required. */
export interface RequestMetaObject extends MetaObject {
  "io.modelcontextprotocol/protocolVersion"?: string;
  "io.modelcontextprotocol/clientCapabilities"?: ClientCapabilities;
  "io.modelcontextprotocol/clientInfo"?: Implementation;
  /** Asks for log messages of at least this severity while the request runs. */
  "io.modelcontextprotocol/logLevel"?: LoggingLevel;
  /** Asks for progress notifications that carry this token. */
  progressToken?: ProgressToken;
  /** W3C Trace Context. */
  traceparent?: string;
  tracestate?: string;
  baggage?: string;
}

/** The `_meta` of a notification. */
export interface NotificationMetaObject extends MetaObject {
  /** The id of the listen request that this notification belongs to. From 2026-07-28 on. */
  "io.modelcontextprotocol/subscriptionId"?: RequestId;
}

/** The `_meta` of a result. */
export interface ResultMetaObject extends MetaObject {
  /** Who answered. From 2026-07-28 on. */
  "io.modelcontextprotocol/serverInfo"?: Implementation;
}

/** Members that the parameters of every request may have. */
export interface RequestParams {
  _meta?: RequestMetaObject;
}

/** Members that the parameters of every notification may have. */
export interface NotificationParams {
  _meta?: NotificationMetaObject;
}

/** `complete` for a final result, `input_required` for an interim one; extensions define others. From 2026-07-28 on. */
export type ResultType = "complete" | "input_required" | (string & {});

/** Members that every result may have; unknown members are kept. */
export interface Result {
  _meta?: ResultMetaObject;
  /** On the wire from 2026-07-28 on; absent means `complete`. */
  resultType?: ResultType;
}

/** A result without data. */
export interface EmptyResult extends Result {}

/** Parameters of a list request. */
export interface PaginatedRequestParams extends RequestParams {
  /** The `nextCursor` of the previous page; absent for the first page. */
  cursor?: Cursor;
}

/** One page of a list. */
export interface PaginatedResult extends Result {
  /** Present if there are more pages; an empty string is a valid cursor. */
  nextCursor?: Cursor;
}

/** The cursor of the page after this one; undefined if it is the last page. */
export function cursorAfter(page: object): unknown {
  return (page as { nextCursor?: unknown }).nextCursor;
}

/** The page without a cursor, as if it were the last one. */
export function lastPage(page: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { nextCursor: _nextCursor, ...rest } = page;
  return rest;
}

/** A page with the cursor of the next one; the same page if there is none. */
export function pageBefore<T extends object>(page: T, cursor: Cursor | undefined): T & { nextCursor?: Cursor } {
  return cursor === undefined ? page : { ...page, nextCursor: cursor };
}

/** Who may share a cached result: anyone, or only the same authorization context. */
export type CacheScope = "public" | "private";

/** How long a result stays fresh. On the wire from 2026-07-28 on, where both members are required. */
export interface CacheHints {
  /** Milliseconds from receipt during which the result may be reused; 0 means not at all. */
  ttlMs?: number;
  cacheScope?: CacheScope;
}

/** A result that a client may cache. From 2026-07-28 on. */
export interface CacheableResult extends Result, CacheHints {}

/** Requests that a call run as a task. 2025-11-25 only. */
export interface TaskMetadata {
  /** How long the task should be kept, in milliseconds. */
  ttl?: number;
}

/** The value of `_meta["io.modelcontextprotocol/related-task"]`. 2025-11-25 only. */
export interface RelatedTaskMetadata {
  taskId: string;
}
