import { fetchHandler, Server } from "@parley/mcp";
import { type QuotaOptions, quotas } from "@parley/mcp/limits";
import { memoryStorage, type Storage, StorageFailure } from "@parley/mcp/storage";
import { fakeClock } from "@parley/mcp/testing";
import { describe, expect, it } from "vitest";
import { modern } from "../http/modern.js";
import { Drive } from "../server/drive.js";

const info = { name: "s", version: "1" };
const RATE = { calls: 10, perMs: 60_000 };

function limited(options: QuotaOptions, storage?: Storage, clock = fakeClock(1_700_000_000_000)) {
  const warnings: string[] = [];
  const platform = { ...clock.platform, warn: (line: string) => void warnings.push(line) };
  const running: (() => void)[] = [];
  const server = new Server(info, { quotas: quotas(options), storage, platform })
    .tool("quick", () => "done")
    .tool("rare", { rate: { calls: 2, perMs: 10_000 } }, () => "rare")
    .tool("scarce", { rate: { calls: 1, perMs: 10_000, per: "server" } }, () => "scarce")
    .tool("slow", async () => {
      await new Promise<void>((end) => running.push(end));
      return "slow";
    })
    .prompt("hello", {}, () => "hello");
  const as = (key: string, revision?: "2025-11-25") =>
    new Drive(server, { principal: { key }, ...(revision === undefined ? {} : { revision }) });
  return { server, clock, warnings, running, as };
}

const failed = (replies: { result?: { isError?: boolean } }[]) =>
  replies.filter(({ result }) => result?.isError === true);
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe.each(["2026-07-28", "2025-11-25"] as const)("a flood of one caller, %s", (revision) => {
  it("is refused beyond its rate with a hint for the model, and others are served (G15)", async () => {
    const { clock, as } = limited({ perPrincipal: { rate: RATE } });
    const mallory = as("mallory", revision === "2025-11-25" ? revision : undefined);
    const replies = await Promise.all(Array.from({ length: 100 }, () => mallory.call("quick")));
    expect(failed(replies)).toHaveLength(90);
    const { result, answer } = replies[99] ?? {};
    expect(result?.content?.[0]?.text).toBe(
      "Too many calls: at most 10 in 60 s for each caller. Wait 6 s, then call again.",
    );
    expect(result?.["_meta"]).toMatchObject({
      "dev.parley/failure": { kind: "limit_exceeded", limit: "quotas.perPrincipal.rate", retryAfterMs: 6000 },
    });
    expect(answer?.status).toBeUndefined();
    expect(failed([await as("alice").call("quick")])).toEqual([]);
    await clock.advance(6000);
    expect(failed([await mallory.call("quick"), await mallory.call("quick")])).toHaveLength(1);
  });

  it("is refused by an error with a status for other methods, which never is one of the reserved codes", async () => {
    const { as } = limited({ perPrincipal: { rate: { ...RATE, burst: 1 } } });
    const caller = as("mallory", revision === "2025-11-25" ? revision : undefined);
    await caller.send("prompts/get", { name: "hello" });
    const { error, answer } = await caller.send("prompts/get", { name: "hello" });
    expect(error).toMatchObject({ code: -32603, data: { limit: "quotas.perPrincipal.rate", retryAfterMs: 6000 } });
    expect(answer).toMatchObject({ status: 429, retryAfterMs: 6000 });
  });
});

describe("the rate of a tool", () => {
  it("is each caller's own, or one for all", async () => {
    const { as } = limited({});
    const [ada, bob] = [as("ada"), as("bob")];
    const calls = (drive: Drive, name: string) => Promise.all([drive.call(name), drive.call(name), drive.call(name)]);
    expect(failed([...(await calls(ada, "rare")), ...(await calls(bob, "rare"))])).toHaveLength(2);
    expect(failed([...(await calls(ada, "scarce")), ...(await calls(bob, "scarce"))])).toHaveLength(5);
    expect(failed(await calls(ada, "quick"))).toEqual([]);
  });

  it("counts for a mounted server too", async () => {
    const { server } = limited({});
    const outer = new Drive(new Server({ name: "outer", version: "1" }).mount("in", server), {
      principal: { key: "a" },
    });
    const replies = [await outer.call("in_scarce"), await outer.call("in_scarce")];
    expect(failed(replies)).toHaveLength(1);
  });

  it("needs `quotas`, and is checked when the tool is added", () => {
    const definition = { rate: { calls: 1, perMs: 1000 } };
    expect(() => new Server(info).tool("t", definition, () => "")).toThrow(
      expect.objectContaining({ fix: 'Pass `quotas: quotas()` to the server, from "@parley/mcp/limits".' }),
    );
    const server = new Server(info, { quotas: quotas() });
    expect(() => server.tool("t", { rate: { calls: 0, perMs: 1 } }, () => "")).toThrow(
      '`rate` of tool "t".calls` is 0',
    );
    expect(() => server.tool("t", { rate: { calls: 1, perMs: 1, brust: 2 } as never }, () => "")).toThrow("brust");
  });
});

