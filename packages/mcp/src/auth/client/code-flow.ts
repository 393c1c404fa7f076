import * as oauth from "oauth4webapi";
import { onAbort } from "../../platform/on-abort.js";
import { McpError } from "../../protocol/error.js";
import type { Discovered } from "../discovery/discover.js";
import { hookResult, type Steps, saidBy } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { Identities, IdentitySearch } from "./identity.js";
import type { Login } from "./login.js";
import { clientAuthentication, type OAuthClient, secretsOf } from "./oauth-client.js";
import {
  againWithNonce,
  type GrantedToken,
  mayPass,
  peerText,
  requestOptions,
  requestToken,
  type TokenRequestParts,
  tokenFailure,
  withoutSecrets,
} from "./token-request.js";

/** The parts of a user's login. */
export interface LoginParts extends Omit<TokenRequestParts, "server" | "client">, IdentitySearch {
  readonly identities: Identities;
  /** Aborted when the login was given up. */
  readonly signal: AbortSignal;
  /** Sends requests that spend a code. It stops a little after `signal`, because the answer would be lost. */
  readonly spend: BoundedFetch;
}

/** A token, and the client that it was issued to. */
export interface LoggedIn {
  readonly client: OAuthClient;
  readonly granted: GrantedToken;
}

type RedirectLogin = Extract<Login, { kind: "redirect" }>;

/**
 * Lets the user log in by a redirect: authorization code with PKCE. The issuer in the answer is compared as plain text before the
 * code, or even an error, is looked at.
 *
 * Spec: Authorization, "Authorization Code Protection" and "Mix-Up Attack Protection",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export async function loginByCode(
  login: RedirectLogin,
  { server, resource }: Discovered,
  scopes: readonly string[],
  parts: LoginParts,
): Promise<LoggedIn> {
  const { identities, steps, signal } = parts;
  requirePkce(server, steps);
  const endpoint = authorizationEndpoint(server, steps);
  const attempt = await hookResult("begin", () => login.begin(signal));
  try {
    const { redirectUri } = attempt;
    const need = { server, redirectUri, applicationType: login.applicationType, scopes };
    const client = await identities.find(need, parts);
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = await pushed(endpoint, server, client, parts, {
      response_type: "code",
      redirect_uri: redirectUri,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      resource,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      // OpenID Connect gives a refresh token only with the user's consent in the same step.
      ...(scopes.includes("offline_access") ? { prompt: "consent" } : {}),
    });
    signal.throwIfAborted();
    const visit = () => hookResult("visit", () => attempt.visit(url, state));
    const answer = await parts.whileAsking(() => within(login.timeoutMs ?? MAX_LOGIN_MS, visit, parts));
    const code = checkedCode(server, client, answer, state, steps);
    const granted = await requestToken({ ...parts, fetch: parts.spend, server, client }, "authorization_code", {
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource,
    });
    return { client, granted };
  } finally {
    attempt.close?.();
  }
}

/** The longest time that a login may take whose own limit is not known. */
const MAX_LOGIN_MS = 3_600_000;

/** Rejects when the user takes too long, and when the login is given up, which `work` may not notice. */
function within<T>(ms: number, work: () => Promise<T>, { platform, steps, signal }: LoginParts): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(steps.failure(`nobody logged in within ${ms / 1_000} s`, "Log in again, or raise `timeoutMs`."));
    const timer = platform.timer(ms, late, true);
    const remove = onAbort(signal, () => {
      timer.cancel();
      reject(signal.reason);
    });
    work()
      .then(resolve, reject)
      .finally(() => {
        timer.cancel();
        remove();
      });
  });
}

function requirePkce(server: oauth.AuthorizationServer, steps: Steps): void {
  if (server.code_challenge_methods_supported?.includes("S256") === true) return;
  throw steps.failure(
    `${server.issuer} does not announce PKCE with S256, without which a login is not safe`,
    "Let the authorization server list S256 in `code_challenge_methods_supported`.",
  );
}

