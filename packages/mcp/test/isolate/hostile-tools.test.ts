import { connect, Server } from "@parley/mcp";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { buildIsolation, type Isolation } from "./build-isolation.js";

let isolation: Isolation;

beforeAll(async () => {
  isolation = await buildIsolation("tools", "hostile-tools", "slow-module");
});
afterAll(() => isolation[Symbol.dispose]());
afterEach(() => void vi.useRealTimers());

const newServer = () => new Server({ name: "s", version: "1" }, { maskErrors: false, onError: () => {} });

describe.each(["worker", "process"] as const)("in a %s", (kind) => {
  it("messages of the tool's own harm no other call", async () => {
    const pool = isolation.isolatedPool({ kind, size: 1 });
    const server = newServer()
      .tool("it", {}, pool.tool(isolation.url("hostile-tools"), { export: "sendsItsOwn" }))
      .tool("where", {}, pool.tool(isolation.url("tools"), { export: "where" }));
    const client = await connect(server);
    const outcomes = await Promise.all(
      (["it", "where", "it", "where"] as const).map((tool) =>
        client.callTool(tool, {}, { onProgress: () => {} }).catch((error: unknown) => error),
      ),
    );
    expect(outcomes).toMatchObject([{}, { content: [{}] }, {}, { content: [{}] }]);
    await client.ping();
    await client.close();
    await server.close();
  });

  it("gives a worker one call at a time, whatever it says of itself", async () => {
    const url = isolation.url("hostile-tools");
    const input = z.object({ ms: z.number() });
    const pool = isolation.isolatedPool({ kind, size: 1 });
    const server = newServer().tool("it", { input }, pool.tool(url, { export: "claimsToBeReady" }));
    const client = await connect(server);
    const ended: number[] = [];
    await Promise.all([400, 1].map((ms) => client.call("it", { ms }).then(() => ended.push(ms))));
    expect(ended).toEqual([400, 1]);
    await client.close();
    await server.close();
  });

  it("does not begin a function whose call was cancelled while its module was loading", async () => {
    const count = isolation.isolated(isolation.url("slow-module"), { kind, size: 1, graceMs: 10_000 });
    const server = newServer().tool("count", {}, count);
    const client = await connect(server);
    const abort = new AbortController();
    const cancelled = client.callTool("count", {}, { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    await expect(cancelled).rejects.toMatchObject({ kind: "cancelled" });
    expect(await client.call("count")).toBe('{"runs":1}');
    await client.close();
    await server.close();
  });

  it("drops logs of a flood, and nothing that a client waits for", async () => {
    const options = { kind, export: "logsThenCompletes" };
    const server = newServer().tool("it", {}, isolation.isolated(isolation.url("hostile-tools"), options));
    const client = await connect(server, { revisions: ["2025-11-25"], onElicit: () => ({ action: "accept" }) });
    const completed = new Promise((resolve) => void client.on("notifications/elicitation/complete", resolve));
    await client.call("it");
    expect(await completed).toMatchObject({ elicitationId: "the one" });
    await client.close();
    await server.close();
  });

  it("fails a call whose worker does not start, and says what to look at", async () => {
    const hangs = ["--import", "data:text/javascript,await new Promise(() => setInterval(() => {}, 1000))"];
    const where = { kind, export: "where", execArgv: hangs };
    const server = newServer().tool("where", {}, isolation.isolated(isolation.url("tools"), where));
    const client = await connect(server, { timeouts: { idleMs: 600_000, totalMs: 600_000 } });
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const failed = client.callTool("where", {}).catch((error: unknown) => error);
    for (let waited = 0; waited < 40; waited++) {
      await new Promise((resolve) => setImmediate(resolve));
      await vi.advanceTimersByTimeAsync(1000);
    }
    vi.useRealTimers();
    expect(String(await failed)).toContain("could not be started");
    await client.close();
    await server.close();
  });
});
