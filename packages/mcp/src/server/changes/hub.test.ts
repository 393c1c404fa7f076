import { describe, expect, it, vi } from "vitest";
import { type Talk, talk, turn } from "../../../test/server/talk.js";
import { delayedStorage } from "../../storage/delayed-storage.js";
import { createMemoryStorage } from "../../storage/memory.js";
import type { Storage } from "../../storage/storage.js";
import type { ServerOptions } from "../contract/options.js";
import { Server } from "../server.js";

const UPDATED = "notifications/resources/updated";
const LISTEN = { notifications: { toolsListChanged: true, resourceSubscriptions: ["t://a"] } };

function node(options: ServerOptions): Server {
  return new Server({ name: "s", version: "1" }, options).tool("t", {}, () => "").resource("t://a", {}, () => "");
}

async function listening(server: Server): Promise<Talk> {
  const client = await talk(server, "2026-07-28");
  void client.ask("subscriptions/listen", LISTEN, "sub");
  await client.until(({ method }) => method === "notifications/subscriptions/acknowledged");
  return client;
}

async function subscribed(server: Server): Promise<Talk> {
  const client = await talk(server, "2025-11-25");
  await client.result("resources/subscribe", { uri: "t://a" });
  return client;
}

describe("the hub", () => {
  it("serialises a change once for any number of subscribers", async () => {
    const server = node({ limits: { listensPerPeer: 2000 } });
    const pipe = await talk(server, "2026-07-28");
    for (let id = 0; id < 1000; id++) void pipe.ask("subscriptions/listen", LISTEN, id);
    await pipe.until(({ params }) => JSON.stringify(params?.["_meta"] ?? "").includes(":999}"));
    const sessions = await Promise.all(Array.from({ length: 100 }, () => subscribed(server)));
    const stringify = vi.spyOn(JSON, "stringify");
    server.resourceUpdated("t://a");
    // One text of the parameters for each era; ids are numbers of a few letters.
    const bodies = stringify.mock.calls.filter(([value]) => typeof value === "object");
    stringify.mockRestore();
    expect(bodies).toEqual([[{ uri: "t://a" }], [{ uri: "t://a" }]]);
    await turn();
    expect(pipe.notices(UPDATED)).toHaveLength(1000);
    for (const client of sessions) expect(client.notices(UPDATED)).toHaveLength(1);
  });

  it("delivers to the others when a subscriber fails", async () => {
    const warnings: string[] = [];
    const server = node({ platform: { warn: (text) => warnings.push(text) } });
    const endpoint = server.endpoint();
    const broken = {
      session: { revision: "2025-11-25", clientCapabilities: {}, initialized: true, subscriptions: ["t://a"] } as const,
      send: () => {
        throw new Error("broken pipe");
      },
      abort: () => false,
      ask: () => Promise.reject(new Error("no")),
    };
    // A readonly literal stands for a session that another node has stored.
    endpoint.opened(broken as never);
    const client = await subscribed(server);
    server.resourceUpdated("t://a");
    await turn();
    expect(client.notices(UPDATED)).toHaveLength(1);
    expect(warnings).toEqual(["a subscription failed: broken pipe"]);
    endpoint.closed(broken as never);
    server.resourceUpdated("t://a");
    expect(warnings).toHaveLength(1);
  });

  it("subscribes a restored session to the resources it already had", async () => {
    const server = node({});
    const said: string[] = [];
    server.endpoint().opened({
      session: { revision: "2025-11-25", clientCapabilities: {}, initialized: true, subscriptions: ["t://a"] },
      send: (text) => said.push(text),
      abort: () => false,
      ask: () => Promise.reject(new Error("no")),
    });
    server.resourceUpdated("t://a");
    expect(said).toEqual([`{"jsonrpc":"2.0","method":"${UPDATED}","params":{"uri":"t://a"}}`]);
  });
});

const clock = { now: () => Date.now() };
const STORAGES: [string, () => Storage][] = [
  ["memory", () => createMemoryStorage({ clock })],
  [
    "a storage that takes its time",
    () => delayedStorage(createMemoryStorage({ clock }), () => new Promise((done) => setImmediate(done))),
  ],
];

