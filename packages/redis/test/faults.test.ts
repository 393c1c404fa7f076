import { readFileSync } from "node:fs";
import { createServer, type Server as NetServer } from "node:net";
import { resolve } from "node:path";
import { StorageError, StorageFailure } from "@parley/mcp/storage";
import { type RedisStorage, redisStorage } from "@parley/redis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasRedis, startRedis, type TestRedis, until } from "./start-redis.js";

const LIMITS = { maxEntries: 100, maxBytes: 1_000_000, maxAgeMs: 60_000 };
/** For calls that are to fail; one that is to succeed has more time, because the machine may be slow. */
const SOON = { timeoutMs: 300, connectMs: 300 };
const open: RedisStorage[] = [];

function storageOf(options: Parameters<typeof redisStorage>[0]): RedisStorage {
  const storage = redisStorage({ timeoutMs: 10_000, ...options });
  open.push(storage);
  return storage;
}

/** What a call is rejected with. One that does not end at its time-out never ends. */
async function failureOf(call: unknown): Promise<StorageFailure> {
  const error = await Promise.resolve(call).then(
    (value) => new Error(`it did not fail, but returned ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StorageFailure);
  // The line above has said so.
  return error as StorageFailure;
}

async function allFail({ kv, log, pubsub }: RedisStorage): Promise<StorageFailure[]> {
  const calls = [
    kv.get("k"),
    kv.set("k", "v"),
    kv.delete("k", { ifVersion: 7 }),
    kv.touch("k", 1_000),
    log.append("s", "e", LIMITS),
    log.read("s", 0, 10),
    log.touch("s", 1_000),
    log.drop("s"),
    pubsub.publish("t", "m"),
    pubsub.subscribe("t", () => {}),
  ];
  return Promise.all(calls.map(failureOf));
}

async function written({ kv }: RedisStorage): Promise<void> {
  await until(() => Promise.resolve(kv.set("k", "v")).then(Boolean, () => false));
}

function listening({ pubsub }: RedisStorage): Promise<boolean> {
  return Promise.resolve(pubsub.subscribe("known", () => {})).then(Boolean, () => false);
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((storage) => storage.close()));
});

describe.skipIf(!hasRedis)("a Redis that goes away", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it("fails every call in time while it is down, and at once after that, and works again by itself", async () => {
    const storage = storageOf({ url: redis.url, prefix: "down:", ...SOON });
    await written(storage);
    await redis.kill();
    for (const failure of await allFail(storage)) {
      expect(failure.reason).toBe("unavailable");
      expect(failure.fix).toMatch(/Check that it runs/);
      expect(failure.message).toContain(`127.0.0.1:${redis.port}`);
    }
    // The storage may have learned of the end later than the calls began.
    await until(() => {
      const waits = new Promise<boolean>((resolve) => setImmediate(resolve, false));
      const failsAtOnce = Promise.resolve(storage.kv.get("k")).then(
        () => false,
        () => true,
      );
      return Promise.race([failsAtOnce, waits]);
    });
    await redis.restart();
    await written(storage);
    // The new server is empty and knows no script.
    expect(await storageOf({ url: redis.url, prefix: "down:" }).log.append("s", "e", LIMITS)).toBeGreaterThan(0);
  });

  it("can be absent when the storage is made", async () => {
    await redis.kill();
    const storage = storageOf({ url: redis.url, prefix: "absent:", ...SOON });
    expect((await failureOf(storage.kv.get("k"))).reason).toBe("unavailable");
    await redis.restart();
    await until(() =>
      Promise.resolve(storage.kv.get("k")).then(
        (found) => found === undefined,
        () => false,
      ),
    );
  });

  it("is waited for within the time-out: a short restart fails no read, and no call that was not sent yet", async () => {
    const [before, during] = ["before", "during"].map(() => storageOf({ url: redis.url, prefix: "short:" }));
    await before?.kv.get("k");
    await redis.kill();
    const reads = [before?.kv.get("k"), before?.log.read("s", 0, 1), before?.kv.touch("k", 1_000)];
    const writes = [during?.kv.set("l", "v"), during?.log.append("s", "e", LIMITS), during?.pubsub.publish("t", "m")];
    await redis.restart();
    expect(await Promise.all(reads)).toEqual([undefined, expect.anything(), false]);
    expect((await Promise.all(writes)).map((result) => typeof result)).toEqual(["number", "number", "undefined"]);
  });

  it("fails calls with a time-out while it is paused, and answers after that", async () => {
    const storage = storageOf({ url: redis.url, prefix: "paused:", ...SOON });
    await written(storage);
    await until(() => listening(storage));
    redis.pause();
    try {
      for (const failure of await allFail(storage)) expect(failure.reason).toBe("timeout");
    } finally {
      redis.resume();
    }
    await until(() => Promise.resolve(storage.kv.get("k")).then(Boolean, () => false));
  });

  it("tells subscribers of the gap once, before the next message, and repeats nothing", async () => {
    const storage = storageOf({ url: redis.url, prefix: "gap:" });
    const heard: string[] = [];
    await storage.pubsub.subscribe(
      "t",
      (message) => heard.push(message),
      () => heard.push("gap"),
    );
    await storage.pubsub.subscribe("t", () => {
      throw new Error("a subscriber's own fault");
    });
    await storage.pubsub.publish("t", "before");
    await until(() => heard.includes("before"));
    await redis.restart(50);
    await until(() => heard.includes("gap"));
    await storage.pubsub.publish("t", "after");
    await until(() => heard.includes("after"));
    expect(heard).toEqual(["before", "gap", "after"]);
    // One connection that was cut, and not the server, is the same to them.
    await redis.command("CLIENT", "KILL", "TYPE", "pubsub");
    await until(() => heard.filter((one) => one === "gap").length === 2);
    await storage.pubsub.publish("t", "last");
    await until(() => heard.includes("last"));
    expect(heard.slice(3)).toEqual(["gap", "last"]);
  });

  it("refuses more than `maxPending` calls at a time, and names the bound", async () => {
    const storage = storageOf({ url: redis.url, prefix: "pending:", maxPending: 3, ...SOON });
    redis.pause();
    try {
      const calls = [1, 2, 3].map(() => failureOf(storage.kv.get("k")));
      const fourth = await failureOf(storage.kv.get("k"));
      expect(fourth.message).toContain("3 calls (`maxPending`)");
      await Promise.all(calls);
    } finally {
      redis.resume();
    }
  });

  it("refuses calls of a closed storage, and lets the open ones end", async () => {
    const storage = storageOf({ url: redis.url, prefix: "closed:" });
    const call = storage.kv.set("k", "v");
    await storage.close();
    expect(await call).toBeGreaterThan(0);
    expect((await failureOf(storage.kv.get("k"))).message).toContain("closed");
    expect((await failureOf(storage.pubsub.subscribe("t", () => {}))).message).toContain("closed");
  });
});

describe.skipIf(!hasRedis)("a Redis that refuses", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis(["--requirepass", "secret-word"]);
  });
  afterAll(() => redis?.stop());
  const owner = () => redis.url.replace("//", "//:secret-word@");

  it("names a wrong or missing password, and never the password", async () => {
    for (const password of ["wrong-word", undefined]) {
      const { kv, pubsub } = storageOf({ url: redis.url, password, ...SOON });
      for (const call of [() => kv.get("k"), () => pubsub.subscribe("t", () => {})]) {
        const seen: StorageFailure[] = [];
        // On a slow machine the time may be over before the first refusal.
        await until(async () => {
          seen.push(await failureOf(call()));
          return seen.at(-1)?.message.includes("rejected the user name or the password") === true;
        });
        for (const failure of seen) {
          expect(failure.reason).toBe("unavailable");
          expect(`${failure.stack} ${String(failure.cause)}`).not.toContain("wrong-word");
        }
      }
    }
    expect(await storageOf({ url: owner() }).kv.get("k")).toBeUndefined();
    expect(await storageOf({ url: redis.url, password: "secret-word" }).kv.get("k")).toBeUndefined();
  });

  it("that is full throws a StorageError and changes nothing; reading and deleting go on", async () => {
    const storage = storageOf({ url: owner(), prefix: "full:" });
    await storage.kv.set("k", "v");
    const id = await storage.log.append("s", "e", LIMITS);
    await storage.kv.set("filler", "x".repeat(200_000));
    await configure(owner(), "maxmemory", "1mb");
    try {
      for (const call of [() => storage.kv.set("k", "w"), () => storage.log.append("s", "f", LIMITS)]) {
        const error = await Promise.resolve(call()).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(StorageError);
        expect(error).toMatchObject({ limit: "maxmemory", fix: expect.stringContaining("Raise `maxmemory`") });
        expect(String(error)).toContain("1048576");
      }
      expect((await storage.kv.get("k"))?.value).toBe("v");
      expect(await storage.log.read("s", 0, 10)).toEqual({ evicted: false, entries: [{ id, entry: "e" }] });
      expect(await storage.kv.delete("filler")).toBe(true);
      await storage.log.drop("s");
    } finally {
      await configure(owner(), "maxmemory", "0");
    }
    expect(await storage.kv.set("k", "w")).toBeGreaterThan(0);
  });

  it("that is a replica fails writes as read-only, and still reads", async () => {
    const replica = await startRedis();
    const storage = storageOf({ url: replica.url });
    try {
      await storage.kv.set("k", "v");
      await replica.command("REPLICAOF", "127.0.0.1", "1");
      const failures = [
        await failureOf(storage.kv.set("k", "w")),
        await failureOf(storage.kv.delete("k")),
        await failureOf(storage.log.append("s", "e", LIMITS)),
      ];
      for (const failure of failures) {
        expect(failure.reason).toBe("read-only");
        expect(failure.fix).toContain("primary");
      }
      expect((await storage.kv.get("k"))?.value).toBe("v");
    } finally {
      await replica.stop();
    }
  });

  it("warns once when it may evict what it was given", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    try {
      await configure(owner(), "maxmemory-policy", "allkeys-lru");
      await configure(owner(), "maxmemory", "100mb");
      await storageOf({ url: owner() }).kv.get("k");
      await storageOf({ url: owner() }).kv.get("k");
      await until(() => warnings.length > 0);
      expect(warnings.map(({ message }) => message)).toEqual([
        expect.stringContaining("maxmemory-policy is allkeys-lru"),
      ]);
    } finally {
      process.off("warning", note);
      await configure(owner(), "maxmemory-policy", "noeviction");
      await configure(owner(), "maxmemory", "0");
    }
  });

  it("needs no more permissions than the guide lists, and says so where it has fewer", async () => {
    const guide = readFileSync(resolve(import.meta.dirname, "../../../docs/storage.md"), "utf8");
    const [, keys = "", commands = ""] = /\(`(~parley.*?)`\), and `(\+.*?)`/.exec(guide) ?? [];
    await commandAs(owner(), "ACL", "SETUSER", "guide", "on", ">word", ...`${keys} ${commands}`.split(" "));
    const { kv, log, pubsub } = storageOf({ url: redis.url, username: "guide", password: "word" });
    const version = await kv.set("k", "v", { ttlMs: 60_000 });
    expect(await kv.touch("k", 60_000)).toBe(true);
    expect(await kv.delete("k", { ifVersion: version })).toBe(true);
    await log.append("s", "e", { ...LIMITS, maxEntries: 1, ttlMs: 60_000 });
    await log.append("s", "f", { ...LIMITS, maxEntries: 1 });
    expect(await log.read("s", 0, 10)).toEqual({ evicted: true });
    expect(await log.touch("s", 60_000)).toBe(true);
    await log.drop("s");
    const stop = await pubsub.subscribe("t", () => {});
    await pubsub.publish("t", "m");
    await stop();
    const elsewhere = storageOf({ url: redis.url, username: "guide", password: "word", prefix: "other:" });
    const refused = [elsewhere.kv.set("k", "v"), elsewhere.pubsub.subscribe("t", () => {})];
    for (const { message } of await Promise.all(refused.map(failureOf)))
      expect(message).toContain("lacks a permission");
  });

  it("says what holds a key that is not its own", async () => {
    const storage = storageOf({ url: owner(), prefix: "foreign:" });
    await commandAs(owner(), "HSET", "foreign:k:k", "a", "b");
    await commandAs(owner(), "SET", "foreign:k:l", "text");
    for (const key of ["k", "l"]) {
      const failure = await failureOf(storage.kv.get(key));
      expect([failure.reason, failure.fix]).toEqual(["corrupt", expect.stringContaining("prefix")]);
    }
  });
});

describe("what is not a Redis", () => {
  const servers: NetServer[] = [];
  afterAll(() => {
    for (const server of servers) server.close();
  });
  const listen = (answer: string | undefined) =>
    new Promise<string>((resolve) => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        if (answer !== undefined) socket.on("data", () => socket.write(answer));
        socket.unref();
      });
      servers.push(server);
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(`redis://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
      });
    });

  it("is named where it answers something else", async () => {
    const storage = storageOf({ url: await listen("HTTP/1.1 400 Bad Request\r\n\r\n"), ...SOON });
    await until(async () => {
      const { reason, message } = await failureOf(storage.kv.get("k"));
      return reason === "unsupported" && message.includes("is not Redis");
    });
  });

  it("is given up where it accepts and says nothing", async () => {
    const storage = storageOf({ url: await listen(undefined), ...SOON });
    expect((await failureOf(storage.kv.get("k"))).reason).toBe("unavailable");
    expect((await failureOf(storage.pubsub.subscribe("t", () => {}))).reason).toBe("unavailable");
  });
});

async function commandAs(url: string, ...args: string[]): Promise<void> {
  const { createClient } = await import("@redis/client");
  const client = createClient({ url });
  await client.connect();
  await client.sendCommand(args);
  client.destroy();
}

async function configure(url: string, name: string, value: string): Promise<void> {
  await commandAs(url, "CONFIG", "SET", name, value);
}
