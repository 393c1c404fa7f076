import * as oauth from "oauth4webapi";
import { isWebAddress } from "../../encoding/web-address.js";
import type { Discovered } from "../discovery/discover.js";
import { hookResult } from "../discovery/hook-result.js";
import type { Steps } from "../discovery/steps.js";
import type { LoggedIn, LoginParts } from "./code-flow.js";
import { DEVICE_GRANT } from "./identity.js";
import type { Login } from "./login.js";
import { clientAuthentication } from "./oauth-client.js";
import { tokenFailure } from "./token-failure.js";
import { requestOptions, requestToken } from "./token-request.js";

type DeviceLogin = Extract<Login, { kind: "device" }>;

const DEFAULT_INTERVAL_S = 5;
const SLOW_DOWN_S = 5;
/** What a server may ask for, so that none is asked without a pause, nor never. */
const MIN_INTERVAL_S = 1;
const MAX_INTERVAL_S = 60;
const MAX_LIFETIME_S = 3_600;

/** Lets the user log in on another device (RFC 8628), and polls until the code is used, refused or expired. */
export async function loginByDevice(
  login: DeviceLogin,
  { server, resource }: Discovered,
  scopes: readonly string[],
  parts: LoginParts,
): Promise<LoggedIn> {
  const { identities, steps, fetch, platform, signal } = parts;
  if (server.device_authorization_endpoint === undefined) {
    throw steps.failure(
      `${server.issuer} does not offer the device flow`,
      "Log in by a redirect, or pass a `client` and a `grant`.",
    );
  }
  const need = { server, redirectUri: undefined, applicationType: "native", scopes } as const;
  const client = await identities.find(need, steps, fetch);
  const me: oauth.Client = { client_id: client.clientId };
  const wanted = { resource, ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }) };
  const response = await oauth.deviceAuthorizationRequest(
    server,
    me,
    clientAuthentication(client, server),
    wanted,
    requestOptions(fetch),
  );
  const device = await oauth.processDeviceAuthorizationResponse(server, me, response);
  checkPages(device, server, steps);
  const prompt = {
    url: device.verification_uri,
    code: device.user_code,
    completeUrl: device.verification_uri_complete,
    expiresInSeconds: device.expires_in,
  };
  await hookResult("show", () => login.show(prompt));
  let interval = Math.min(Math.max(device.interval ?? DEFAULT_INTERVAL_S, MIN_INTERVAL_S), MAX_INTERVAL_S);
  const end = platform.monotonic() + Math.min(device.expires_in, MAX_LIFETIME_S) * 1_000;
  while (platform.monotonic() < end) {
    await pause(interval * 1_000, parts);
    signal.throwIfAborted();
    try {
      const granted = await requestToken({ ...parts, server, client }, DEVICE_GRANT, {
        device_code: device.device_code,
        resource,
      });
      return { client, granted };
    } catch (error) {
      const failure = tokenFailure(error);
      if (failure?.code === "slow_down") interval = Math.min(interval + SLOW_DOWN_S, MAX_INTERVAL_S);
      else if (failure?.code !== "authorization_pending") throw error;
    }
  }
  throw steps.failure("the code was not used in time", "Log in again.");
}

/** The user is shown these pages, and may open them. */
function checkPages(device: oauth.DeviceAuthorizationResponse, server: oauth.AuthorizationServer, steps: Steps): void {
  for (const page of [device.verification_uri, device.verification_uri_complete]) {
    if (page === undefined || isWebAddress(page)) continue;
    steps.note("device authorization", "the page must not be opened", page);
    throw steps.failure(
      `${server.issuer} names a page that no user may be sent to`,
      "Let the authorization server name an https address.",
    );
  }
}

function pause(ms: number, { platform, signal }: LoginParts): Promise<void> {
  return new Promise((resolve) => {
    const timer = platform.timer(ms, resolve, true);
    const end = () => {
      timer.cancel();
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
  });
}
