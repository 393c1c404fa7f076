import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { delayedStorage } from "../../src/storage/delayed-storage.js";
import { createMemoryStorage } from "../../src/storage/memory.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { gate, note, waitUntil, watch } from "./watched.js";

/** Three nodes on one store; each request goes to the next one. */
function cluster(passed: Promise<void> = Promise.resolve()) {
  const storage = delayedStorage(createMemoryStorage({ clock: { now: () => Date.now() } }));
  const nodes = [0, 1, 2].map(() => {
    const watched = watch(
      new Server({ name: "t", version: "1" })
        .tool("hello", {}, () => "hello")
        .tool("ask", {}, async (_args, ctx) => {
          const answer = await ctx.elicit("Name?", { type: "object", properties: { name: { type: "string" } } });
          return JSON.stringify(answer);
        })
        .tool("gated", {}, async (_args, ctx) => {
          ctx.progress(1);
          await passed;
          return String(ctx.signal.aborted);
        }),
    );
    return { ...watched, handler: fetchHandler({ ...watched.endpoint, storage }) };
  });
  let turn = 0;
  const client = new LegacyClient("http://localhost/mcp", {
    fetch: (request) => nodes[turn++ % nodes.length]?.handler(request) ?? Promise.reject(new Error("no node")),
  });
  return { client, nodes };
}

describe("nodes that share a store", () => {
  it("answer any request of any session", async () => {
    const { client } = cluster();
    await client.open();
    for (let count = 0; count < 100; count++) {
      expect(await (await client.call("hello")).json()).toMatchObject({ result: { content: [{ text: "hello" }] } });
    }
    expect((await client.send("DELETE", {})).status).toBe(204);
    for (let count = 0; count < 3; count++) expect((await client.call("hello")).status).toBe(404);
  });

  it("pass an answer to the node that asked", async () => {
    const { client } = cluster();
    await client.open("2025-11-25", { elicitation: {} });
    for (let count = 0; count < 20; count++) {
      const reader = new EventReader(await client.call("ask"));
      const question = await reader.message();
      const result = { action: "accept", content: { name: `n${count}` } };
      expect((await client.post({ jsonrpc: "2.0", id: question["id"], result })).status).toBe(202);
      expect(await reader.message()).toMatchObject({ result: { content: [{ text: `{"name":"n${count}"}` }] } });
    }
  });

  it("keep apart what several of them ask at the same time", async () => {
    const { client } = cluster();
    await client.open("2025-11-25", { elicitation: {} });
    const readers = [];
    for (let count = 0; count < 6; count++) readers.push(new EventReader(await client.call("ask")));
    const questions = await Promise.all(readers.map((reader) => reader.message()));
    for (const [index, question] of [...questions.entries()].reverse()) {
      const result = { action: "accept", content: { name: `n${index}` } };
      await client.post({ jsonrpc: "2.0", id: question["id"], result });
    }
    const answers = await Promise.all(readers.map((reader) => reader.message()));
    expect(answers).toMatchObject(
      readers.map((_, index) => ({ result: { content: [{ text: `{"name":"n${index}"}` }] } })),
    );
  });

  it("pass a cancellation to the node that runs the request", async () => {
    const { passed, open } = gate();
    const { client, nodes } = cluster(passed);
    await client.open();
    const reader = new EventReader(await client.call("gated", {}, undefined, { progressToken: 1 }));
    await reader.message();
    await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await reader.rest();
    const signals = nodes.flatMap(({ exchanges }) => exchanges.filter((exchange) => exchange.id === 1));
    await waitUntil(() => signals.some((exchange) => exchange.signal.aborted));
    open();
  });

  it("let one node speak for a session: the one where its client listens", async () => {
    const { client, nodes } = cluster();
    await client.open();
    const speakers = () => nodes.flatMap(({ peers }) => [...peers]);
    expect(speakers()).toHaveLength(1);
    const reader = new EventReader(await client.get());
    await reader.next();
    await waitUntil(() => speakers().length === 1 && nodes[2]?.peers.size === 1);
    // Any node may still say something; it arrives where the client listens.
    speakers()[0]?.send(note(1));
    expect(await reader.message()).toMatchObject({ params: { data: 1 } });
    await reader.cancel();
  });

  it("know what the session said to another node", async () => {
    const { client, nodes } = cluster();
    await client.open();
    await client.call("hello");
    await client.call("hello");
    await client.call("hello");
    const sessions = nodes.flatMap(({ exchanges }) => exchanges.map((exchange) => exchange.peer?.session));
    expect(sessions.filter((session) => session !== undefined).every((session) => session.initialized)).toBe(true);
  });
});
