import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import type { Storage } from "../../src/storage/storage.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { gate, waitUntil } from "./watched.js";

/** One node's view of a storage: a test holds back the answer of its next read, or its next write before it is done. */
function heldStorage(inner: Storage) {
  const held: { get?: Promise<void> | undefined; set?: Promise<void> | undefined } = {};
  let reads = 0;
  const storage: Storage = {
    ...inner,
    kv: {
      async get(key) {
        const { get } = held;
        held.get = undefined;
        const found = await inner.kv.get(key);
        await get;
        reads++;
        return found;
      },
      async set(key, value, options) {
        const { set } = held;
        held.set = undefined;
        await set;
        return inner.kv.set(key, value, options);
      },
      delete: (key, options) => inner.kv.delete(key, options),
      touch: (key, ttlMs) => inner.kv.touch(key, ttlMs),
    },
  };
  return { storage, held, reads: () => reads };
}

function node(shared: Storage) {
  const { storage, held, reads } = heldStorage(shared);
  const server = new Server({ name: "t", version: "1" }, { storage })
    .tool("hello", {}, () => "hello")
    .resource("mem://a", {}, () => "a")
    .resource("mem://b", {}, () => "b");
  return { server, held, reads, handler: fetchHandler(server) };
}

/** Two nodes on one store, and a client whose standing stream is on the first of them. */
async function listening() {
  const shared = createMemoryStorage({ clock: { now: () => Date.now() } });
  const here = node(shared);
  const there = node(shared);
  let next = here;
  const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => next.handler(request) });
  await client.open();
  const reader = new EventReader(await client.get());
  await reader.next();
  const subscribe = (at: typeof here, uri: string) => {
    next = at;
    return client.post({ jsonrpc: "2.0", id: uri, method: "resources/subscribe", params: { uri } });
  };
  const hears = async (uri: string) => {
    here.server.resourceUpdated(uri);
    expect(await reader.message()).toMatchObject({ method: "notifications/resources/updated", params: { uri } });
  };
  return { client, reader, here, there, subscribe, hears };
}

describe("a session whose storage answers late", () => {
  it("keeps a subscription that was stored while an older read was under way", async () => {
    const { client, reader, here, subscribe, hears } = await listening();
    const { passed, open } = gate();
    here.held.get = passed;
    const call = client.call("hello");
    await waitUntil(() => here.held.get === undefined);
    expect((await subscribe(here, "mem://a")).status).toBe(200);
    open();
    expect((await call).status).toBe(200);
    await hears("mem://a");
    await reader.cancel();
  });

  it("keeps a subscription that is being stored when another node's change is read", async () => {
    const { reader, here, there, subscribe, hears } = await listening();
    const { passed, open } = gate();
    here.held.set = passed;
    const first = subscribe(here, "mem://a");
    await waitUntil(() => here.held.set === undefined);
    const before = here.reads();
    expect((await subscribe(there, "mem://b")).status).toBe(200);
    await waitUntil(() => here.reads() > before);
    open();
    expect((await first).status).toBe(200);
    await hears("mem://a");
    await hears("mem://b");
    await reader.cancel();
  });
});
