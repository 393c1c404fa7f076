import * as oauth from "oauth4webapi";
import { printableLine } from "../../encoding/printable.js";
import { McpError } from "../../protocol/error.js";

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

/** Codes of answers that are not those of an authorization server, but of something in front of it. */
const NOT_ITS_ANSWER: ReadonlySet<string | undefined> = new Set([
  oauth.RESPONSE_IS_NOT_CONFORM,
  oauth.RESPONSE_IS_NOT_JSON,
  oauth.PARSE_ERROR,
]);

/** Whether a token request may succeed if it is repeated: there was no answer, or none of the authorization server itself. */
export function mayPass(error: unknown): boolean {
  if (McpError.is(error) || error instanceof oauth.WWWAuthenticateChallengeError) return false;
  if (error instanceof oauth.ResponseBodyError) {
    return error.status === 429 || error.error === "temporarily_unavailable" || error.error === "server_error";
  }
  return error instanceof oauth.OperationProcessingError ? NOT_ITS_ANSWER.has(error.code) : error instanceof Error;
}

/** Text of a peer that is repeated in an error. */
export function peerText(text: string): string {
  return printableLine(text.slice(0, 300));
}