function authorizationEndpoint(
  { issuer, authorization_endpoint: endpoint }: oauth.AuthorizationServer,
  steps: Steps,
): string {
  // Discovery has left out an address that must not be visited.
  if (endpoint !== undefined) return endpoint;
  throw steps.failure(`${issuer} has no usable authorization endpoint`, "Correct its metadata.");
}

/**
 * The address of the login page. Where the authorization server takes pushed requests, the parameters are posted to it and the page
 * gets a reference to them (RFC 9126); a server that only offers this and fails gets them by the address.
 */
async function pushed(
  endpoint: string,
  server: oauth.AuthorizationServer,
  client: OAuthClient,
  { fetch, dpop, steps, signal }: LoginParts,
  parameters: Readonly<Record<string, string>>,
): Promise<URL> {
  const { pushed_authorization_request_endpoint: at, require_pushed_authorization_requests: isRequired } = server;
  const me = { client_id: client.clientId };
  if (at === undefined) {
    if (isRequired !== true) return withParameters(endpoint, { ...me, ...parameters });
    throw steps.failure(
      `${server.issuer} requires pushed requests and has no usable endpoint for them`,
      "Correct its metadata.",
    );
  }
  const authentication = clientAuthentication(client, server);
  const options = { ...requestOptions(fetch), ...(dpop === undefined ? {} : { DPoP: dpop.handle(me) }) };
  try {
    const { request_uri: reference } = await againWithNonce(dpop, async () => {
      const response = await oauth.pushedAuthorizationRequest(server, me, authentication, { ...parameters }, options);
      return oauth.processPushedAuthorizationResponse(server, me, await created(response));
    });
    return withParameters(endpoint, { ...me, request_uri: reference });
  } catch (error) {
    if (McpError.is(error) || signal.aborted) throw error;
    const failure = tokenFailure(withoutSecrets(error, secretsOf(client)));
    steps.note("pushed authorization request", failure?.text ?? peerText(saidBy(error)), at);
    if (isRequired !== true && mayPass(error)) return withParameters(endpoint, { ...me, ...parameters });
    throw steps.failure(
      `${server.issuer} refused the pushed authorization request`,
      "Look at what the authorization server says.",
    );
  }
}

/** RFC 9126, 2.2, demands 201; some providers answer 200, and some leave out the lifetime, which is not used. */
async function created(response: Response): Promise<Response> {
  if (response.status !== 200 && response.status !== 201) return response;
  const { headers } = response;
  const text = await response.text();
  try {
    return new Response(JSON.stringify({ expires_in: 60, ...JSON.parse(text) }), { status: 201, headers });
  } catch {
    return new Response(text, { status: 201, headers });
  }
}

function withParameters(endpoint: string, parameters: Readonly<Record<string, string>>): URL {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

function checkedCode(
  server: oauth.AuthorizationServer,
  client: OAuthClient,
  answer: URLSearchParams,
  state: string,
  steps: Steps,
): string {
  try {
    // An empty issuer is not a missing one.
    if (answer.has("iss") && answer.get("iss") === "") throw new Error("the issuer in the answer is empty");
    const valid = oauth.validateAuthResponse(server, { client_id: client.clientId }, answer, state);
    const code = valid.get("code");
    if (code !== null && code !== "") return code;
    steps.note("authorization", "the answer has no code");
  } catch (error) {
    steps.note("authorization", refusalOf(error));
    throw steps.failure("the login did not succeed", fixOf(error));
  }
  throw steps.failure("the login did not succeed", "Log in again.");
}

/** An error of the server is repeated only after its issuer was found to be the right one. */
function refusalOf(error: unknown): string {
  if (!(error instanceof oauth.AuthorizationResponseError)) return saidBy(error);
  const { error: code, error_description: description } = error;
  return peerText(`refused with ${code}${description === undefined ? "" : `: ${description}`}`);
}

function fixOf(error: unknown): string {
  return error instanceof oauth.AuthorizationResponseError
    ? "Log in again, and grant what is asked for."
    : "Log in again; if it repeats, the answer comes from another authorization server than the one that was asked.";
}
