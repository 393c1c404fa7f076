import { redisStorage } from "@parley/redis";
import { createSentinel } from "@redis/client";
import { afterEach, describe, expect, it } from "vitest";
import { hasRedis, startRedis, startSentinel, type TestRedis, until } from "./start-redis.js";

const open: (() => Promise<unknown>)[] = [];
const started = async (starting: Promise<TestRedis>) => {
  const server = await starting;
  open.push(() => server.stop());
  return server;
};

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** The role of a server; undefined while it is gone, or cuts its connections because the role changes. */
async function roleOf(redis: TestRedis): Promise<string | undefined> {
  const info = await redis.command("INFO", "replication").catch(() => "");
  return /role:(\w+)/.exec(String(info))?.[1];
}

const SECRET = "secret-word";
const FAST = ["--repl-diskless-sync-delay", "0"];

describe.skipIf(!hasRedis)("a storage by a client of createSentinel", () => {
  it.each([
    ["a failover", (_first: TestRedis, sentinel: TestRedis) => sentinel.command("SENTINEL", "FAILOVER", "primary")],
    ["the end of the primary", (first: TestRedis) => first.kill()],
  ])("uses the primary that a Sentinel names, also after %s", async (_name, fail) => {
    const [first, second] = await Promise.all([started(startRedis(FAST)), started(startRedis(FAST))]);
    await second.command("REPLICAOF", "127.0.0.1", `${first.port}`);
    const sentinel = await started(startSentinel(first));
    await until(async () => /slaves=1/.test(String(await sentinel.command("INFO", "sentinel"))));
    const gone = await startRedis();
    await gone.stop();
    const client = createSentinel({
      name: "primary",
      // One that does not answer is passed over.
      sentinelRootNodes: [gone, sentinel].map(({ port }) => ({ host: "127.0.0.1", port })),
      nodeClientOptions: { name: "kept" },
    });
    const storage = redisStorage({ client, timeoutMs: 10_000 });
    open.push(() => storage.close());
    const heard: string[] = [];
    await storage.pubsub.subscribe("t", (message) => heard.push(message));
    expect(await storage.kv.set("k", "1")).toBeGreaterThan(0);
    expect(String(await first.command("CLIENT", "LIST"))).toContain("name=kept");
    expect(client.isOpen).toBe(false);
    const passes = (act: () => unknown) =>
      Promise.resolve()
        .then(act)
        .then(
          () => true,
          () => false,
        );
    await until(() => passes(() => fail(first, sentinel)));
    await until(async () => (await roleOf(second)) === "master");
    // A former primary that lives takes writes until it is told, and loses them.
    await until(async () => (await roleOf(first)) !== "master");
    await until(() => passes(() => storage.kv.set("k", "2")));
    await until(async () => /2$/.test(String(await second.command("GET", "parley:k:k").catch(() => ""))));
    await until(async () => {
      await passes(() => storage.pubsub.publish("t", "message"));
      return heard.includes("message");
    });
  });

  it("says what is wrong where no Sentinel answers or knows the name, and never a password", async () => {
    const sentinel = await started(startSentinel(await started(startRedis())));
    for (const [name, port] of [
      ["unknown", sentinel.port],
      ["primary", 1],
    ] as const) {
      const client = createSentinel({
        name,
        sentinelRootNodes: [{ host: "127.0.0.1", port }],
        nodeClientOptions: { password: SECRET },
      });
      const storage = redisStorage({ client, timeoutMs: 500 });
      open.push(() => storage.close());
      await until(async () => {
        const error = await Promise.resolve(storage.kv.get("k")).catch((reason: unknown) => reason);
        expect(`${error} ${error instanceof Error && error.stack}`).not.toContain(SECRET);
        return new RegExp(name === "unknown" ? `no Sentinel knows the primary "unknown"` : "ECONNREFUSED").test(
          String(error),
        );
      });
    }
  });
});

describe("a client of Sentinel that does not give its settings", () => {
  it("is refused", () => {
    const client = { duplicate: () => ({}), sendCommand: () => {}, getMasterNode: () => undefined };
    expect(() => redisStorage({ client })).toThrow(
      expect.objectContaining({ kind: "invalid_definition", fix: expect.stringContaining("createSentinel") }),
    );
  });
});
