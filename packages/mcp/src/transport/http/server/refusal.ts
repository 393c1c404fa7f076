import { thrownMessage } from "../../../encoding/thrown-message.js";
import type { Principal } from "../../../http/authentication.js";
import { areReplyHeaders } from "../../../http/protocol-headers.js";
import { INTERNAL_ERROR, INVALID_REQUEST } from "../../../jsonrpc/error.js";
import { errorText, type Id } from "../../../jsonrpc/message.js";
import { callHook } from "../../../platform/call-hook.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import type { Answer } from "../../transport.js";
import type { HeaderList } from "./incoming.js";

/** A reply that ends a request before any handler runs. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly text: string;
}

export interface RefusalOptions {
  id?: Id | undefined;
  /** A code that JSON-RPC defines. Default: derived from the status. */
  code?: number;
  headers?: HeaderList;
  data?: unknown;
}

export const JSON_HEADERS: HeaderList = ["content-type", "application/json"];

/**
 * Builds a refusal with a JSON-RPC body. The default code is `INVALID_REQUEST` for a status below 500, and
 * `INTERNAL_ERROR` for any other status.
 */
export function refusal(status: number, message: string, options: RefusalOptions = {}): Refusal {
  const headers = options.headers === undefined ? JSON_HEADERS : [...JSON_HEADERS, ...options.headers];
  const { id, code = status < 500 ? INVALID_REQUEST : INTERNAL_ERROR, data } = options;
  return { status, headers, text: errorText(id, code, message, data) };
}

interface ChallengeOptions extends Challenger {
  readonly auth?: Challenger | undefined;
}

interface Challenger {
  challenge?: ((scopes: readonly string[], caller?: Principal) => Readonly<Record<string, string>>) | undefined;
}

/**
 * Returns the status and headers of an answer that asks for a later retry, or lists the scopes that the caller lacks.
 */
export function answerHead(
  { platform, options }: { readonly platform: Platform; readonly options: ChallengeOptions },
  { status = 200, retryAfterMs, scopes = [] }: Answer,
  caller: Principal | undefined,
): { readonly status: number; readonly headers: readonly string[] } {
  // Rounded up to whole seconds, so that the client never retries too early.
  if (retryAfterMs !== undefined) return { status, headers: ["retry-after", String(Math.ceil(retryAfterMs / 1000))] };
  return { status: 403, headers: challengeHeaders(platform, options, scopes, caller) };
}

/** Returns the headers that list the scopes a caller lacks. Uses the `challenge` hook if it returns valid headers. */
function challengeHeaders(
  platform: Platform,
  options: ChallengeOptions,
  scopes: readonly string[],
  caller?: Principal,
): string[] {
  try {
    const { auth, challenge = auth?.challenge?.bind(auth) ?? scopeChallenge } = options;
    const headers = challenge(scopes, caller);
    if (areReplyHeaders(headers)) return Object.entries(headers).flat();
    // A promise is too late for this answer. `callHook` handles its rejection, which must not end the process.
    callHook(platform, "challenge", () => headers);
    platform.warn("`challenge` returned something other than headers that can be sent; the default is sent instead");
  } catch (error) {
    platform.warn(`\`challenge\` failed: ${thrownMessage(error)}`);
  }
  return Object.entries(scopeChallenge(scopes)).flat();
}

/** The default challenge, with the scopes that a caller lacks. */
function scopeChallenge(scopes: readonly string[]): Readonly<Record<string, string>> {
  return { "www-authenticate": `Bearer error="insufficient_scope", scope="${scopes.filter(isScope).join(" ")}"` };
}

/** True if a scope has only characters that RFC 6749, 3.3 allows. Other characters could end the quoted string. */
function isScope(scope: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope);
}

/** Refuses a request with an error and HTTP 400. */
export function refusedBy({ code, message, data }: McpError, id?: Id): Refusal {
  return refusal(400, message, { id, code, data });
}

/** The answer to a request if the endpoint threw, which is a bug. Only the operator sees the cause. */
export function failedAnswer(platform: Platform, id: Id, error: unknown): Answer {
  platform.warn(`a request failed inside the server: ${String(error)}`);
  return { text: errorText(id, INTERNAL_ERROR, "the request failed inside the server") };
}

/** The reason why a request ends before its handler has answered. */
export interface EndedError extends Error {
  /** Returns the JSON-RPC error that answers the request with this id. */
  answerTo(id: Id): string;
}

/** The error for requests of a session that has ended: on every node if `isGone`, otherwise only on this node. */
export function sessionEnd(isGone: boolean): EndedError {
  const error = new McpError("connection_closed", isGone ? "the session has ended" : "the server is closing");
  const fix = `${isGone ? "Open a new session" : "Connect again"}; call again if the call is safe to repeat.`;
  const message = `${error.message} before this request was answered, so its outcome is unknown. ${fix}`;
  const data = { reason: isGone ? "session_ended" : "closing", fix };
  return Object.assign(error, { answerTo: (id: Id) => errorText(id, INTERNAL_ERROR, message, data) });
}

/**
 * Refuses a header value. Names the header, its value and the option, because deployments behind proxies often lack
 * this option.
 */
export function forbidden(header: string, value: string, option: string): Refusal {
  const shown = JSON.stringify(value.slice(0, 200));
  const fix = `Set \`${option}\` if clients are meant to use this address.`;
  return refusal(403, `the ${header} header ${shown} is not allowed. ${fix}`, {
    data: { header, value: value.slice(0, 200), fix },
  });
}
