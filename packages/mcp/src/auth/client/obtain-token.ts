import type { AuthorizationServer } from "oauth4webapi";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { Discovered } from "../discovery/discover.js";
import { hookResult } from "../discovery/hook-result.js";
import { saidBy } from "../discovery/steps.js";
import { type LoggedIn, type LoginParts, loginByCode } from "./code-flow.js";
import { loginByDevice } from "./device-flow.js";
import type { Grant } from "./grant.js";
import type { OAuthSettings } from "./oauth-settings.js";
import { peerText, tokenFailure } from "./token-failure.js";
import type { TokenRecord } from "./token-record.js";
import { requestToken } from "./token-request.js";
import { loginNeeded } from "./wanted-scopes.js";

/** The parts that a token request uses: those of a login, and the server that wants the token. */
export interface ObtainParts extends LoginParts {
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
  // A registration that was deleted on the server would fail for ever.
  if (failure?.code === "invalid_client") await identities.forget(server.issuer);
  // Anything else is a failure on the way to the token endpoint, and must not pass for one of the MCP server.
  steps.note("token request", failure?.text ?? peerText(saidBy(error)), server.token_endpoint);
  const fix =
    failure === undefined ? "Check that the token endpoint can be reached." : "Look at what the token endpoint says.";
  return steps.failure(`${server.issuer} gave no token`, fix);
}
