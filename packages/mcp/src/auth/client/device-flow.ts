import * as oauth from "oauth4webapi";
import type { Discovered } from "../discovery/discover.js";
import type { LoggedIn, LoginParts } from "./code-flow.js";
import { DEVICE_GRANT } from "./identity.js";
import type { Login } from "./login.js";
import { clientAuthentication } from "./oauth-client.js";
import { requestOptions, requestToken } from "./token-request.js";

type DeviceLogin = Extract<Login, { kind: "device" }>;

const DEFAULT_INTERVAL_S = 5;
const SLOW_DOWN_S = 5;

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
  const client = await identities.find({ server, redirectUri: undefined, applicationType: "native", scopes }, steps);
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
  await login.show({
    url: device.verification_uri,
    code: device.user_code,
    completeUrl: device.verification_uri_complete,
    expiresInSeconds: device.expires_in,
  });
  let interval = device.interval ?? DEFAULT_INTERVAL_S;
  const end = platform.now() + device.expires_in * 1_000;
  while (platform.now() < end) {
    await pause(interval * 1_000, parts);
    signal.throwIfAborted();
    try {
      const granted = await requestToken({ ...parts, server, client }, DEVICE_GRANT, {
        device_code: device.device_code,
        resource,
      });
      return { client, granted };
    } catch (error) {
      const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
      if (code === "slow_down") interval += SLOW_DOWN_S;
      else if (code !== "authorization_pending") throw error;
    }
  }
  throw steps.failure("the code was not used in time", "Log in again.");
}

function pause(ms: number, { platform, signal }: LoginParts): Promise<void> {
  return new Promise((resolve) => {
    const timer = platform.timer(ms, resolve, true);
    signal.addEventListener("abort", () => {
      timer.cancel();
      resolve();
    });
  });
}
