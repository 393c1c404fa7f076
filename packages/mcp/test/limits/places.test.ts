import { fetchHandler, Server } from "@parley/mcp";
import { type QuotaOptions, quotas } from "@parley/mcp/limits";
import { memoryStorage, type Storage } from "@parley/mcp/storage";
import { afterEach, describe, expect, it } from "vitest";
import { fakeTime } from "../http/fake-time.js";
import { LegacyClient } from "../http/legacy-client.js";
import { waitUntil } from "../http/watched.js";
import { cutStorage } from "../nodes/cut-storage.js";
import { TEST_SECRET } from "../test-secrets.js";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Two nodes of a server on one storage, and clients that choose one of them; `close` ends a node as `kill` would. */
function twoNodes(perPrincipal: QuotaOptions["perPrincipal"], options: QuotaOptions = { on: "storage" }) {
  const time = fakeTime();
  const { platform } = time;
  const shared: Storage = memoryStorage({ clock: platform });
  const handlers = [0, 1].map(() => {
    const storage = cutStorage(shared);
    const server = new Server(
      { name: "s", version: "1" },
      { storage, secret: TEST_SECRET, platform, quotas: quotas({ perPrincipal, ...options }) },
    ).resource("mem://a", {}, () => "a");
    const handler = fetchHandler(server, {
      platform,
      authenticate: (request) => ({ key: request.header("authorization") ?? "" }),
    });
    closers.push(async () => {
      storage.way = "open";
      await handler.close();
      await server.close();
    });
    return { handler, storage };
  });
  const client = (node: number, key = "ada") => {
    const at = { node };
    const fetch = (request: Request) => handlers[at.node]?.handler(request) as Promise<Response>;
    return Object.assign(new LegacyClient("http://localhost/mcp", { fetch, headers: { authorization: key } }), { at });
  };
  const opened = async (node: number, key?: string) => (await client(node, key).open()).status;
  return { time, shared, handlers, client, opened };
}

async function refusalOf(response: Response) {
  const { error, id } = (await response.json()) as { error?: { message: string; data: object }; id?: unknown };
  return { status: response.status, retryAfter: response.headers.get("retry-after"), id, ...error };
}

