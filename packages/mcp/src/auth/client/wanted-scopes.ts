import { McpError } from "../../protocol/error.js";
import type { Challenge } from "../discovery/challenge.js";
import type { Discovered } from "../discovery/discover.js";
import type { Steps } from "../discovery/steps.js";
import type { OAuthSettings } from "./oauth-settings.js";
import type { TokenRecord } from "./token-record.js";
import { splitScopes } from "./token-request.js";

/** What the scopes of the next token depend on. */
export interface ScopeNeed {
  readonly status: 401 | 403;
  readonly challenge: Challenge | undefined;
  readonly found: Discovered;
  /** The token that lacks a scope. */
  readonly held: TokenRecord | undefined;
}

/**
 * Returns the scopes of the challenge, else those that the server lists, else none; with those already held and those required.
 *
 * Spec: Authorization, "Scope Selection Strategy",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-selection-strategy
 */
export function wantedScopes({ status, challenge, found, held }: ScopeNeed, settings: OAuthSettings): string[] {
  const challenged = challenge?.params.get("scope");
  const basic = settings.scopes ?? found.scopes ?? [];
  const wanted = challenged === undefined ? basic : splitScopes(challenged);
  const scopes = new Set([...(status === 403 ? (held?.scopes ?? []) : []), ...wanted, ...settings.requiredScopes]);
  const isOffline = found.server.scopes_supported?.includes("offline_access") === true;
  if (isOffline && settings.offlineAccess && settings.login !== undefined) scopes.add("offline_access");
  return [...scopes];
}

/** Whether a token was requested without one of the scopes that every token must have. */
export function lacksRequired({ scopes }: TokenRecord, { requiredScopes }: OAuthSettings): boolean {
  return requiredScopes.some((scope) => !scopes.includes(scope));
}

/** The error of a client that has no way to get a token: it has none, or `held` lacks some of these scopes. */
export function loginNeeded(
  url: string,
  scopes: readonly string[],
  held: TokenRecord | undefined,
  steps: Steps,
): McpError {
  const fix = "Pass `login` or `grant` to `oauth`.";
  if (held === undefined) return steps.failure(`${url} wants a user to log in`, fix, "login_needed");
  const missing = scopes.filter((scope) => !held.scopes.includes(scope));
  return new McpError("insufficient_scope", `${url} needs a token with the scope ${missing.join(" ")}`, {
    fix,
    data: { scopes: missing },
  });
}
