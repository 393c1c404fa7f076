import { memoryTokenStore, type TokenStore } from "@parley/mcp/auth";
import { describe, expect, it } from "vitest";
import { attempt, ClientTarget, expectRefusal, open, type TargetBehaviour } from "./client-target.js";
import type { IssuerBehaviour } from "./test-issuer.js";

const refreshes = ({ issuer }: ClientTarget) =>
  issuer.to("/token").filter(({ form }) => form.get("grant_type") === "refresh_token");

/** A server that takes no token that was ended, and an issuer whose refresh tokens work once. */
async function withRotation(behaviour: TargetBehaviour = {}, issued: IssuerBehaviour = {}) {
  const ended = new Set<string | undefined>([undefined]);
  const target = await ClientTarget.start(
    { admit: (authorization) => (ended.has(authorization) ? 401 : 200), ...behaviour },
    { rotates: true, ...issued },
  );
  const store = memoryTokenStore();
  const record = async () => JSON.parse(String(await store.get(`tokens ${target.issuer.issuer} ${target.url}`)));
  const endToken = async () => ended.add(`Bearer ${(await record()).accessToken}`);
  return { target, store, record, endToken };
}

describe("a token that ends", () => {
  it.each(["2026-07-28", "2025-11-25"] as const)(
    "P6, AUTHC-04: is renewed once for twenty requests, %s",
    async (revision) => {
      const { target, store, endToken } = await withRotation();
      const { client, visits } = await open(target, { oauth: { store }, connect: { revisions: [revision] } });
      for (let round = 1; round <= 3; round++) {
        await endToken();
        const results = await Promise.all(Array.from({ length: 20 }, () => client.call("who")));
        expect(results).toEqual(Array(20).fill("ada"));
        expect(refreshes(target)).toHaveLength(round);
      }
      expect(target.issuer.replays).toBe(0);
      expect(visits).toHaveLength(1);
      expect(refreshes(target).every(({ form }) => form.get("resource") === target.url)).toBe(true);
    },
  );

  it.each(["2026-07-28", "2025-11-25"] as const)(
    "AUTHC-04: is renewed by its refresh token, and the refused request is sent once more, %s",
    async (revision) => {
      const { target, store, endToken, record } = await withRotation();
      const { client, visits } = await open(target, { oauth: { store }, connect: { revisions: [revision] } });
      const before = target.requests.length;
      const old = await record();
      await endToken();
      expect(await client.call("who")).toBe("ada");
      const sent = target.requests.slice(before).filter(({ method }) => method === "POST");
      const tokens = [old, await record()].map(({ accessToken }) => `Bearer ${accessToken}`);
      expect(sent.map(({ headers }) => headers.authorization)).toEqual(tokens);
      expect(refreshes(target).map(({ form }) => form.get("refresh_token"))).toEqual([old.refreshToken]);
      expect(visits).toHaveLength(1);
    },
  );

  it("is renewed by one of two clients that share a store, and the other takes what it finds", async () => {
    const { target, store, endToken } = await withRotation();
    const [a, b] = [await open(target, { oauth: { store } }), await open(target, { oauth: { store } })];
    expect(b.visits).toEqual([]);
    await endToken();
    await a.client.call("who");
    await b.client.call("who");
    expect(refreshes(target)).toHaveLength(1);
    expect(target.issuer.replays).toBe(0);
  });

  it("that another client renewed and let end again is renewed by the refresh token of the store", async () => {
    const { target, store, endToken } = await withRotation();
    const [a, b] = [await open(target, { oauth: { store } }), await open(target, { oauth: { store } })];
    await endToken();
    await a.client.call("who");
    await endToken();
    const [text, key] = [JSON.parse(String(await store.get(`tokens ${target.issuer.issuer} ${target.url}`))), ""];
    await store.set(`tokens ${target.issuer.issuer} ${target.url}${key}`, JSON.stringify({ ...text, expiresAt: 1 }));
    await b.client.call("who");
    expect(target.issuer.replays).toBe(0);
    expect(b.visits).toEqual([]);
  });

  it("is renewed half a minute before its end, without a refused request", async () => {
    const { target, store } = await withRotation({}, { expiresIn: 20 });
    const { client } = await open(target, { oauth: { store } });
    const before = target.requests.length;
    await client.call("who");
    expect(refreshes(target).length).toBeGreaterThan(0);
    const sent = target.requests.slice(before).filter(({ method }) => method === "POST");
    expect(sent).toHaveLength(1);
  });

  it.each<[string, number, string, boolean]>([
    ["HTTP 500", 500, "{}", false],
    ["HTTP 502 with a page", 502, "<html>", false],
    ["HTTP 429", 429, '{"error":"slow_down"}', false],
    ["temporarily_unavailable", 400, '{"error":"temporarily_unavailable"}', false],
    ["invalid_request", 400, '{"error":"invalid_request"}', false],
    ["HTTP 200 without a token", 200, "{}", false],
    ["HTTP 500 that says invalid_grant", 500, '{"error":"invalid_grant"}', false],
    ["invalid_grant", 400, '{"error":"invalid_grant"}', true],
    ["invalid_client", 401, '{"error":"invalid_client"}', true],
    ["unauthorized_client", 400, '{"error":"unauthorized_client"}', true],
  ])("AUTHC-27: answered to a refresh, %s (%i)", async (_name, status, body, isEnd) => {
    const { target, store, record, endToken } = await withRotation();
    const { client, visits } = await open(target, { oauth: { store } });
    const { refreshToken } = await record();
    await endToken();
    target.issuer.behaviour.intercept = ({ path, form }, response) => {
      if (path !== "/token" || form.get("grant_type") !== "refresh_token") return false;
      response.writeHead(status, { "content-type": "application/json" }).end(body);
      return true;
    };
    const result = await client.call("who").catch((error: unknown) => error);
    if (isEnd) {
      // The user logs in again, and nothing of the old login is left.
      expect(result).toBe("ada");
      expect(visits).toHaveLength(2);
      expect((await record()).refreshToken).not.toBe(refreshToken);
      return;
    }
    expectRefusal({ error: result, visits, origins: new Set() }, "the token could not be renewed");
    expect(visits).toHaveLength(1);
    expect((await record()).refreshToken).toBe(refreshToken);
    // When the server is well again, so is the login.
    delete target.issuer.behaviour.intercept;
    expect(await client.call("who")).toBe("ada");
    expect(visits).toHaveLength(1);
    expect(target.issuer.replays).toBe(0);
  });

  it("AUTHC-27: a network that fails costs no token", async () => {
    const { target, store, record, endToken } = await withRotation();
    const { client, visits } = await open(target, { oauth: { store } });
    const { refreshToken } = await record();
    await endToken();
    target.issuer.behaviour.intercept = ({ path }, response) => {
      if (path !== "/token") return false;
      response.destroy();
      return true;
    };
    const error = await client.call("who").catch((reason: unknown) => reason);
    expectRefusal({ error, visits, origins: new Set() }, "the token could not be renewed");
    expect((await record()).refreshToken).toBe(refreshToken);
    delete target.issuer.behaviour.intercept;
    expect(await client.call("who")).toBe("ada");
  });

  it("AUTHC-27: the old refresh token stays when an answer brings no new one", async () => {
    const { target, store, record, endToken } = await withRotation();
    const { client } = await open(target, { oauth: { store } });
    const { refreshToken } = await record();
    await endToken();
    target.issuer.behaviour.intercept = ({ path }, response) => {
      if (path !== "/token") return false;
      const body = { access_token: "second", token_type: "Bearer" };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      return true;
    };
    expect(await client.call("who")).toBe("ada");
    expect(await record()).toMatchObject({ accessToken: "second", refreshToken });
  });
});

