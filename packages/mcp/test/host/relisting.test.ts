import { type Client, connect, Server } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { fakeClock } from "@parley/mcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../src/protocol/revisions.js";

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that announces a change of its tools with every list of them. */
function restless() {
  const counts = { lists: 0 };
  const server: Server = new Server({ name: "restless", version: "1" }).tool("a", {}, () => "a") as Server;
  server.use(async (call, next) => {
    const result = await next();
    if (call.method === "tools/list") {
      counts.lists++;
      server.listChanged("tools");
    }
    return result;
  });
  return { server, counts };
}

/** Lets everything happen that needs no time to pass. */
async function turns() {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe.each([NEWEST_STATEFUL, NEWEST_STATELESS])(
  "a server of %s that announces a change with every list",
  (revision) => {
    it("is listed at a bounded pace by a host, which names it once", async () => {
      const { server, counts } = restless();
      const clock = fakeClock();
      const warnings: string[] = [];
      const platform = { ...clock.platform, warn: (message: string) => void warnings.push(message) };
      const host = new Host({ servers: { s: server }, client: { revisions: [revision] }, health: false, platform });
      closers.push(() => host.close());
      await host.start();
      await turns();
      // The first list, and those of twenty announcements.
      expect(counts.lists).toBe(21);
      for (let second = 0; second < 120; second++) {
        await clock.advance(1_000);
        await turns();
      }
      expect(counts.lists).toBeGreaterThan(25);
      expect(counts.lists).toBeLessThanOrEqual(21 + 60);
      expect(warnings).toEqual([
        expect.stringContaining('the server "s": the server announced 20 changes of its tools'),
      ]);
      expect(host.tools()).toHaveLength(1);
    });

    it("is listed at a bounded pace for a client of a gateway with its own connection", async () => {
      const { server, counts } = restless();
      const clock = fakeClock();
      const host = new Host({
        servers: { s: { server, isolation: "client" } },
        client: { revisions: [revision], onWarning: () => {} },
        health: false,
        platform: { ...clock.platform },
      });
      closers.push(() => host.close());
      const front = host.asServer();
      await host.start();
      const client = (await connect(front, { revisions: [revision] })) as Client;
      closers.push(() => client.close());
      const changes = await client.subscribe({ tools: true });
      const follow = async () => {
        for await (const _change of changes) await client.allTools({ cache: false });
      };
      const followed = follow();
      await client.allTools();
      await turns();
      const settled = counts.lists;
      expect(settled).toBeLessThanOrEqual(100);
      await turns();
      expect(counts.lists).toBe(settled);
      await changes.close();
      await followed;
    });
  },
);

it("a program of a user that lists again with every change does not spin", async () => {
  const { server, counts } = restless();
  const clock = fakeClock();
  const client = (await connect(server, { platform: clock.platform, onWarning: () => {} })) as Client;
  closers.push(() => client.close());
  const changes = await client.subscribe({ tools: true });
  const followed = (async () => {
    for await (const _change of changes) await client.allTools({ cache: false });
  })();
  await client.allTools();
  await turns();
  expect(counts.lists).toBe(21);
  await changes.close();
  await followed;
});
