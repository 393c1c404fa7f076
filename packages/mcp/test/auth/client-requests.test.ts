import type { ServerResponse } from "node:http";
import { memoryTokenStore } from "@parley/mcp/auth";
import { nodeSender } from "@parley/mcp/node";
import { fakeClock } from "@parley/mcp/testing";
import { describe, expect, it } from "vitest";
import { attempt, ClientTarget, expectRefusal, open } from "./client-target.js";
import type { IssuerBehaviour } from "./test-issuer.js";

describe("AUTHC-02, AUTHC-03: where a token goes", () => {
  it.each(["2025-03-26", "2025-06-18", "2025-11-25"] as const)(
    "with every GET, POST and DELETE of a session, %s",
    async (revision) => {
      const target = await ClientTarget.start();
      const { client } = await open(target, { connect: { revisions: [revision] } });
      await client.call("who");
      await client.close();
      const sent = target.requests.filter(({ path }) => path === "/mcp");
      const without = sent.filter(({ headers }) => headers.authorization === undefined);
      // The first one met the challenge.
      expect(without.map(({ method }) => method)).toEqual(["POST"]);
      expect(new Set(sent.map(({ method }) => method))).toEqual(new Set(["GET", "POST", "DELETE"]));
      expect(JSON.stringify(target.requests.map(({ path }) => path))).not.toMatch(/token/);
    },
  );

  it.each([301, 302, 303, 307, 308])("not to where the server redirects by %i", async (status) => {
    const elsewhere = await ClientTarget.start();
    const target = await ClientTarget.start();
    const { client } = await open(target);
    target.behaviour.intercept = ({ url = "" }, response) => {
      if (url !== "/mcp") return false;
      response.writeHead(status, { location: elsewhere.url }).end();
      return true;
    };
    await expect(client.call("who")).rejects.toThrow();
    expect(elsewhere.requests).toEqual([]);
  });

  it("not to the authorization server, and no cookie or token with the requests for metadata", async () => {
    const target = await ClientTarget.start();
    await attempt(target, { connect: { headers: { Cookie: "canary=1", "X-Key": "canary" } } });
    const metadata = target.requests.filter(({ path }) => path.startsWith("/.well-known/"));
    const seen = [...target.issuer.requests, ...metadata].map(({ headers }) => headers);
    expect(JSON.stringify(seen)).not.toMatch(/canary|cookie/);
  });

  it("not beside a header of the program with the same name", async () => {
    const target = await ClientTarget.start();
    const { error } = await attempt(target, { connect: { headers: { Authorization: "Bearer mine" } } });
    expect(error).toBeUndefined();
    const sent = new Set(target.requests.map(({ headers }) => headers.authorization));
    expect(sent.has("Bearer mine")).toBe(false);
  });
});

describe("SEC-04: a name that resolves to an address inside", () => {
  it.each([
    "169.254.169.254",
    "10.0.0.1",
    "192.168.1.1",
    "0.0.0.0",
    "::ffff:10.0.0.1",
    "fd00::1",
    "fe80::1",
    "64:ff9b::a00:1",
    "not an address",
  ])("%s is not contacted", async (address) => {
    const target = await ClientTarget.start({ metadata: { authorization_servers: ["https://as.example"] } });
    const real = nodeSender();
    let connections = 0;
    const result = await attempt(target, {
      sender(request, onResponse, onError) {
        if (new URL(request.url).hostname !== "as.example") return real(request, onResponse, onError);
        // What the sender of Node does with the addresses that the resolver gives.
        if (request.admits?.(address) === false) queueMicrotask(() => onError(new Error("must not be contacted")));
        else connections++;
        return () => {};
      },
    });
    expectRefusal(result, "must not be contacted");
    expect(connections).toBe(0);
  });

  it("is found out by the sender, before anything is sent", async () => {
    const target = await ClientTarget.start();
    const asked: string[] = [];
    const url = target.url.replace("127.0.0.1", "localhost");
    const error = await new Promise((resolve) => {
      const admits = (address: string) => asked.push(address) < 0;
      nodeSender()({ method: "GET", url, headers: [], admits }, resolve, resolve);
    });
    expect(error).toMatchObject({ code: "ERR_ADDRESS_REFUSED" });
    expect(asked.length).toBeGreaterThan(0);
    expect(target.requests).toEqual([]);
  });
});

describe("logout", () => {
  it("revokes the refresh token as the client that holds it, and forgets it", async () => {
    const target = await ClientTarget.start({}, { rotates: true });
    const store = memoryTokenStore();
    const client = { clientId: "mine", clientSecret: "secret-of-mine", authMethod: "client_secret_post" as const };
    const opened = await open(target, { oauth: { store, client } });
    const key = `tokens ${target.issuer.issuer} ${target.url}`;
    const { refreshToken } = JSON.parse(String(await store.get(key)));
    await opened.auth.logout(new URL(target.url));
    const [revoked] = target.issuer.to("/revoke");
    expect(Object.fromEntries(revoked?.form ?? [])).toEqual({
      token: refreshToken,
      client_id: "mine",
      client_secret: "secret-of-mine",
    });
    expect(await store.get(key)).toBeUndefined();
    expect(await opened.client.call("who")).toBe("ada");
    expect(opened.visits).toHaveLength(2);
  });

  it("is not undone by a token that was being renewed: that is revoked too", async () => {
    const held: ServerResponse[] = [];
    let isHeld = false;
    const intercept: IssuerBehaviour["intercept"] = ({ form }, response) =>
      isHeld && form.get("grant_type") === "refresh_token" && held.push(response) > 0;
    const target = await ClientTarget.start({}, { rotates: true, expiresIn: 5, intercept });
    const store = memoryTokenStore();
    // No time passes for the client, however slow the machine is.
    const { monotonic, timer } = fakeClock().platform;
    const { auth, client } = await open(target, { oauth: { store }, connect: { platform: { monotonic, timer } } });
    isHeld = true;
    const call = client.call("who");
    await expect.poll(() => held.length).toBe(1);
    await Promise.allSettled([client.close(), call]);
    await auth.logout(target.url);
    const late = { access_token: "late", token_type: "Bearer", expires_in: 5, refresh_token: "late too" };
    held[0]?.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(late));
    await expect.poll(() => target.issuer.to("/revoke").map(({ form }) => form.get("token"))).toContain("late too");
    expect(await store.get(`tokens ${target.issuer.issuer} ${target.url}`)).toBeUndefined();
  });

  it("forgets what a store holds, without a connection", async () => {
    const target = await ClientTarget.start();
    const store = memoryTokenStore();
    await attempt(target, { oauth: { store } });
    const { oauth } = await import("@parley/mcp/auth");
    await oauth({ store }).logout(target.url);
    expect((await attempt(target, { oauth: { store } })).visits).toHaveLength(1);
  });

  it("forgets the token also when the revocation fails or is somewhere else", async () => {
    for (const endpoint of ["http://169.254.169.254/revoke", undefined, null]) {
      const target = await ClientTarget.start({}, { metadata: { revocation_endpoint: endpoint } });
      const { auth, client, origins, visits } = await open(target);
      await auth.logout(target.url);
      await client.call("who");
      expect(visits).toHaveLength(2);
      expect([...origins].filter((origin) => origin.includes("169.254"))).toEqual([]);
    }
  });
});