describe("sessions of one principal on two nodes", () => {
  it("are refused beyond the quota with the time to wait; those of others are not", async () => {
    const { client, opened } = twoNodes({ sessions: 2 });
    expect([await opened(0), await opened(1)]).toEqual([200, 200]);
    expect(await refusalOf(await client(1).open())).toEqual({
      status: 429,
      retryAfter: "10",
      id: "init",
      code: -32603,
      message: "Too many at once: at most 2 sessions for each caller. Wait 10 s, then try again.",
      data: {
        limit: "quotas.perPrincipal.sessions",
        retryAfterMs: 10_000,
        fix: "Close one that is no longer needed, or raise `quotas.perPrincipal.sessions` of the server.",
      },
    });
    expect([await opened(0, "bob"), await opened(1, "eve")]).toEqual([200, 200]);
  });

  it("free their places by `DELETE` on any node", async () => {
    const { client, opened } = twoNodes({ sessions: 1 });
    const first = client(0);
    await first.open();
    expect(await opened(0)).toBe(429);
    first.at.node = 1;
    expect((await first.send("DELETE", {})).status).toBe(204);
    expect([await opened(0), await opened(1)]).toEqual([200, 429]);
  });

  it("keep their places while they are used, and lose them when they expire, although no node has noticed", async () => {
    const { time, handlers, client, opened } = twoNodes({ sessions: 2 });
    const [used, idle] = [client(0), client(0)];
    await used.open();
    await idle.open();
    // The node that opened them sees nothing more.
    await handlers[0]?.handler.close();
    used.at.node = 1;
    for (let minute = 0; minute < 60; minute += 10) {
      expect((await used.post({ jsonrpc: "2.0", id: 1, method: "ping" })).status).toBe(200);
      if (minute < 30) expect(await opened(1)).toBe(429);
      time.advance(10 * 60_000);
    }
    expect([await opened(1), await opened(1)]).toEqual([200, 429]);
  });

  it("are as many as allowed when they are opened at once", async () => {
    const { opened } = twoNodes({ sessions: 5 });
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, index) => opened(index % 2)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(35);
  });

  it("do not keep the place of a handshake that opened none", async () => {
    const { client, opened } = twoNodes({ sessions: 1 });
    const params = { protocolVersion: 7, capabilities: {}, clientInfo: {} };
    for (let count = 0; count < 3; count++) {
      const refused = await client(0).post({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      expect(refused.headers.get("mcp-session-id")).toBeNull();
    }
    await waitUntil(async () => (await opened(1)) === 200);
  });

  it("leave nothing on the storage", async () => {
    const { shared, client } = twoNodes({ sessions: 3, streams: 3 });
    const keys: string[] = [];
    const { set } = shared.kv;
    shared.kv.set = (key, ...rest) => {
      keys.push(key);
      return set.call(shared.kv, key, ...rest);
    };
    const clients = [client(0), client(1), client(1)];
    for (const one of clients) await one.open();
    for (const one of clients) await one.send("DELETE", {});
    const quotaKeys = [...new Set(keys.filter((key) => key.startsWith("quota/")))];
    expect(quotaKeys).toHaveLength(1);
    for (const key of quotaKeys) await waitUntil(() => shared.kv.get(key) === undefined);
  });

  it("are counted on each node by itself where `on` says so, and end there too", async () => {
    const { client, opened } = twoNodes({ sessions: 1 }, {});
    const first = client(0);
    await first.open();
    expect([await opened(0), await opened(1), await opened(1)]).toEqual([429, 200, 429]);
    await first.send("DELETE", {});
    expect(await opened(0)).toBe(200);
  });
});

describe("GET streams of one principal on two nodes", () => {
  it("are refused beyond the quota, also those of other sessions, and free their places when they end", async () => {
    const { client } = twoNodes({ streams: 2 });
    const [one, two, other] = [client(0), client(1), client(1, "bob")];
    for (const each of [one, two, other]) await each.open();
    const first = await one.get();
    const second = await two.get();
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await refusalOf(await two.get())).toMatchObject({
      status: 429,
      retryAfter: "10",
      message: "Too many at once: at most 2 streams for each caller. Wait 10 s, then try again.",
      data: { limit: "quotas.perPrincipal.streams", retryAfterMs: 10_000, fix: expect.stringContaining("Close one") },
    });
    const others = await other.get();
    expect(others.status).toBe(200);
    await first.body?.cancel();
    await waitUntil(async () => {
      const again = await two.get();
      await again.body?.cancel();
      return again.status === 200;
    });
    await second.body?.cancel();
    await others.body?.cancel();
  });

  it("have no place when they were refused for another reason", async () => {
    const { client } = twoNodes({ streams: 1 });
    const one = client(0);
    await one.open();
    for (let count = 0; count < 3; count++) {
      expect((await one.get({ accept: "text/html" })).status).toBe(406);
      expect((await one.get({ "last-event-id": "garbage" })).status).toBe(400);
    }
    await waitUntil(async () => (await one.get()).status === 200);
  });

  it("of a node that died give their places back", async () => {
    const { time, handlers, client } = twoNodes({ streams: 1 });
    const [one, two] = [client(0), client(1)];
    await one.open();
    await two.open();
    expect((await one.get()).status).toBe(200);
    time.advance(60_000);
    expect((await two.get()).status).toBe(429);
    const [dead] = handlers;
    if (dead !== undefined) dead.storage.way = "down";
    time.advance(31_000);
    expect((await two.get()).status).toBe(200);
  });
});

describe("options of the quota of sessions", () => {
  it("are for each caller, and small enough for one value of the storage", () => {
    expect(() => quotas({ perPrincipal: { sessions: 10_001 } })).toThrow("`quotas.perPrincipal.sessions` is 10001");
    expect(() => quotas({ perServer: { sessions: 1 } as never })).toThrow("sessions");
  });
});
