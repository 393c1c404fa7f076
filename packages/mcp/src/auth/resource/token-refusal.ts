import { decodeJwt, decodeProtectedHeader } from "jose";
import { printableLine } from "../../encoding/printable.js";
import type { AuthenticationRefusal, AuthenticationRequest } from "../../http/authentication.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import { addressClass } from "../url/url-policy.js";
import type { InvalidTokenDetails, TokenRefusalReason } from "./verified-token.js";

/**
 * Why a request was refused, for the operator; the caller gets none of it. It never has the token. What begins with `iss` is what the
 * token claims, read without verification: it may be forged. Texts are cut after 200 characters, lists after 10 entries.
 */
export interface TokenRefusal {
  readonly reason: TokenRefusalReason;
  /** The HTTP status of the answer. */
  readonly status: AuthenticationRefusal["status"];
  /** One sentence. */
  readonly message: string;
  /** The value that is accepted, such as the audiences that are accepted. */
  readonly expected?: string | readonly string[] | undefined;
  /** The value that the token had. */
  readonly got?: string | readonly string[] | undefined;
  readonly iss?: string | undefined;
  readonly aud?: string | readonly string[] | undefined;
  /** The key and the algorithm that the token names. */
  readonly kid?: string | undefined;
  readonly alg?: string | undefined;
  /** Path of the request, without its query. */
  readonly path?: string | undefined;
  readonly remoteAddress?: string | undefined;
}

/** A refusal as the code that refuses knows it. */
export interface RefusalCause extends InvalidTokenDetails {
  readonly reason: TokenRefusalReason;
  readonly message: string;
}

const MAX_TEXT = 200;
const MAX_LIST = 10;
const PERIOD_MS = 60_000;
const MAX_LINES = 10;

/** Refusals that every login begins with, or that are reported otherwise. */
const NOT_PRINTED: ReadonlySet<TokenRefusalReason> = new Set(["missing_token", "dpop_nonce", "unverifiable"]);

const FIXES: Partial<Record<TokenRefusalReason, string>> = {
  malformed: "If the tokens of the issuer are no JWTs, set `introspection` or `verify`.",
  expired: "If it ended a moment ago, compare the clocks of this machine and the issuer.",
  not_yet_valid: "Compare the clocks of this machine and the issuer, or raise `clockSkewMs`.",
  wrong_issuer: "Set `issuer` to what tokens have in `iss`, character by character.",
  wrong_audience: "Set `audience` to what tokens have in `aud`, or let clients ask the issuer for `resource`.",
  unknown_key: "Look whether the issuer, or `jwksUri`, publishes this key.",
  wrong_algorithm: "Set `algorithms`, or let the issuer sign with one of them.",
  missing_scope: "Let the issuer grant the scopes, or change `scopes`.",
};

/** Reports refused tokens to the operator: by `onRefused`, else for callers on this machine by lines of the log. */
export class RefusalReports {
  readonly #platform: Platform;
  readonly #isLocal: boolean;
  readonly #onRefused: ((refusal: TokenRefusal) => unknown) | undefined;
  #lines = 0;
  #since = Number.NEGATIVE_INFINITY;

  constructor(platform: Platform, resource: string, onRefused: ((refusal: TokenRefusal) => unknown) | undefined) {
    this.#platform = platform;
    this.#isLocal = addressClass(new URL(resource).hostname) === "loopback";
    this.#onRefused = onRefused;
  }

  report(
    { path, remoteAddress }: AuthenticationRequest,
    status: TokenRefusal["status"],
    cause: RefusalCause,
    token: string | undefined,
  ): void {
    const hook = this.#onRefused;
    if (hook === undefined && !this.#prints(cause.reason, remoteAddress)) return;
    const { reason, message, expected, got } = cause;
    const refusal: TokenRefusal = {
      reason,
      status,
      message,
      expected: shown(expected),
      got: shown(got),
      ...claimed(token),
      path: path?.split("?", 1)[0],
      remoteAddress,
    };
    if (hook === undefined) this.#print(refusal);
    else callHook(this.#platform, "onRefused", () => hook(refusal));
  }

  #prints(reason: TokenRefusalReason, remoteAddress: string | undefined): boolean {
    const isLocal = remoteAddress === undefined ? this.#isLocal : addressClass(remoteAddress) === "loopback";
    if (!isLocal || NOT_PRINTED.has(reason)) return false;
    const now = this.#platform.monotonic();
    if (now - this.#since >= PERIOD_MS) {
      this.#since = now;
      this.#lines = 0;
    }
    this.#lines++;
    return this.#lines <= MAX_LINES;
  }

  #print({ reason, message, expected, got }: TokenRefusal): void {
    const values = [
      ...(expected === undefined ? [] : [`expected ${JSON.stringify(expected)}`]),
      ...(got === undefined ? [] : [`got ${JSON.stringify(got)}`]),
    ].join(", ");
    const details = values === "" ? "" : ` (${values})`;
    const fix = FIXES[reason] === undefined ? "" : ` ${FIXES[reason]}`;
    const last = this.#lines < MAX_LINES ? "" : " Further refusals are not printed for a minute; `onRefused` gets all.";
    this.#platform.warn(printableLine(`a token was refused, ${reason}: ${message}${details}.${fix}${last}`));
  }
}

/** The claims of an unverified token. */
function claimed(token = ""): Pick<TokenRefusal, "iss" | "aud" | "kid" | "alg"> {
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    const { iss, aud } = decodeJwt(token);
    return { iss: shownText(iss), aud: shown(aud), kid: shownText(kid), alg: shownText(alg) };
  } catch {
    return {};
  }
}

function shown(value: unknown): string | readonly string[] | undefined {
  if (Array.isArray(value)) return value.slice(0, MAX_LIST).map((one) => shownText(one) ?? "");
  return shownText(value);
}

function shownText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === "string" ? value : (jsonText(value) ?? typeof value);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** Undefined for what JSON cannot write: claims nested too deeply, and in a `verify` of one's own a bigint or a circle. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
