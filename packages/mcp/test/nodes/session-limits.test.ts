import { memoryStorage } from "@parley/mcp/storage";
import { afterEach, describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import type { HttpLimits } from "../../src/transport/http/server/options.js";
import { fakeTime } from "../http/fake-time.js";
import { EventReader, LegacyClient } from "../http/legacy-client.js";
import { gate, waitUntil } from "../http/watched.js";
import { type CutStorage, cutStorage } from "./cut-storage.js";

const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Two nodes on one storage, whose clocks a test moves, and clients of several principals. */
function twoNodes(limits: HttpLimits, limitsOfSecond = limits) {
  const shared = memoryStorage();
  const time = fakeTime();
  const held = gate();
  const make = (storage: CutStorage, nodeLimits: HttpLimits) => {
    const { platform } = time;
    const server = new Server(
      { name: "t", version: "1" },
      { storage, secret: "one secret for the nodes of a test", platform },
    )
      .tool("hello", {}, () => "hello")
      .tool("slow", {}, async (_args, ctx) => {
        ctx.progress(1);
        await held.passed;
        return "slow";
      });
    const authenticate = (request: { header(name: string): string | undefined }) => ({
      key: request.header("x-user") ?? "",
    });
    const handler = fetchHandler(server, { limits: nodeLimits, authenticate, platform });
    open.push(() => handler.close());
    return { server, handler, storage };
  };
  const nodes = [make(cutStorage(shared), limits), make(cutStorage(shared), limitsOfSecond)] as const;
  const clientOf = (user: string) => {
    let at: 0 | 1 = 0;
    const client = new LegacyClient("http://localhost/mcp", {
      headers: { "x-user": user },
      fetch: (request) => nodes[at].handler(request),
    });
    const use = (index: 0 | 1) => {
      at = index;
      return client;
    };
    return { client, use };
  };
  /** Opens sessions on the first node, one at a time. */
  const openMany = async (user: string, count: number) => {
    for (let index = 0; index < count; index++) {
      time.advance(10);
      await clientOf(user).client.open();
    }
  };
  const exists = async (session: string | undefined) =>
    (await shared.kv.get(`http/t/session/{${session}}`)) !== undefined;
  /** How many nodes the record of a session names; 0 if it has ended. */
  const nodesOf = async (session: string | undefined) => {
    const stored = await shared.kv.get(`http/t/session/{${session}}`);
    return stored === undefined ? 0 : (JSON.parse(stored.value) as { nodes: string[] }).nodes.length;
  };
  return { nodes, time, held, clientOf, openMany, exists, nodesOf };
}

const PROGRESS = { progressToken: 1 };

describe("a limit of sessions of one node", () => {
  it.each([
    ["maxSessionsPerPrincipal", { maxSessionsPerPrincipal: 5 }, "alice", 5],
    ["maxSessions", { maxSessions: 5 }, "bob", 1],
  ])("%s does not end a session that is busy on another node", async (_name, limits, user, more) => {
    const { time, held, clientOf, openMany, exists } = twoNodes(limits);
    const { client, use } = clientOf("alice");
    await use(0).open();
    use(1);
    const standing = new EventReader(await client.get());
    const slow = new EventReader(await client.call("slow", {}, undefined, PROGRESS));
    await slow.message();
    if (user === "bob") await openMany("alice", 4);
    await openMany(user, more);
    // Longer than a node waits for the others.
    time.advance(2_000);
    await openMany(user, 1);
    held.open();
    expect(await slow.message()).toMatchObject({ result: { content: [{ text: "slow" }] } });
    for (const node of [0, 1] as const) expect((await use(node).call("hello")).status).toBe(200);
    expect(await exists(client.sessionId)).toBe(true);
    await standing.cancel();
  });

  it("does not end a session that was used later on another node", async () => {
    const { nodes, time, clientOf, openMany, exists } = twoNodes({ maxSessionsPerPrincipal: 2 });
    const { client, use } = clientOf("alice");
    await use(0).open();
    time.advance(1_000);
    expect((await use(1).call("hello")).status).toBe(200);
    await openMany("alice", 2);
    await waitUntil(() => nodes[0].server.sessions().length === 2);
    time.advance(2_000);
    await openMany("alice", 1);
    expect(await exists(client.sessionId)).toBe(true);
    expect((await use(0).call("hello")).status).toBe(200);
  });

  it("does not end a session whose first request on another node comes after the question", async () => {
    const { nodes, time, held, clientOf, openMany, nodesOf } = twoNodes({ maxSessionsPerPrincipal: 2 });
    const { client, use } = clientOf("alice");
    await use(0).open();
    const { calls } = nodes[0].storage;
    await openMany("alice", 2);
    await waitUntil(() => calls.includes(`publish http/t/session/{${client.sessionId}}`));
    const slow = new EventReader(await use(1).call("slow", {}, undefined, PROGRESS));
    await slow.message();
    time.advance(2_000);
    // The first node has asked, and does not serve it any more.
    await waitUntil(async () => (await nodesOf(client.sessionId)) !== 2);
    held.open();
    expect(await slow.message()).toMatchObject({ result: { content: [{ text: "slow" }] } });
    expect((await use(0).call("hello")).status).toBe(200);
  });

  it("does not end a session of another node that is alive and does not answer in time", async () => {
    const { nodes, time, held, clientOf, openMany, nodesOf } = twoNodes({ maxSessionsPerPrincipal: 2 });
    const { client, use } = clientOf("alice");
    await use(0).open();
    const slow = new EventReader(await use(1).call("slow", {}, undefined, PROGRESS));
    await slow.message();
    const { pubsub } = nodes[1].storage;
    const publish = pubsub.publish.bind(pubsub);
    pubsub.publish = () => {};
    await openMany("alice", 2);
    await waitUntil(async () => {
      time.advance(200);
      return (await nodesOf(client.sessionId)) !== 2;
    });
    pubsub.publish = publish;
    held.open();
    expect(await slow.message()).toMatchObject({ result: { content: [{ text: "slow" }] } });
    expect((await use(0).call("hello")).status).toBe(200);
  });

  it("does not end a session that is used after another node has answered that it is idle", async () => {
    const { nodes, time, clientOf, openMany, exists } = twoNodes({ maxSessionsPerPrincipal: 2 });
    const { client, use } = clientOf("alice");
    await use(1).open();
    time.advance(1_000);
    expect((await use(0).call("hello")).status).toBe(200);
    // Holds the end back, as a slow storage would, until the other node has served a request.
    const { kv } = nodes[0].storage;
    const remove = kv.delete.bind(kv);
    const [removing, goOn] = [gate(), gate()];
    kv.delete = async (...args) => {
      removing.open();
      await goOn.passed;
      return remove(...args);
    };
    await openMany("alice", 2);
    await removing.passed;
    expect((await use(1).call("hello")).status).toBe(200);
    goOn.open();
    await openMany("alice", 1);
    expect(await exists(client.sessionId)).toBe(true);
    expect((await use(1).call("hello")).status).toBe(200);
  });

  it("is not passed for good by handshakes at the same time", async () => {
    const { nodes, clientOf, openMany } = twoNodes({ maxSessionsPerPrincipal: 3 });
    await Promise.allSettled(Array.from({ length: 8 }, () => clientOf("alice").client.open()));
    expect(nodes[0].server.sessions()).toHaveLength(3);
    await openMany("alice", 2);
    expect(nodes[0].server.sessions()).toHaveLength(3);
  });

  it("ends a session that is idle everywhere, on every node", async () => {
    const { time, clientOf, openMany, exists } = twoNodes({ maxSessionsPerPrincipal: 2 });
    const { client, use } = clientOf("alice");
    await use(1).open();
    time.advance(1_000);
    expect((await use(0).call("hello")).status).toBe(200);
    await openMany("alice", 2);
    await waitUntil(async () => {
      time.advance(200);
      return !(await exists(client.sessionId));
    });
    for (const node of [0, 1] as const) expect((await use(node).call("hello")).status).toBe(404);
  });

  it("does not end a session if the others cannot be asked", async () => {
    const { nodes, time, clientOf, openMany, exists } = twoNodes({ maxSessionsPerPrincipal: 2 });
    const { client } = clientOf("alice");
    await client.open();
    const { pubsub } = nodes[0].storage;
    const asked = gate();
    pubsub.publish = async () => {
      asked.open();
      throw new Error("the storage takes no messages");
    };
    await openMany("alice", 2);
    await asked.passed;
    time.advance(2_000);
    await openMany("alice", 1);
    expect(await exists(client.sessionId)).toBe(true);
  });

  it("does not end a session if the node is closed before the others have answered", async () => {
    const { nodes, clientOf, openMany, exists } = twoNodes({ maxSessionsPerPrincipal: 2 });
    const { client, use } = clientOf("alice");
    await client.open();
    const { calls } = nodes[0].storage;
    await openMany("alice", 2);
    await waitUntil(() => calls.includes(`publish http/t/session/{${client.sessionId}}`));
    await nodes[0].handler.close();
    expect((await use(1).call("hello")).status).toBe(200);
    expect(await exists(client.sessionId)).toBe(true);
  });

  it.each([
    ["maxSessions", { maxSessions: 4 }],
    ["maxSessionsPerPrincipal", { maxSessionsPerPrincipal: 4 }],
  ])("%s bounds how many sessions of other nodes it remembers, and ends none of them", async (_name, limits) => {
    const { nodes, time, clientOf } = twoNodes({}, limits);
    // A node subscribes to each session that it remembers.
    const remembered = new Set<string>();
    const { pubsub } = nodes[1].storage;
    const subscribe = pubsub.subscribe.bind(pubsub);
    pubsub.subscribe = async (topic, ...rest) => {
      const stop = await subscribe(topic, ...rest);
      remembered.add(topic);
      return () => {
        remembered.delete(topic);
        return stop();
      };
    };
    const clients = ["alice", "alice", "alice", "alice", "alice", "alice"].map(clientOf);
    for (const { client, use } of clients) {
      time.advance(10);
      await use(0).open();
      time.advance(10);
      expect((await use(1).call("hello")).status).toBe(200);
      expect(client.sessionId).toBeDefined();
      expect(remembered.size).toBeLessThanOrEqual(4);
    }
    for (let round = 0; round < 3; round++) {
      for (const { use } of clients) {
        time.advance(400);
        expect((await use(1).call("hello")).status).toBe(200);
        expect(remembered.size).toBeLessThanOrEqual(4);
      }
    }
    expect(remembered.size).toBeGreaterThan(0);
  });
});
