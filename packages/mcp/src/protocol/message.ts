import type { Id } from "../jsonrpc/message.js";
import type { ClientCapabilities } from "./capabilities.js";
import type { Implementation } from "./implementation.js";
import type { MetaObject } from "./json.js";
import type { LoggingLevel } from "./logging.js";

/** The id that matches a response to its request: a string or an integer; `1` differs from `"1"`. */
export type RequestId = Id;

/** The value that matches progress notifications to their request. */
export type ProgressToken = string | number;

/** An opaque position in a list. Only the server that created it can interpret it. */
export type Cursor = string;

/**
 * The `_meta` of a request. The `io.modelcontextprotocol/` members exist from 2026-07-28 on, where `protocolVersion`
 * and `clientCapabilities` are required.
 */
export interface RequestMetaObject extends MetaObject {
  /** The revision in which the request is written. Over HTTP it equals the `MCP-Protocol-Version` header. */
  "io.modelcontextprotocol/protocolVersion"?: string;
  /** The client's capabilities, for this request only. */
  "io.modelcontextprotocol/clientCapabilities"?: ClientCapabilities;
  /** The name and version of the client. */
  "io.modelcontextprotocol/clientInfo"?: Implementation;
  /** Asks for log messages of at least this severity while the request runs. */
  "io.modelcontextprotocol/logLevel"?: LoggingLevel;
  /** Asks for progress notifications that carry this token. */
  progressToken?: ProgressToken;
  /** The `traceparent` of W3C Trace Context. */
  traceparent?: string;
  /** The `tracestate` of W3C Trace Context. */
  tracestate?: string;
  /** W3C Baggage. */
  baggage?: string;
}

/** The `_meta` of a notification. */
export interface NotificationMetaObject extends MetaObject {
  /** The id of the listen request that this notification belongs to. From 2026-07-28 on. */
  "io.modelcontextprotocol/subscriptionId"?: RequestId;
}

/** The `_meta` of a result. */
export interface ResultMetaObject extends MetaObject {
  /** The name and version of the server that answered. From 2026-07-28 on. */
  "io.modelcontextprotocol/serverInfo"?: Implementation;
}

/** Members that the parameters of every request may have. */
export interface RequestParams {
  /** Metadata of the request. Required from 2026-07-28 on. */
  _meta?: RequestMetaObject;
}

/** Members that the parameters of every notification may have. */
export interface NotificationParams {
  /** Metadata of the notification. */
  _meta?: NotificationMetaObject;
}

/**
 * `complete` for a final result, `input_required` for an interim result; extensions define other values. From
 * 2026-07-28 on.
 */
export type ResultType = "complete" | "input_required" | (string & {});

/** Members that every result may have. The library preserves unknown members. */
export interface Result {
  /** Metadata of the result. */
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

/** The cursor of the next page. Undefined on the last page. */
export function nextCursorOf(page: object): unknown {
  return (page as { nextCursor?: unknown }).nextCursor;
}

/** The page without its cursor, as if it were the last one. */
export function withoutNextCursor(page: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { nextCursor: _nextCursor, ...rest } = page;
  return rest;
}

/** The page with the cursor of the next page. Returns the same page if the cursor is undefined. */
export function withNextCursor<T extends object>(page: T, cursor: Cursor | undefined): T & { nextCursor?: Cursor } {
  return cursor === undefined ? page : { ...page, nextCursor: cursor };
}

/** The scope of a cached result: shared by all users, or limited to one authorization context. */
export type CacheScope = "public" | "private";

/** The caching rules of a result. On the wire from 2026-07-28 on, where both members are required. */
export interface CacheHints {
  /** Milliseconds after receipt during which the result may be reused; 0 forbids reuse. */
  ttlMs?: number;
  /** `public` if a shared cache may serve the result to other users, otherwise `private`. */
  cacheScope?: CacheScope;
}

/** A result that a client may cache. From 2026-07-28 on. */
export interface CacheableResult extends Result, CacheHints {}

/** Asks the receiver to run the call as a task. 2025-11-25 only. */
export interface TaskMetadata {
  /** Requested lifetime of the task in milliseconds, from its creation. */
  ttl?: number;
}

/** The value of `_meta["io.modelcontextprotocol/related-task"]`. 2025-11-25 only. */
export interface RelatedTaskMetadata {
  /** The task that the message belongs to. */
  taskId: string;
}
