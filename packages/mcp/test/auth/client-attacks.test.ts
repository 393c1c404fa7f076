import { deviceLogin } from "@parley/mcp/auth";
import { describe, expect, it } from "vitest";
import { HOSTILE_URLS, SOME_HOSTILE_URLS } from "./client-attacks/hostile-urls.js";
import { attempt, ClientTarget, expectNothingElsewhere, expectRefusal } from "./client-target.js";

const shown = (url: string) => JSON.stringify(url).slice(0, 60);

describe("P7, P9, SEC-03, SEC-05: an address that no client may use", () => {
  it.each(HOSTILE_URLS.map(({ url, reason }) => [shown(url), url, reason] as const))(
    "as authorization_endpoint: %s",
    async (_name, url, reason) => {
      const target = await ClientTarget.start({}, { metadata: { authorization_endpoint: url } });
      const result = await attempt(target);
      expectRefusal(result, `has no usable authorization endpoint. Tried: `);
      expectRefusal(result, `${reason} and is not used`);
      expect(result.visits).toEqual([]);
      expect(target.issuer.to("/register")).toEqual([]);
      expect(target.issuer.to("/token")).toEqual([]);
      expectNothingElsewhere(target, result);
    },
  );

  it.each(HOSTILE_URLS.map(({ url, reason }) => [shown(url), url, reason] as const))(
    "as authorization server: %s",
    async (_name, url, reason) => {
      const target = await ClientTarget.start({ metadata: { authorization_servers: [url] } });
      const result = await attempt(target);
      expectRefusal(result, `must not be contacted: its address ${reason}`);
      expect(target.issuer.requests).toEqual([]);
      expectNothingElsewhere(target, result);
    },
  );

  it.each(SOME_HOSTILE_URLS.map(({ url, reason }) => [shown(url), url, reason] as const))(
    "as token_endpoint, before a user is asked: %s",
    async (_name, url, reason) => {
      const target = await ClientTarget.start({}, { metadata: { token_endpoint: url } });
      const result = await attempt(target);
      expectRefusal(result, "has no usable token endpoint");
      expectRefusal(result, `${reason} and is not used`);
      expect(result.visits).toEqual([]);
      expectNothingElsewhere(target, result);
    },
  );

  it.each(SOME_HOSTILE_URLS.map(({ url, reason }) => [shown(url), url, reason] as const))(
    "as registration_endpoint: %s",
    async (_name, url, reason) => {
      const target = await ClientTarget.start({}, { metadata: { registration_endpoint: url } });
      const result = await attempt(target);
      expectRefusal(result, "no client is available for");
      expectRefusal(result, `${reason} and is not used`);
      expectNothingElsewhere(target, result);
    },
  );

  it.each(SOME_HOSTILE_URLS.map(({ url, reason }) => [shown(url), url, reason] as const))(
    "as device_authorization_endpoint: %s",
    async (_name, url, reason) => {
      const target = await ClientTarget.start({}, { metadata: { device_authorization_endpoint: url } });
      const result = await attempt(target, { oauth: { login: deviceLogin(() => {}) } });
      expectRefusal(result, "does not offer the device flow");
      expectRefusal(result, `${reason} and is not used`);
      expectNothingElsewhere(target, result);
    },
  );

  it.each(
    SOME_HOSTILE_URLS.filter(({ url }) => !/[^\x20-\x7e]/.test(url)).map(({ url }) => [shown(url), url] as const),
  )("as resource_metadata of the challenge, which is left for the well-known address: %s", async (_name, url) => {
    const target = await ClientTarget.start({ challenge: `Bearer resource_metadata="${url}"` });
    const result = await attempt(target);
    expect(result.error).toBeUndefined();
    expect(target.requests.some(({ path }) => path === "/.well-known/oauth-protected-resource/mcp")).toBe(true);
    expectNothingElsewhere(target, result);
  });
});
