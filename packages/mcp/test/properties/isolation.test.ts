import { Server } from "@parley/mcp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { META } from "../../src/protocol/meta.js";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../src/protocol/revisions.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { serveChannel } from "../../src/transport/channel/server.js";

const CLIENTS = 50;
const IDS = 200;

/** One shared server; each call waits a random number of turns, so that answers overtake each other. */
function makeServer(waits: readonly number[]) {
  let at = 0;
  return new Server({ name: "shared", version: "1" }).tool(
    "echo",
    { input: z.object({ secret: z.string() }) },
    async ({ secret }, ctx) => {
      ctx.progress(1, { message: secret });
      for (let turns = waits[at++ % waits.length] ?? 0; turns > 0; turns--)
        await new Promise((resolve) => setImmediate(resolve));
      ctx.progress(2, { message: secret });
      return secret;
    },
  );
}

interface Heard {
  answers: Map<number, string>;
  foreign: string[];
}

/** A client that writes raw messages, so that nothing of ours hides a mix-up: everyone uses ids 0 to 199. */
function rawClient(
  server: ReturnType<typeof makeServer>,
  name: string,
  modern: boolean,
): { heard: Heard; call(id: number): void; done: Promise<void> } {
  const [here, there] = channelPair();
  serveChannel(server.endpoint(), there);
  const heard: Heard = { answers: new Map(), foreign: [] };
  let finish = () => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  here.open({
    message(text) {
      const message = JSON.parse(text) as {
        id?: number;
        result?: { content?: { text: string }[] };
        params?: { message?: string };
      };
      const said = message.result?.content?.[0]?.text ?? message.params?.message;
      if (said !== undefined && !said.startsWith(`${name}:`)) heard.foreign.push(text);
      if (message.id !== undefined && message.id >= 0) heard.answers.set(message.id, said ?? "");
      if (heard.answers.size === IDS) finish();
    },
    fault: () => {},
    closed: () => {},
  });
  const standing = modern ? { [META.protocolVersion]: NEWEST_STATELESS, [META.clientCapabilities]: {} } : {};
  const send = (message: object) => here.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  if (!modern) {
    const params = { protocolVersion: NEWEST_STATEFUL, capabilities: {}, clientInfo: { name, version: "1" } };
    send({ id: -1, method: "initialize", params });
    send({ method: "notifications/initialized" });
  }
  const call = (id: number) =>
    send({
      id,
      method: "tools/call",
      params: { name: "echo", arguments: { secret: `${name}:${id}` }, _meta: { ...standing, progressToken: id } },
    });
  return { heard, call, done };
}

describe("one server object", () => {
  it("serves 50 clients of both eras at once, all with ids 0…199, and every reply reaches its own caller", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(4), { minLength: 7, maxLength: 31 }),
        fc.array(fc.nat(CLIENTS - 1), { minLength: 50, maxLength: 200 }),
        async (waits, order) => {
          const server = makeServer(waits);
          const clients = Array.from({ length: CLIENTS }, (_, at) => rawClient(server, `client-${at}`, at % 2 === 0));
          const next = clients.map(() => 0);
          const remaining = Array.from({ length: CLIENTS * IDS }, (_, at) => order[at % order.length] ?? 0);
          // A random order first, then whatever each client has left.
          for (const at of [...remaining, ...clients.keys()]) {
            const client = clients[at];
            const id = next[at] ?? 0;
            if (client === undefined || id >= IDS) continue;
            client.call(id);
            next[at] = id + 1;
          }
          for (const [at, client] of clients.entries()) for (let id = next[at] ?? 0; id < IDS; id++) client.call(id);
          await Promise.all(clients.map(({ done }) => done));
          for (const [at, { heard }] of clients.entries()) {
            expect(heard.foreign).toEqual([]);
            for (let id = 0; id < IDS; id++) expect(heard.answers.get(id)).toBe(`client-${at}:${id}`);
          }
        },
      ),
      { numRuns: 3 },
    );
  }, 240_000);
});
