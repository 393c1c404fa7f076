import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { redisStorage } from "@parley/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventReader, LegacyClient } from "../../mcp/test/http/legacy-client.js";
import { hasRedis, startRedis, type TestRedis, until } from "./start-redis.js";

describe.skipIf(!hasRedis)("a limit of sessions of one of two nodes on one Redis", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it("does not end a session that is busy on the other node", async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const start = async () => {
      const storage = redisStorage({ url: redis.url });
      const server = new Server({ name: "t", version: "1" }, { storage, secret: "k".repeat(32) })
        .tool("hello", {}, () => "hello")
        .tool("slow", {}, async (_args, ctx) => {
          ctx.progress(1);
          await held;
          return "slow";
        });
      const authenticate = () => ({ key: "alice" });
      const handle = await serveHttp(server, { port: 0, authenticate, limits: { maxSessionsPerPrincipal: 5 } });
      return { storage, handle };
    };
    const [first, second] = await Promise.all([start(), start()]);
    try {
      const client = new LegacyClient(first.handle.url);
      await client.open();
      const other = new LegacyClient(second.handle.url);
      other.sessionId = client.sessionId;
      const standing = new EventReader(await other.get());
      const slow = new EventReader(await other.call("slow", {}, undefined, { progressToken: 1 }));
      await slow.message();
      for (let count = 0; count < 5; count++) await new LegacyClient(first.handle.url).open();
      // The first node gives its subscription up when it has asked the other one, or has ended the session.
      const channels = String(await redis.command("PUBSUB", "CHANNELS", `*${client.sessionId}*`));
      await until(async () => String(await redis.command("PUBSUB", "NUMSUB", channels)) === `${channels},1`);
      release();
      expect(await slow.message()).toMatchObject({ result: { content: [{ text: "slow" }] } });
      for (const one of [client, other]) expect((await one.call("hello")).status).toBe(200);
      await standing.cancel();
    } finally {
      release();
      await Promise.all([first, second].map(({ handle }) => handle.close()));
      await Promise.all([first, second].map(({ storage }) => storage.close()));
    }
  });
});
