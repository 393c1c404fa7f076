import { memoryStorage } from "@parley/mcp/storage";
import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { EventReader, LegacyClient } from "../http/legacy-client.js";
import { modern } from "../http/modern.js";
import { TEST_SECRET } from "../test-secrets.js";
import { type CutStorage, cutStorage } from "./cut-storage.js";

const UPDATED = "notifications/resources/updated";

function nodes(count: number) {
  const shared = memoryStorage();
  return Array.from({ length: count }, () => {
    const storage = cutStorage(shared);
    const server = new Server({ name: "t", version: "1" }, { storage, secret: TEST_SECRET })
      .tool("hello", {}, () => "hello")
      .resource("mem://a", {}, () => "a");
    return { storage, server, handler: fetchHandler(server) };
  });
}

/** Lets the other node's changes pass without being heard. */
async function away(storage: CutStorage, change: () => void): Promise<void> {
  storage.disconnect();
  change();
  await new Promise((resolve) => setTimeout(resolve, 20));
  storage.reconnect();
}

describe("a change that a node missed while its connection to the storage was cut", () => {
  it("is told to the sessions that it serves", async () => {
    const [here, there] = nodes(2);
    if (here === undefined || there === undefined) throw new Error("no nodes");
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => here.handler(request) });
    await client.open();
    const reader = new EventReader(await client.get());
    const params = { uri: "mem://a" };
    await client.post({ jsonrpc: "2.0", id: "s", method: "resources/subscribe", params });
    await away(here.storage, () => there.server.resourceUpdated("mem://a"));
    const methods = [];
    for (let count = 0; count < 3; count++) methods.push((await reader.message())["method"]);
    expect(methods).toContain(UPDATED);
    expect(methods).toContain("notifications/tools/list_changed");
    await reader.cancel();
  });

  it("is told by the node that goes on for one that died", async () => {
    const [dead, here, there] = nodes(3);
    if (dead === undefined || here === undefined || there === undefined) throw new Error("no nodes");
    let node = dead;
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => node.handler(request) });
    await client.open();
    const first = new EventReader(await client.get());
    await client.post({ jsonrpc: "2.0", id: "s", method: "resources/subscribe", params: { uri: "mem://a" } });
    const { id = "" } = (await first.next()) ?? {};
    dead.storage.way = "hangs";
    dead.storage.disconnect();
    await first.cancel();
    // Nobody serves the session at this moment.
    there.server.resourceUpdated("mem://a");
    await new Promise((resolve) => setTimeout(resolve, 20));
    node = here;
    const second = new EventReader(await client.get(id === "" ? {} : { "last-event-id": id }));
    expect(await second.message()).toMatchObject({ method: UPDATED, params: { uri: "mem://a" } });
    await second.cancel();
  });

  it("is told to those who listen", async () => {
    const [here, there] = nodes(2);
    if (here === undefined || there === undefined) throw new Error("no nodes");
    const notifications = { toolsListChanged: true, resourceSubscriptions: ["mem://a"] };
    const { body, headers } = modern("subscriptions/listen", { notifications });
    const stop = new AbortController();
    const request = new Request("http://localhost/mcp", { method: "POST", body, headers, signal: stop.signal });
    const reader = new EventReader(await here.handler(request));
    expect(await reader.message()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    await away(here.storage, () => there.server.resourceUpdated("mem://a"));
    expect(await reader.message()).toMatchObject({ method: "notifications/tools/list_changed" });
    expect(await reader.message()).toMatchObject({ method: UPDATED, params: { uri: "mem://a" } });
    stop.abort();
  });

  it("is sent again by the node that could not publish it", async () => {
    const [here, there] = nodes(2);
    if (here === undefined || there === undefined) throw new Error("no nodes");
    const { body, headers } = modern("subscriptions/listen", { notifications: { resourceSubscriptions: ["mem://a"] } });
    const stop = new AbortController();
    const request = new Request("http://localhost/mcp", { method: "POST", body, headers, signal: stop.signal });
    const reader = new EventReader(await here.handler(request));
    await reader.message();
    there.storage.way = "down";
    there.server.resourceUpdated("mem://a");
    await new Promise((resolve) => setTimeout(resolve, 20));
    there.storage.way = "open";
    expect(await reader.message()).toMatchObject({ method: UPDATED, params: { uri: "mem://a" } });
    stop.abort();
  });
});

describe("a subscription that another node has acknowledged", () => {
  const subscribe = { jsonrpc: "2.0", id: "s", method: "resources/subscribe", params: { uri: "mem://a" } } as const;

  /** A session whose GET stream is at the first of two nodes; requests go where `use` says. */
  async function listening() {
    const [here, there] = nodes(2);
    if (here === undefined || there === undefined) throw new Error("no nodes");
    let node = here;
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => node.handler(request) });
    await client.open();
    const reader = new EventReader(await client.get());
    const use = (chosen: typeof here) => {
      node = chosen;
    };
    return { here, there, client, reader, use };
  }

  it("holds at a node whose storage has just failed once, which remembers the session without it", async () => {
    const { here, there, client, reader, use } = await listening();
    here.storage.way = "down";
    await client.post({ jsonrpc: "2.0", id: "l", method: "tools/list" });
    here.storage.way = "open";
    use(there);
    await client.post(subscribe);
    there.server.resourceUpdated("mem://a");
    expect(await reader.message()).toMatchObject({ method: UPDATED, params: { uri: "mem://a" } });
    await reader.cancel();
  });

  it("holds at a node that was cut off, and whose first read after that fails", async () => {
    const { here, there, client, reader, use } = await listening();
    here.storage.disconnect();
    use(there);
    await client.post(subscribe);
    there.server.resourceUpdated("mem://a");
    here.storage.way = "down";
    here.storage.reconnect();
    await new Promise((resolve) => setTimeout(resolve, 20));
    here.storage.way = "open";
    for (let method: unknown; method !== UPDATED; ) method = (await reader.message())["method"];
    await reader.cancel();
  });
});