describe.each(STORAGES)("nodes that share %s", (_name, make) => {
  it("deliver changes to each other's subscribers once, and to their own at once", async () => {
    const storage = make();
    const [a, b] = [node({ storage }), node({ storage })];
    const clients = [await listening(a), await subscribed(a), await listening(b), await subscribed(b)];
    a.resourceUpdated("t://a");
    await Promise.all(clients.map((client) => client.until(({ method }) => method === UPDATED)));
    b.remove("tool", "t");
    const changed = "notifications/tools/list_changed";
    await Promise.all(clients.map((client) => client.until(({ method }) => method === changed)));
    for (let turns = 0; turns < 5; turns++) await turn();
    for (const client of clients) {
      expect(client.notices(UPDATED)).toHaveLength(1);
      expect(client.notices(changed)).toHaveLength(1);
    }
    await Promise.all([a.close(), b.close()]);
    a.resourceUpdated("t://a");
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(clients[3]?.notices(UPDATED)).toHaveLength(1);
  });

  it("keep the limit of listen requests while the storage is slow", async () => {
    const client = await talk(node({ storage: make(), limits: { listens: 2 } }), "2026-07-28");
    for (const id of [1, 2, 3, 4]) void client.ask("subscriptions/listen", LISTEN, id);
    await client.until(({ error }) => error !== undefined);
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(client.notices("notifications/subscriptions/acknowledged")).toHaveLength(2);
    expect(client.heard.filter(({ error }) => error !== undefined)).toHaveLength(2);
  });

  it("do not reach other servers, and publish nothing before they serve a client", async () => {
    const storage = make();
    const published = vi.spyOn(storage.pubsub, "publish");
    const a = node({ storage });
    await turn();
    expect(published).not.toHaveBeenCalled();
    const other = new Server({ name: "other", version: "1" }, { storage }).resource("t://a", {}, () => "");
    const client = await subscribed(other);
    a.resourceUpdated("t://a");
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(client.notices(UPDATED)).toEqual([]);
  });

  it("learn of a subscription that another node accepted for a session connected here", async () => {
    const server = node({ storage: make() });
    const said: string[] = [];
    const session = {
      revision: "2025-11-25" as const,
      clientCapabilities: {},
      initialized: true,
      subscriptions: [] as string[],
    };
    const peer = {
      session,
      send: (text: string) => void said.push(text),
      abort: () => false,
      ask: () => Promise.reject(new Error("no")),
    };
    server.endpoint().opened(peer);
    server.resourceUpdated("t://a");
    expect(said).toEqual([]);
    peer.session = { ...session, subscriptions: ["t://a"] };
    server.resourceUpdated("t://a");
    expect(said).toHaveLength(1);
    peer.session = { ...session, subscriptions: [] };
    server.resourceUpdated("t://a");
    expect(said).toHaveLength(1);
  });
});

describe("a storage that fails", () => {
  it("affects other nodes but not subscribers here, and refuses a listen request that could not be served", async () => {
    const warnings: string[] = [];
    const storage = createMemoryStorage({ clock });
    const server = node({ storage, platform: { warn: (text) => warnings.push(text) } });
    const client = await listening(server);
    vi.spyOn(storage.pubsub, "publish").mockImplementation(() => {
      throw new Error("down");
    });
    server.resourceUpdated("t://a");
    await client.until(({ method }) => method === UPDATED);
    expect(warnings).toEqual(["a change did not reach other nodes: Error: down"]);
    const broken = createMemoryStorage({ clock });
    const subscribe = vi.spyOn(broken.pubsub, "subscribe").mockRejectedValue(new Error("down") as never);
    const other = await talk(node({ storage: broken, platform: { warn: () => {} } }), "2026-07-28");
    expect((await other.ask("subscriptions/listen", LISTEN)).error).toMatchObject({ code: -32603 });
    subscribe.mockRestore();
    void other.ask("subscriptions/listen", LISTEN, "again");
    await other.until(({ method }) => method === "notifications/subscriptions/acknowledged");
  });

  it("does not deliver malformed messages", async () => {
    const storage = createMemoryStorage({ clock });
    const client = await listening(node({ storage }));
    for (const text of ["", "{", "null", "[]", "{}", '{"change":{}}', '{"change":{"filter":1,"method":2}}']) {
      void storage.pubsub.publish("server/s/changes", text);
    }
    await turn();
    expect(client.heard).toHaveLength(1);
  });
});