describe("a token that is refused", () => {
  it("AUTHC-04: when it is new, ends the attempt after one login", async () => {
    const target = await ClientTarget.start({ admit: () => 401 });
    const { error, visits } = await attempt(target);
    expect(error).toMatchObject({ kind: "auth_required" });
    expect(visits).toHaveLength(1);
    expect(target.issuer.to("/token")).toHaveLength(1);
  });

  it("AUTHC-04: after a refresh, ends the attempt as well", async () => {
    const target = await ClientTarget.start({}, { rotates: true });
    const { client, visits } = await open(target);
    target.behaviour.admit = () => 401;
    await expect(client.call("who")).rejects.toMatchObject({ kind: "auth_required" });
    expect(refreshes(target).length).toBeLessThanOrEqual(2);
    expect(visits.length).toBeLessThanOrEqual(2);
  });

  it.each([
    ["always the same scope", () => "more", 2],
    ["another scope each time", (count: number) => `more-${count}`, 3],
  ])("AUTHC-26: for %s, is replaced a bounded number of times", async (_name, scope, attempts) => {
    let count = 0;
    const target = await ClientTarget.start({
      admit: (authorization) => (authorization === undefined ? 401 : 403),
      challenge: ({ headers }) =>
        headers.authorization === undefined ? "Bearer" : `Bearer error="insufficient_scope", scope="${scope(count++)}"`,
    });
    const { error, visits } = await attempt(target);
    expect(error).toMatchObject({ kind: "insufficient_scope" });
    const posts = target.requests.filter(({ headers }) => headers.authorization !== undefined);
    expect(posts).toHaveLength(attempts);
    expect(visits).toHaveLength(attempts);
  });

  it.each([
    ["without a challenge", undefined],
    ["without an error", 'Bearer scope="a"'],
    ["for another reason", 'Bearer error="invalid_token", scope="a"'],
    ["by another scheme", 'Basic error="insufficient_scope", scope="a"'],
    ["in a header of 20 KB", `Bearer error="insufficient_scope", scope="a ${"x".repeat(20_000)}"`],
  ])("AUTHC-25: with 403 %s, is not replaced", async (_name, challenge) => {
    const target = await ClientTarget.start();
    const { client, visits } = await open(target);
    target.behaviour.admit = () => 403;
    target.behaviour.challenge = () => challenge;
    await expect(client.call("who")).rejects.toThrow();
    expect(visits).toHaveLength(1);
  });
});

