import * as oauth from "oauth4webapi";
import { printableLine } from "../../encoding/printable.js";

/** Why an authorization server gave no token, without anything of what it answered but its own words. */
export interface TokenFailure {
  /** The `error` of the answer, such as `invalid_grant`; undefined if it had none. */
  readonly code: string | undefined;
  readonly text: string;
}

/** Errors after which a refresh token is good for nothing. Any other may pass. */
export const ENDED: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
]);

/**
 * Reads an error of `oauth4webapi`, or undefined for any other. Only this is passed on: such errors carry whole responses, with
 * tokens and secrets in them.
 */
export function tokenFailure(error: unknown): TokenFailure | undefined {
  if (error instanceof oauth.ResponseBodyError) {
    const { error: code, error_description: description } = error;
    return { code, text: peerText(typeof description === "string" ? `${code}: ${description}` : code) };
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    // RFC 6749, 5.2: the answer to a client that the server does not know, or that proved itself in the wrong way.
    const code = error.status === 401 ? "invalid_client" : undefined;
    return { code, text: `HTTP ${error.status}${code === undefined ? "" : `, which means ${code}`}` };
  }
  const isOther = error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError;
  return isOther ? { code: undefined, text: peerText(error.message) } : undefined;
}

/** Text of a peer that is repeated in an error. */
export function peerText(text: string): string {
  return printableLine(text.slice(0, 300));
}
