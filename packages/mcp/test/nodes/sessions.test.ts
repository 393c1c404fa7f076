import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { memoryStorage } from "../../src/storage.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { fakeTime } from "../http/fake-time.js";
import { EventReader, LegacyClient } from "../http/legacy-client.js";
import { modern } from "../http/modern.js";
import { waitUntil } from "../http/watched.js";
import { TEST_SECRET } from "../test-secrets.js";
import { cutStorage } from "./cut-storage.js";
import { severalNodes, WITH_PROGRESS } from "./several-nodes.js";

describe("an answer to a question of another node", () => {
  it("is not lost when the connection of that node to the storage is cut", async () => {
    const { client, use, close } = severalNodes(2);
    const asking = use(0);
    await client.open("2025-11-25", { elicitation: {} });
    const reader = new EventReader(await client.call("ask"));
    const question = await reader.message();
    asking.storage.disconnect();
    use(1);
    const result = { action: "accept", content: { name: "Ada" } };
    const answer = { jsonrpc: "2.0", id: question["id"], result };
    expect((await client.post(answer)).status).toBe(202);
    asking.storage.reconnect();
    expect(await reader.message()).toMatchObject({ result: { content: [{ text: '{"name":"Ada"}' }] } });
    await close();
  });

  it("is refused if it cannot be stored, and taken when it is sent again", async () => {
    const { client, use, close } = severalNodes(2);
    use(0);
    await client.open("2025-11-25", { elicitation: {} });
    const reader = new EventReader(await client.call("ask"));
    const question = await reader.message();
    const { storage } = use(1);
    expect((await client.call("hello")).status).toBe(200);
    storage.way = "down";
    const result = { action: "accept", content: { name: "Ada" } };
    const answer = { jsonrpc: "2.0", id: question["id"], result };
    const refused = await client.post(answer);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    storage.way = "open";
    expect((await client.post(answer)).status).toBe(202);
    expect((await client.post(answer)).status).toBe(202);
    expect(await reader.message()).toMatchObject({ result: { content: [{ text: '{"name":"Ada"}' }] } });
    await close();
  });
});

describe("a session that ends on another node than those that served it", () => {
  it("leaves nothing in the storage", async () => {
    const { client, use, shared, held, nodes, close } = severalNodes(3);
    for (let round = 0; round < 4; round++) {
      use(round % 3);
      client.sessionId = undefined;
      await client.open();
      const readers: EventReader[] = [];
      for (const index of [0, 1, 2]) {
        use(index);
        const reader = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
        await reader.message();
        readers.push(reader);
      }
      const standing = new EventReader(await client.get());
      await standing.cancel();
      await readers[0]?.cancel();
      // A node that is gone cannot clean up.
      if (round === 3) await nodes[0]?.handler.close();
      use(1);
      expect((await client.send("DELETE", {})).status).toBe(204);
    }
    held.open();
    await waitUntil(() => shared.usage().streams === 0);
    // What is left are the leases of the two nodes that live.
    await waitUntil(() => shared.usage().keys <= 2);
    await close();
    expect(shared.usage()).toMatchObject({ keys: 0, streams: 0 });
  });
});

describe("an acknowledged subscription", () => {
  it("is effective for the next change on any node", async () => {
    const { client, use, nodes, close } = severalNodes(3);
    const speaking = use(0);
    await client.open();
    const reader = new EventReader(await client.get());
    speaking.storage.slowMs = 15;
    const params = { uri: "mem://a" };
    for (let round = 0; round < 20; round++) {
      use(1 + (round % 2));
      await client.post({ jsonrpc: "2.0", id: `s${round}`, method: "resources/subscribe", params });
      nodes[2 - (round % 2)]?.server.resourceUpdated("mem://a");
      expect(await reader.message()).toMatchObject({ method: "notifications/resources/updated", params });
      await client.post({ jsonrpc: "2.0", id: `u${round}`, method: "resources/unsubscribe", params });
    }
    await reader.cancel();
    await close();
  });
});

