import type { Platform } from "../platform/platform.js";
import type { Sender } from "./http.js";

/** The server that receives the authorized requests. */
export interface AuthorizedTarget {
  /** The address of the server. */
  readonly url: string;
  /** The runtime, for clocks and random numbers. */
  readonly platform: Platform;
}

/**
 * Adds credentials to requests: the `auth` option of `connect`. `oauth` and `bearerToken` of `@parley/mcp/auth` create
 * such an object.
 */
export interface RequestAuthorization {
  /**
   * Wraps a sender. The result sends each request with credentials, and answers challenges of the server before it
   * reports the response. Called once per connection.
   */
  authorize(sender: Sender, target: AuthorizedTarget): Sender;
}
