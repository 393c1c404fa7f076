import type { Platform } from "../platform/platform.js";
import type { Sender } from "./http.js";

/** Where the requests go that are to be authorized. */
export interface AuthorizedTarget {
  /** The address of the server. */
  readonly url: string;
  readonly platform: Platform;
}

/**
 * Gives requests their credentials: the `auth` option of `connect`. `oauth` and `bearerToken` of `@parley/mcp/auth` make one.
 *
 * What it returns sends like the sender that it is given, and answers challenges in between.
 */
export interface RequestAuthorization {
  authorize(sender: Sender, target: AuthorizedTarget): Sender;
}
