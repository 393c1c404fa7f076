import type { AuthorizationServer } from "oauth4webapi";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Challenge } from "../discovery/challenge.js";
import type { Discovered } from "../discovery/discover.js";
import { hookResult, type Steps, saidBy } from "../discovery/steps.js";
import { type LoggedIn, type LoginParts, loginByCode } from "./code-flow.js";
import { loginByDevice } from "./device-flow.js";
import type { Grant } from "./grant.js";
import type { IdentityOptions, IssuerBindings } from "./identity.js";
import type { Login } from "./login.js";
import { peerText, requestToken, splitScopes, tokenFailure } from "./token-request.js";
import type { TokenRecord, TokenStore } from "./token-store.js";

/** The options of `oauth` with their defaults filled in. */
export interface OAuthSettings {
  readonly login: Login | undefined;
  readonly grant: Grant | undefined;
  readonly identity: IdentityOptions;
  readonly store: TokenStore;
  /** Shared by all servers: a secret is bound once. */
  readonly bindings: IssuerBindings;
  readonly scopes: readonly string[] | undefined;
  readonly requiredScopes: readonly string[];
  readonly offlineAccess: boolean;
  readonly dpop: boolean | "auto";
  readonly allowPrivateNetwork: boolean;
  readonly chooseServer: ((issuers: readonly string[]) => string | undefined) | undefined;
}

interface ScopeNeed {
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
function loginNeeded(url: string, scopes: readonly string[], held: TokenRecord | undefined, steps: Steps): McpError {
  const fix = "Pass `login` or `grant` to `oauth`.";
  if (held === undefined) return steps.failure(`${url} wants a user to log in`, fix, "login_needed");
  const missing = scopes.filter((scope) => !held.scopes.includes(scope));
  return new McpError("insufficient_scope", `${url} needs a token with the scope ${missing.join(" ")}`, {
    fix,
    data: { scopes: missing },
  });
}

/** The parts that a token request uses: those of a login, and the server that wants the token. */
interface ObtainParts extends LoginParts {
  /** The address of the MCP server. */
  readonly url: string;
  readonly platform: Platform;
  /** The token that lacks a scope, when the server asked for more. */
  readonly held: TokenRecord | undefined;
}

/**
 * Gets a new token, by the grant if there is one, else by the user's login. Rejects with `authorization_failed`, which lists all
 * that was tried.
 */
export async function obtainToken(
  settings: OAuthSettings,
  found: Discovered,
  scopes: readonly string[],
  parts: ObtainParts,
): Promise<LoggedIn> {
  const { login, grant } = settings;
  const { steps } = parts;
  const { server } = found;
  if (server.token_endpoint === undefined) {
    throw steps.failure(`${server.issuer} has no usable token endpoint`, "Correct its metadata.");
  }
  try {
    if (grant !== undefined) return await byGrant(grant, settings, found, scopes, parts);
    if (login === undefined) throw loginNeeded(parts.url, scopes, parts.held, steps);
    return await (login.kind === "redirect"
      ? loginByCode(login, found, scopes, parts)
      : loginByDevice(login, found, scopes, parts));
  } catch (error) {
    throw await explained(error, server, parts);
  }
}

async function byGrant(
  grant: Grant,
  { bindings }: OAuthSettings,
  found: Discovered,
  scopes: readonly string[],
  { fetch, platform, dpop, steps }: ObtainParts,
): Promise<LoggedIn> {
  const { client, grantType } = grant;
  const { server, resource } = found;
  // A key proves itself with an assertion for one issuer. Secrets and assertions of others work wherever they are sent.
  const secret = client.clientSecret !== undefined || grantType !== "client_credentials";
  await bindings.require(client, server.issuer, { secret, steps });
  const isKnown = (error: unknown) => tokenFailure(error) !== undefined;
  const extra = await hookResult("parameters", () => grant.parameters({ ...found, scopes, fetch }), isKnown);
  const wanted = scopes.length === 0 ? {} : { scope: scopes.join(" ") };
  const granted = await requestToken({ server, client, fetch, platform, dpop }, grantType, {
    ...extra,
    resource,
    ...wanted,
  });
  return { client, granted };
}

/** An error of the token endpoint, with all that was tried before it. */
async function explained(
  error: unknown,
  server: AuthorizationServer,
  { identities, steps, signal }: ObtainParts,
): Promise<unknown> {
  if (McpError.is(error) || signal.aborted) return error;
  const failure = tokenFailure(error);
  // A registration that was deleted on the server would fail again.
  if (failure?.code === "invalid_client") await identities.forget(server.issuer);
  // Anything else is a failure on the way to the token endpoint, and must not pass for one of the MCP server.
  steps.note("token request", failure?.text ?? peerText(saidBy(error)), server.token_endpoint);
  const fix =
    failure === undefined ? "Check that the token endpoint can be reached." : "Look at what the token endpoint says.";
  return steps.failure(`${server.issuer} gave no token`, fix);
}
