import * as oauth from "oauth4webapi";
import { onAbort } from "../../platform/on-abort.js";
import { McpError } from "../../protocol/error.js";
import type { DiscoveryResult } from "../discovery/discover.js";
import { errorMessage, hookResult, type Steps } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import type { Identities, IdentitySearch } from "./identity.js";
import type { Login } from "./login.js";
import { clientAuthentication, type OAuthClient, secretsOf } from "./oauth-client.js";
import {
  type GrantedToken,
  isRetryableFailure,
  peerText,
  requestOptions,
  requestToken,
  retryWithNonce,
  type TokenRequestContext,
  tokenFailure,
  withoutSecrets,
} from "./token-request.js";

/** Everything that a user's login needs. */
export interface LoginContext extends Omit<TokenRequestContext, "server" | "client">, IdentitySearch {
  readonly identities: Identities;
  /** Aborted when no request waits for the login any more. */
  readonly signal: AbortSignal;
  /**
   * Sends requests that spend a code. It is aborted a little later than `signal`, because a cancelled request may
   * already have spent the code, and the token in its response would not be read.
   */
  readonly spend: BoundedFetch;
}

/** A token and the client that it was issued to. */
export interface IssuedToken {
  readonly client: OAuthClient;
  readonly granted: GrantedToken;
}

type RedirectLogin = Extract<Login, { kind: "redirect" }>;

/**
 * Logs the user in by a redirect, using an authorization code with PKCE. Compares the issuer in the response with that
 * of `server`, character for character, before it reads the code or an error.
 *
 * Spec: Authorization, "Authorization Code Protection" and "Mix-Up Attack Protection",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export async function loginByCode(
  login: RedirectLogin,
  { server, resource }: DiscoveryResult,
  scopes: readonly string[],
  context: LoginContext,
): Promise<IssuedToken> {
  const { identities, steps, signal } = context;
  requirePkce(server, steps);
  const endpoint = authorizationEndpoint(server, steps);
  const attempt = await hookResult("begin", () => login.begin(signal));
  try {
    const { redirectUri } = attempt;
    const need = { server, redirectUri, applicationType: login.applicationType, scopes };
    const client = await identities.find(need, context);
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = await authorizationUrl(endpoint, server, client, context, {
      response_type: "code",
      redirect_uri: redirectUri,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      resource,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      // OpenID Connect providers may ignore `offline_access` unless the request demands the user's consent.
      ...(scopes.includes("offline_access") ? { prompt: "consent" } : {}),
    });
    signal.throwIfAborted();
    const visit = () => hookResult("visit", () => attempt.visit(url, state));
    const answer = await context.whileAsking(() => withTimeout(login.timeoutMs ?? MAX_LOGIN_MS, visit, context));
    const code = checkedCode(server, client, answer, state, steps);
    const granted = await requestToken({ ...context, fetch: context.spend, server, client }, "authorization_code", {
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

/** Time limit for a login that sets no limit of its own. */
const MAX_LOGIN_MS = 3_600_000;

/**
 * Settles like `work`, but rejects when the time limit passes or the login is aborted, because `work` may ignore the
 * abort.
 */
function withTimeout<T>(ms: number, work: () => Promise<T>, { platform, steps, signal }: LoginContext): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(steps.failure(`the user did not log in within ${ms / 1_000} s`, "Log in again, or raise `timeoutMs`."));
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
    `${server.issuer} does not support PKCE with S256, so a login would not be safe`,
    "Configure the authorization server to list S256 in `code_challenge_methods_supported`.",
  );
}

function authorizationEndpoint(
  { issuer, authorization_endpoint: endpoint }: oauth.AuthorizationServer,
  steps: Steps,
): string {
  // An endpoint whose address is not allowed is undefined here, because discovery has removed it.
  if (endpoint !== undefined) return endpoint;
  throw steps.failure(`${issuer} has no usable authorization endpoint`, "Correct its metadata.");
}

/**
 * Returns the address of the login page. If the authorization server supports pushed requests (RFC 9126), posts the
 * parameters to it and puts only a reference into the address. If that fails temporarily and pushed requests are
 * optional, puts the parameters into the address.
 */
async function authorizationUrl(
  endpoint: string,
  server: oauth.AuthorizationServer,
  client: OAuthClient,
  { fetch, dpop, steps, signal }: LoginContext,
  parameters: Readonly<Record<string, string>>,
): Promise<URL> {
  const { pushed_authorization_request_endpoint: pushEndpoint, require_pushed_authorization_requests: isRequired } =
    server;
  const me = { client_id: client.clientId };
  if (pushEndpoint === undefined) {
    if (isRequired !== true) return withParameters(endpoint, { ...me, ...parameters });
    throw steps.failure(
      `${server.issuer} requires pushed authorization requests but has no usable endpoint for them`,
      "Correct its metadata.",
    );
  }
  const authentication = clientAuthentication(client, server);
  const options = { ...requestOptions(fetch), ...(dpop === undefined ? {} : { DPoP: dpop.handle(me) }) };
  try {
    const { request_uri: reference } = await retryWithNonce(dpop, async () => {
      const response = await oauth.pushedAuthorizationRequest(server, me, authentication, { ...parameters }, options);
      return oauth.processPushedAuthorizationResponse(server, me, await withStatusCreated(response));
    });
    return withParameters(endpoint, { ...me, request_uri: reference });
  } catch (error) {
    if (McpError.is(error) || signal.aborted) throw error;
    const failure = tokenFailure(withoutSecrets(error, secretsOf(client)));
    steps.note("pushed authorization request", failure?.text ?? peerText(errorMessage(error)), pushEndpoint);
    if (isRequired !== true && isRetryableFailure(error)) return withParameters(endpoint, { ...me, ...parameters });
    throw steps.failure(
      `${server.issuer} refused the pushed authorization request`,
      "Check the error that the authorization server returned.",
    );
  }
}

/**
 * Accepts deviations from RFC 9126, 2.2: some providers answer 200 instead of 201, and some omit the lifetime, which
 * this client does not use.
 */
async function withStatusCreated(response: Response): Promise<Response> {
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
    // `oauth4webapi` treats an empty issuer as missing. Here an empty issuer is a wrong issuer.
    if (answer.has("iss") && answer.get("iss") === "") throw new Error("the issuer in the response is empty");
    const valid = oauth.validateAuthResponse(server, { client_id: client.clientId }, answer, state);
    const code = valid.get("code");
    if (code !== null && code !== "") return code;
    steps.note("authorization", "the response has no code");
  } catch (error) {
    steps.note("authorization", refusalOf(error));
    throw steps.failure("the login failed", fixOf(error));
  }
  throw steps.failure("the login failed", "Log in again.");
}

/**
 * Includes the server's error text. The text comes from the expected issuer, because `oauth4webapi` has already checked
 * the issuer.
 */
function refusalOf(error: unknown): string {
  if (!(error instanceof oauth.AuthorizationResponseError)) return errorMessage(error);
  const { error: code, error_description: description } = error;
  return peerText(`refused with ${code}${description === undefined ? "" : `: ${description}`}`);
}

function fixOf(error: unknown): string {
  return error instanceof oauth.AuthorizationResponseError
    ? "Log in again and allow the requested access."
    : "Log in again. If it fails again, the response comes from another authorization server than the one where the login began.";
}