describe("calls that run at once", () => {
  it.each(["node", "storage"] as const)("are bounded for each caller, counted on the %s", async (on) => {
    const clock = fakeClock(1_700_000_000_000);
    const { as, running } = limited({ perPrincipal: { calls: 2 }, on }, memoryStorage({ clock }), clock);
    const mallory = as("mallory");
    const waiting = [mallory.call("slow"), mallory.call("slow")];
    for (let tries = 0; tries < 50 && running.length < 2; tries++) await turn();
    expect((await mallory.call("quick")).result?.content?.[0]?.text).toContain("at most 2 calls for each caller");
    expect(failed([await as("alice").call("quick")])).toEqual([]);
    for (const end of running.splice(0)) end();
    await Promise.all(waiting);
    await turn();
    expect(failed([await mallory.call("quick")])).toEqual([]);
  });
});

describe("two nodes on one storage", () => {
  it("share the buckets of a caller and of a tool", async () => {
    const clock = fakeClock(1_700_000_000_000);
    const storage = memoryStorage({ clock });
    const options: QuotaOptions = { perPrincipal: { rate: RATE }, on: "storage" };
    const [one, two] = [limited(options, storage, clock), limited(options, storage, clock)];
    const drives = [one.as("ada"), two.as("ada")];
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, index) => drives[index % 2]?.call("quick") as never),
    );
    expect(failed(replies)).toHaveLength(30);
    const scarce = [await one.as("bob").call("scarce"), await two.as("eve").call("scarce")];
    expect(failed(scarce)).toHaveLength(1);
  });

  it("count each for itself while the storage fails, and say so once; or refuse", async () => {
    const fails = () => Promise.reject(new StorageFailure("unavailable", "The store is down.", "Start it."));
    const down: Storage = { ...memoryStorage(), kv: { get: fails, set: fails, delete: fails, touch: fails } };
    const node = limited({ perPrincipal: { rate: RATE, calls: 5 }, on: "storage" }, down);
    const replies = [];
    for (let count = 0; count < 12; count++) replies.push(await node.as("ada").call("quick"));
    expect(failed(replies)).toHaveLength(2);
    expect(node.warnings).toEqual([
      expect.stringContaining("this node counts on its own until the storage answers: The store is down."),
    ]);

    const strict = limited(
      { perPrincipal: { rate: RATE }, on: "storage", ifStorageFails: "refuse", refusal: "protocol" },
      down,
    );
    const { error, answer } = await strict.as("ada").call("quick");
    expect(error?.message).toBe("The server cannot count calls now. Wait 1 s, then call again.");
    expect(answer).toMatchObject({ status: 503, retryAfterMs: 1000 });
  });
});

describe("over HTTP", () => {
  it("a refusal by error has status 429 and `Retry-After`; callers without a principal count by address", async () => {
    const { server } = limited({ perPrincipal: { rate: { ...RATE, burst: 1 } }, refusal: "protocol" });
    const handler = fetchHandler(server);
    const post = () => {
      const { headers, body } = modern("tools/call", { name: "quick" });
      return handler(
        new Request("http://127.0.0.1/mcp", { method: "POST", body, headers: { ...headers, host: "127.0.0.1" } }),
      );
    };
    expect((await post()).status).toBe(200);
    const refused = await post();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "6"]);
    expect(await refused.json()).toMatchObject({ id: 1, error: { code: -32603, data: { retryAfterMs: 6000 } } });
  });
});

describe("calls that find the queue full", () => {
  it.each([
    ["concurrency", { queuedCalls: 10 }, { concurrency: 1 }, 11, 503],
    ["limits.calls", { calls: 1, queuedCalls: 1 }, {}, 2, 503],
    ["limits.callsPerPrincipal", { calls: 9, callsPerPrincipal: 1, queuedCalls: 10 }, {}, 10, 429],
  ] as const)(
    "of %s learn when to call again, as status and `Retry-After` over HTTP",
    async (limit, limits, tool, most, status) => {
      let release: () => void = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const server = new Server(info, { limits }).tool("slow", tool, () => held.then(() => "slow"));
      const handler = fetchHandler(server, { authenticate: () => ({ key: "ada" }) });
      const post = () => {
        const { headers, body } = modern("tools/call", { name: "slow" });
        return handler(
          new Request("http://127.0.0.1/mcp", { method: "POST", body, headers: { ...headers, host: "127.0.0.1" } }),
        );
      };
      const admitted = Array.from({ length: most }, post);
      const refused = await post();
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([status, "1"]);
      expect(await refused.json()).toMatchObject({
        error: {
          code: -32603,
          message: expect.stringContaining("Wait 1 s, then call again."),
          data: { limit, retryAfterMs: 1000 },
        },
      });
      release();
      expect((await Promise.all(admitted)).map((reply) => reply.status)).toEqual(Array(most).fill(200));
    },
  );
});

describe("options of quotas", () => {
  it.each([
    [{ perPrincipal: { rate: { calls: 0, perMs: 1 } } }, "`quotas.perPrincipal.rate.calls` is 0"],
    [{ perServer: { calls: 1.5 } }, "`quotas.perServer.calls` is 1.5"],
    [{ on: "redis" }, '`quotas.on` is "redis"'],
    [{ perPrinciple: {} }, "perPrinciple"],
  ])("that cannot be meant are refused: %o", (options, message) => {
    expect(() => quotas(options as never)).toThrow(message);
  });

  it("need a storage to count on one", () => {
    expect(() => new Server(info, { quotas: quotas({ on: "storage" }) })).toThrow("the server has no storage");
  });
});
