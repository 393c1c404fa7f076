import type { AuthorizationServer } from "oauth4webapi";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Challenge } from "../discovery/challenge.js";
import type { DiscoveryResult } from "../discovery/discover.js";
import { errorMessage, hookResult, type Steps } from "../discovery/steps.js";
import { type IssuedToken, type LoginContext, loginByCode } from "./code-flow.js";
import { loginByDevice } from "./device-flow.js";
import type { Grant } from "./grant.js";
import type { IdentityOptions, IssuerBindings } from "./identity.js";
import type { Login } from "./login.js";
import { peerText, requestToken, splitScopes, tokenFailure } from "./token-request.js";
import type { TokenRecord, TokenStore } from "./token-store.js";

/** The options of `oauth` with defaults applied. */
export interface OAuthSettings {
  readonly login: Login | undefined;
  readonly grant: Grant | undefined;
  readonly identity: IdentityOptions;
  readonly store: TokenStore;
  /** Shared by the sessions of all servers, so that a secret is bound to one issuer only. */
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
  readonly found: DiscoveryResult;
  /** The current token, if the issuer found by discovery issued it. On a 403, its scopes are requested again. */
  readonly held: TokenRecord | undefined;
}

/**
 * Returns the scopes to request: those of the challenge, else the configured ones, else those that the server lists.
 * Adds the required scopes and, for a step-up, those of the present token.
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

/** True if the token was requested without one of the required scopes. */
export function lacksRequired({ scopes }: TokenRecord, { requiredScopes }: OAuthSettings): boolean {
  return requiredScopes.some((scope) => !scopes.includes(scope));
}

/**
 * Creates the error for a client without `login` and `grant`. It states that a login is required or, if `held` is set,
 * which of `scopes` the token lacks.
 */
function loginNeeded(url: string, scopes: readonly string[], held: TokenRecord | undefined, steps: Steps): McpError {
  const fix = "Pass `login` or `grant` to `oauth`.";
  if (held === undefined) return steps.failure(`${url} requires a login`, fix, "login_needed");
  const missing = scopes.filter((scope) => !held.scopes.includes(scope));
  return new McpError("insufficient_scope", `${url} needs a token with the scope ${missing.join(" ")}`, {
    fix,
    data: { scopes: missing },
  });
}

/** The context of a login, and the other values that `obtainToken` needs. */
interface ObtainTokenContext extends LoginContext {
  /** The address of the MCP server. */
  readonly url: string;
  readonly platform: Platform;
  /** The token that lacks a scope, if the server asked for more scopes. */
  readonly held: TokenRecord | undefined;
}

/**
 * Gets a new token: by the grant if there is one, else by the user's login. Rejects with `authorization_failed`, which
 * lists every step that was tried. Without grant and login, rejects with `insufficient_scope` if `held` lacks a scope.
 */
export async function obtainToken(
  settings: OAuthSettings,
  found: DiscoveryResult,
  scopes: readonly string[],
  context: ObtainTokenContext,
): Promise<IssuedToken> {
  const { login, grant } = settings;
  const { steps } = context;
  const { server } = found;
  if (server.token_endpoint === undefined) {
    throw steps.failure(`${server.issuer} has no usable token endpoint`, "Correct its metadata.");
  }
  try {
    if (grant !== undefined) return await obtainByGrant(grant, settings, found, scopes, context);
    if (login === undefined) throw loginNeeded(context.url, scopes, context.held, steps);
    return await (login.kind === "redirect"
      ? loginByCode(login, found, scopes, context)
      : loginByDevice(login, found, scopes, context));
  } catch (error) {
    throw await withSteps(error, server, context);
  }
}

async function obtainByGrant(
  grant: Grant,
  { bindings }: OAuthSettings,
  found: DiscoveryResult,
  scopes: readonly string[],
  { fetch, platform, dpop, steps }: ObtainTokenContext,
): Promise<IssuedToken> {
  const { client, grantType } = grant;
  const { server, resource } = found;
  // A private key signs assertions that only one issuer accepts. A secret, or an assertion that another party issued,
  // could be misused by any issuer that receives it, so the client must be bound to one issuer.
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

/** Turns a failed token request into an error that lists the steps tried before. */
async function withSteps(
  error: unknown,
  server: AuthorizationServer,
  { identities, steps, signal }: ObtainTokenContext,
): Promise<unknown> {
  if (McpError.is(error) || signal.aborted) return error;
  const failure = tokenFailure(error);
  // If the registration was deleted on the server, the next attempt must register again.
  if (failure?.code === "invalid_client") await identities.forget(server.issuer);
  // If `failure` is undefined, the token endpoint did not answer. The step names this endpoint, so that the error does
  // not look like a failure of the MCP server.
  steps.note("token request", failure?.text ?? peerText(errorMessage(error)), server.token_endpoint);
  const fix =
    failure === undefined
      ? "Check that the token endpoint can be reached."
      : "Check the error that the token endpoint returned.";
  return steps.failure(`${server.issuer} issued no token`, fix);
}
