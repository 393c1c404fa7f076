import * as oauth from "oauth4webapi";
import { printableLine } from "../../encoding/printable.js";
import { isWebAddress } from "../../encoding/web-address.js";
import { pause } from "../../platform/pause.js";
import { McpError } from "../../protocol/error.js";
import type { DiscoveryResult } from "../discovery/discover.js";
import { errorMessage, hookResult, type Steps } from "../discovery/steps.js";
import type { IssuedToken, LoginContext } from "./code-flow.js";
import { DEVICE_GRANT } from "./identity.js";
import type { Login } from "./login.js";
import { clientAuthentication, type OAuthClient, secretsOf } from "./oauth-client.js";
import {
  type GrantedToken,
  isRetryableFailure,
  requestOptions,
  requestToken,
  tokenFailure,
  withoutSecrets,
} from "./token-request.js";

type DeviceLogin = Extract<Login, { kind: "device" }>;

const DEFAULT_INTERVAL_S = 5;
const SLOW_DOWN_S = 5;
/** Bounds for the polling interval that a server sets. */
const MIN_INTERVAL_S = 1;
const MAX_INTERVAL_S = 60;
const MAX_LIFETIME_S = 3_600;
/** Number of consecutive polls with a temporary failure after which the login fails. */
const MAX_FAILED_POLLS = 5;
/** Longer codes are refused. RFC 8628, 6.1, recommends eight characters, and a user cannot type many more. */
const MAX_CODE_CHARACTERS = 100;

/** Logs the user in on another device (RFC 8628). Polls until the code is used, denied or expired. */
export async function loginByDevice(
  login: DeviceLogin,
  { server, resource }: DiscoveryResult,
  scopes: readonly string[],
  context: LoginContext,
): Promise<IssuedToken> {
  const { identities, steps, signal } = context;
  if (server.device_authorization_endpoint === undefined) {
    throw steps.failure(
      `${server.issuer} does not offer the device flow`,
      "Log in by a redirect, or pass a `client` and a `grant`.",
    );
  }
  const need = { server, redirectUri: undefined, applicationType: "native", scopes } as const;
  const client = await identities.find(need, context);
  const wanted = { resource, ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }) };
  const device = await requestCode(server, client, wanted, context);
  checkPrompt(device, server, steps);
  const prompt = {
    url: device.verification_uri,
    code: device.user_code,
    completeUrl: device.verification_uri_complete,
    expiresInSeconds: device.expires_in,
  };
  signal.throwIfAborted();
  const granted = await context.whileAsking(async () => {
    await hookResult("show", () => login.show(prompt));
    return poll(device, server, client, resource, context);
  });
  return { client, granted };
}

async function requestCode(
  server: oauth.AuthorizationServer,
  client: OAuthClient,
  wanted: Record<string, string>,
  { identities, steps, fetch }: LoginContext,
): Promise<oauth.DeviceAuthorizationResponse> {
  const me: oauth.Client = { client_id: client.clientId };
  const authentication = clientAuthentication(client, server);
  try {
    const options = requestOptions(fetch);
    const response = await oauth.deviceAuthorizationRequest(server, me, authentication, wanted, options);
    return await oauth.processDeviceAuthorizationResponse(server, me, response);
  } catch (error) {
    if (McpError.is(error)) throw error;
    const failure = tokenFailure(withoutSecrets(error, secretsOf(client)));
    if (failure?.code === "invalid_client") await identities.forget(server.issuer);
    steps.note("device authorization", failure?.text ?? errorMessage(error), server.device_authorization_endpoint);
    throw steps.failure(
      `${server.issuer} did not issue a device code`,
      "Check the error that the authorization server returned.",
    );
  }
}

/**
 * Polls the token endpoint until the user has decided. Doubles the interval after a temporary failure (RFC 8628, 3.5).
 */
async function poll(
  device: oauth.DeviceAuthorizationResponse,
  server: oauth.AuthorizationServer,
  client: OAuthClient,
  resource: string,
  context: LoginContext,
): Promise<GrantedToken> {
  const { steps, platform, signal } = context;
  let interval = Math.min(Math.max(device.interval ?? DEFAULT_INTERVAL_S, MIN_INTERVAL_S), MAX_INTERVAL_S);
  let failures = 0;
  const end = platform.monotonic() + Math.min(device.expires_in, MAX_LIFETIME_S) * 1_000;
  for (let now = platform.monotonic(); now < end; now = platform.monotonic()) {
    await pause(platform, Math.min(interval * 1_000, end - now), signal, true);
    signal.throwIfAborted();
    try {
      const asked = { device_code: device.device_code, resource };
      return await requestToken({ ...context, fetch: context.spend, server, client }, DEVICE_GRANT, asked);
    } catch (error) {
      const code = tokenFailure(error)?.code;
      if (code === "slow_down") interval = Math.min(interval + SLOW_DOWN_S, MAX_INTERVAL_S);
      else if (code !== "authorization_pending") {
        if (!isRetryableFailure(error) || ++failures >= MAX_FAILED_POLLS) throw error;
        interval = Math.min(interval * 2, MAX_INTERVAL_S);
        continue;
      }
      failures = 0;
    }
  }
  throw steps.failure("the user did not enter the code in time", "Log in again.");
}

/** Validates the pages and the code, because the user sees them and may open the pages. */
function checkPrompt(device: oauth.DeviceAuthorizationResponse, server: oauth.AuthorizationServer, steps: Steps): void {
  for (const page of [device.verification_uri, device.verification_uri_complete]) {
    if (page === undefined || isWebAddress(page)) continue;
    steps.note("device authorization", "the address of the page is not allowed", page);
    throw steps.failure(
      `${server.issuer} sent a login page with an address that is not allowed`,
      "Configure the authorization server to send an https address.",
    );
  }
  const code = device.user_code;
  if (code.length <= MAX_CODE_CHARACTERS && printableLine(code) === code) return;
  throw steps.failure(
    `${server.issuer} sent a code that cannot be displayed`,
    `Configure the authorization server to send a \`user_code\` of at most ${MAX_CODE_CHARACTERS} printable characters.`,
  );
}
