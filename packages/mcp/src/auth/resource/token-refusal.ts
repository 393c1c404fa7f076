import { decodeJwt, decodeProtectedHeader } from "jose";
import { printableLine } from "../../encoding/printable.js";
import type { AuthenticationRefusal, AuthenticationRequest } from "../../http/authentication.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import { addressClass } from "../url/url-policy.js";
import type { InvalidTokenDetails, TokenRefusalReason } from "./verified-token.js";

/**
 * The reason why a request was refused, for the operator. The caller does not get these details. They never contain the
 * token. `iss`, `aud`, `kid` and `alg` are unverified claims of the token and may be forged. Values from the token are
 * cut after 200 characters, lists after 10 entries.
 */
export interface TokenRefusal {
  /** The reason as a fixed value. */
  readonly reason: TokenRefusalReason;
  /** The HTTP status of the response. */
  readonly status: AuthenticationRefusal["status"];
  /** The reason as a sentence. */
  readonly message: string;
  /** The accepted values, such as the accepted audiences. */
  readonly expected?: string | readonly string[] | undefined;
  /** The value that the token had. */
  readonly got?: string | readonly string[] | undefined;
  /** The issuer that the token claims. Unverified. */
  readonly iss?: string | undefined;
  /** The audience that the token claims. Unverified. */
  readonly aud?: string | readonly string[] | undefined;
  /** The key that the token names. Unverified. */
  readonly kid?: string | undefined;
  /** The signature algorithm that the token names. Unverified. */
  readonly alg?: string | undefined;
  /** Path of the request, without its query. */
  readonly path?: string | undefined;
  /** IP address of the caller. Undefined if the runtime does not report it. */
  readonly remoteAddress?: string | undefined;
}

/** The cause of a refusal, without the details of the request and the token, which `report` adds. */
export interface RefusalCause extends InvalidTokenDetails {
  readonly reason: TokenRefusalReason;
  readonly message: string;
}

const MAX_TEXT_LENGTH = 200;
const MAX_LIST_LENGTH = 10;
const PERIOD_MS = 60_000;
const MAX_LINES_PER_PERIOD = 10;

/** Refusals that are not printed: the first two are part of every login, and `unverifiable` is reported elsewhere. */
const NOT_PRINTED: ReadonlySet<TokenRefusalReason> = new Set(["missing_token", "dpop_nonce", "unverifiable"]);

const FIXES: Partial<Record<TokenRefusalReason, string>> = {
  malformed: "If the tokens of the issuer are not JWTs, set `introspection` or `verify`.",
  expired: "If it expired just now, compare the clocks of this machine and the issuer.",
  not_yet_valid: "Compare the clocks of this machine and the issuer, or raise `clockSkewMs`.",
  wrong_issuer: "Set `issuer` to the exact `iss` of the tokens.",
  wrong_audience: "Set `audience` to the `aud` of the tokens, or make clients request tokens for `resource`.",
  unknown_key: "Check that the issuer, or `jwksUri`, publishes this key.",
  wrong_algorithm: "Set `algorithms`, or configure the issuer to sign with one of them.",
  missing_scope: "Configure the issuer to grant the scopes, or change `scopes`.",
};

/**
 * Reports refused requests to `onRefused`. Without `onRefused`, logs a line, but only if the refused caller is on this
 * machine.
 */
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
      ...unverifiedClaims(token),
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
    return this.#lines <= MAX_LINES_PER_PERIOD;
  }

  #print({ reason, message, expected, got }: TokenRefusal): void {
    const values = [
      ...(expected === undefined ? [] : [`expected ${JSON.stringify(expected)}`]),
      ...(got === undefined ? [] : [`got ${JSON.stringify(got)}`]),
    ].join(", ");
    const details = values === "" ? "" : ` (${values})`;
    const fix = FIXES[reason] === undefined ? "" : ` ${FIXES[reason]}`;
    const last =
      this.#lines < MAX_LINES_PER_PERIOD
        ? ""
        : " Further refusals are not printed for a minute. `onRefused` receives all of them.";
    this.#platform.warn(printableLine(`a token was refused, ${reason}: ${message}${details}.${fix}${last}`));
  }
}

/** Reads claims of the token without verification. */
function unverifiedClaims(token = ""): Pick<TokenRefusal, "iss" | "aud" | "kid" | "alg"> {
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    const { iss, aud } = decodeJwt(token);
    return { iss: shownText(iss), aud: shown(aud), kid: shownText(kid), alg: shownText(alg) };
  } catch {
    return {};
  }
}

function shown(value: unknown): string | readonly string[] | undefined {
  if (Array.isArray(value)) return value.slice(0, MAX_LIST_LENGTH).map((one) => shownText(one) ?? "");
  return shownText(value);
}

function shownText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === "string" ? value : (jsonText(value) ?? typeof value);
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

/**
 * Returns the value as JSON. Undefined for values that JSON cannot represent: claims nested too deeply, or a bigint or
 * cycle from a custom `verify`.
 */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