describe("a call of a session that a node knows", () => {
  it("costs one read of the storage, and nothing more", async () => {
    const { client, use, close } = severalNodes(1, { times: {} });
    const { storage } = use(0);
    await client.open();
    await client.call("hello");
    storage.calls.length = 0;
    for (let count = 0; count < 5; count++) expect((await client.call("hello")).status).toBe(200);
    expect(storage.calls).toEqual(Array(5).fill(`get http/t/session/{${client.sessionId}}`));
    await close();
  });
});

describe("a node that drains", () => {
  it("waits for answers that are being stored", async () => {
    const { client, use, held, close } = severalNodes(2);
    const { storage, handler } = use(0);
    await client.open();
    const reader = new EventReader(await client.call("steps", {}, undefined, WITH_PROGRESS));
    const { eventId = "" } = await reader.message();
    await reader.cancel();
    storage.way = "hangs";
    held.open();
    const drained = handler.drain(60_000).then(() => handler.close());
    // Longer than the end of a node waits for its storage by itself.
    setTimeout(() => {
      storage.way = "open";
    }, 1300);
    await drained;
    use(1);
    const events = await new EventReader(await client.get({ "last-event-id": eventId })).rest();
    expect(events.at(-1)?.data).toContain("done");
    await close();
  });
});

describe("several processes that are set up as if they were one", () => {
  it("are told of a session in the memory of another one", async () => {
    const { platform, warnings } = fakeTime();
    const make = () => fetchHandler(new Server({ name: "t", version: "1" }), { platform });
    const [one, two] = [make(), make()];
    let next = one;
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => next(request) });
    await client.open();
    next = two;
    for (let count = 0; count < 2; count++) {
      const response = await client.call("hello");
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { data: { reason: "another_process" } } });
    }
    expect(warnings.filter((line) => line.includes("the same `storage`"))).toHaveLength(1);
    await Promise.all([one.close(), two.close()]);
  });

  it("are told that their secrets differ, each once", async () => {
    const shared = memoryStorage();
    const warnings: string[] = [];
    const listen = (secret: string | undefined) => {
      const platform = { warn: (line: string) => void warnings.push(line) };
      const server = new Server({ name: "t", version: "1" }, { storage: cutStorage(shared), secret, platform });
      return fetchHandler(server.tool("hello", {}, () => "hello"));
    };
    const handlers = [listen(TEST_SECRET), listen(TEST_SECRET), listen(undefined)];
    const stop = new AbortController();
    for (const handler of handlers) {
      const { body, headers } = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
      const request = new Request("http://localhost/mcp", { method: "POST", body, headers, signal: stop.signal });
      await new EventReader(await handler(request)).message();
    }
    await waitUntil(() => warnings.length === 3);
    expect(warnings.every((line) => line.includes("the same `secret`"))).toBe(true);
    stop.abort();
  });

  it("do not take the sessions of another server on the same storage", async () => {
    const shared = memoryStorage();
    const make = (name: string) => fetchHandler(new Server({ name, version: "1" }, { storage: cutStorage(shared) }));
    const [one, two] = [make("one"), make("two")];
    let next = one;
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => next(request) });
    await client.open();
    next = two;
    expect((await client.call("hello")).status).toBe(404);
    await Promise.all([one.close(), two.close()]);
  });
});

describe("a storage that is away", () => {
  it("is warned of once, however many requests are refused, and then by their number", async () => {
    const { platform, warnings, advance } = fakeTime();
    const storage = cutStorage(memoryStorage());
    const handler = fetchHandler(new Server({ name: "t", version: "1" }, { storage, platform }), { platform });
    const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => handler(request) });
    storage.way = "down";
    for (let count = 0; count < 50; count++) {
      const refused = await client.post({
        jsonrpc: "2.0",
        id: count,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
      });
      expect(refused.status).toBe(503);
    }
    const lines = () => warnings.filter((line) => line.startsWith("the session storage failed"));
    expect(lines()).toEqual([expect.stringContaining("cannot be reached")]);
    advance(30_000);
    expect(lines().slice(1)).toEqual([expect.stringMatching(/failed 49 more times within 30 s: .*cannot be reached/)]);
    await handler.close();
  });
});
