import type { MetaObject } from "../json.js";
import type { RequestParams, Result } from "../message.js";

/** A directory or file that the user allows the server to work in. */
export interface Root {
  /** A `file:` URI. */
  uri: string;
  /** A human-readable name. */
  name?: string;
  /** Metadata of the root. From 2025-06-18 on. */
  _meta?: MetaObject;
}

/**
 * Parameters of `roots/list`, which the server sends. Deprecated in 2026-07-28, where the request is part of an interim
 * result.
 */
export interface ListRootsRequestParams extends RequestParams {}

/** Result of `roots/list`. */
export interface ListRootsResult extends Result {
  /** The roots of the client. */
  roots: Root[];
}

/** Parameters of `notifications/roots/list_changed`. 2024-11-05 to 2025-11-25. */
export interface RootsListChangedNotificationParams {
  /** Metadata of the notification. */
  _meta?: MetaObject;
}