describe("the end of a session whose token is refused", () => {
  it("asks nobody to log in", async () => {
    let refuses = false;
    const admit = (authorization: string | undefined) => (refuses || authorization === undefined ? 401 : 200);
    const target = await ClientTarget.start({ admit });
    const { client, visits } = await open(target, { connect: { revisions: ["2025-11-25"] } });
    refuses = true;
    await client.close();
    expect(target.requests.filter(({ method }) => method === "DELETE")).toHaveLength(1);
    expect(visits).toHaveLength(1);
    expect(target.issuer.to("/register")).toHaveLength(1);
  });
});

describe("a store that fails", () => {
  const failing = (store: TokenStore, at: "get" | "set", when: () => boolean): TokenStore => ({
    get: (key) => (at === "get" && when() ? Promise.reject(new Error("the keychain is locked")) : store.get(key)),
    set: (key, value) =>
      at === "set" && when() && key.startsWith("tokens")
        ? Promise.reject(new Error("the keychain is locked"))
        : store.set(key, value),
    delete: (key) => store.delete(key),
  });

  it("is reported when it is read, and works the next time", async () => {
    const target = await ClientTarget.start();
    let isLocked = true;
    const store = failing(memoryTokenStore(), "get", () => isLocked);
    const first = await attempt(target, { oauth: { store } });
    expect(String(first.error)).toMatch("the keychain is locked");
    expect(first.visits).toEqual([]);
    isLocked = false;
    expect((await attempt(target, { oauth: { store } })).error).toBeUndefined();
  });

  it("is reported when it is written, and the new refresh token is not lost", async () => {
    const { target, store: inner, endToken } = await withRotation();
    let isLocked = false;
    const store = failing(inner, "set", () => isLocked);
    const { client, visits } = await open(target, { oauth: { store } });
    await endToken();
    isLocked = true;
    await expect(client.call("who")).rejects.toThrow("the keychain is locked");
    isLocked = false;
    expect(await client.call("who")).toBe("ada");
    expect(target.issuer.replays).toBe(0);
    expect(visits).toHaveLength(1);
  });

  it.each([
    ["no JSON", "{"],
    ["another shape", '{"accessToken":1}'],
    ["a list", "[]"],
    ["null", "null"],
    ["an expiry of null", "expiry"],
  ])("or holds %s, is as good as empty", async (_name, text) => {
    const target = await ClientTarget.start();
    const store = memoryTokenStore();
    expect((await attempt(target, { oauth: { store } })).visits).toHaveLength(1);
    const key = `tokens ${target.issuer.issuer} ${target.url}`;
    const good = JSON.parse(String(await store.get(key)));
    await store.set(key, text === "expiry" ? JSON.stringify({ ...good, expiresAt: null }) : text);
    const { error, visits } = await attempt(target, { oauth: { store } });
    expect(error).toBeUndefined();
    expect(visits).toHaveLength(1);
  });
});
