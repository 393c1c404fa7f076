import type { Id } from "../jsonrpc/message.js";
import type { ClientCapabilities } from "./capabilities.js";
import type { LoggingLevel } from "./features/logging.js";
import type { Implementation } from "./implementation.js";
import type { MetaObject } from "./json.js";

/** The id that ties an answer to its request: a string or an integer, and `1` differs from `"1"`. */
export type RequestId = Id;

/** The value by which progress notifications name the request they belong to. */
export type ProgressToken = string | number;

/** An opaque position in a list; only the server that made it can read it. */
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
  /** The id of the listen request that this notification answers. From 2026-07-28 on. */
  "io.modelcontextprotocol/subscriptionId"?: RequestId;
}

/** The `_meta` of a result. */
export interface ResultMetaObject extends MetaObject {
  /** Who answered. From 2026-07-28 on. */
  "io.modelcontextprotocol/serverInfo"?: Implementation;
}

/** What the parameters of every request may hold. */
export interface RequestParams {
  _meta?: RequestMetaObject;
}

/** What the parameters of every notification may hold. */
export interface NotificationParams {
  _meta?: NotificationMetaObject;
}

/** `complete` for a final result, `input_required` for an interim one, others by extensions. From 2026-07-28 on. */
export type ResultType = "complete" | "input_required" | (string & {});

/** What every result may hold; results are open objects and unknown members survive. */
export interface Result {
  _meta?: ResultMetaObject;
  /** On the wire from 2026-07-28 on; absent means `complete`. */
  resultType?: ResultType;
}

/** A result that says only that the request was done. */
export interface EmptyResult extends Result {}

/** Parameters of a list request. */
export interface PaginatedRequestParams extends RequestParams {
  /** Where to go on, as the previous page's `nextCursor` said; absent for the first page. */
  cursor?: Cursor;
}

/** One page of a list. */
export interface PaginatedResult extends Result {
  /** Present when there are more pages; an empty string is a cursor like any other. */
  nextCursor?: Cursor;
}

/** Who may share a cached result: anyone, or only the same authorization context. */
export type CacheScope = "public" | "private";

/** How long a result stays fresh. On the wire from 2026-07-28 on, where both members are required. */
export interface CacheHints {
  /** Milliseconds from receipt during which the result may be reused; 0 means not at all. */
  ttlMs?: number;
  cacheScope?: CacheScope;
}

/** A result that a client may keep for a while. From 2026-07-28 on. */
export interface CacheableResult extends Result, CacheHints {}
