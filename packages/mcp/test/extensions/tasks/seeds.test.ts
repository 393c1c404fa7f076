import { connect, Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { gate, TestNodes, turns, warmUp } from "./nodes.js";

// Each of these was found by a seed of the simulation of tasks; here is what that seed showed, alone.

beforeAll(warmUp);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("a call that its handler makes a task", () => {
  it("leaves no task behind when its client goes while the task is stored", async () => {
    const ends: string[] = [];
    const nodes = new TestNodes((server) => {
      server.tool("late", { task: { support: "optional", begin: "handler" } }, async (_args, ctx) => {
        await ctx.startTask().catch((error: Error) => {
          ends.push("not started");
          throw error;
        });
        return "done";
      });
    });
    cleanups.push(() => nodes.end());
    const node = nodes.node("A");
    const storing = gate();
    const reached = gate();
    node.storage.before = async (operation, key) => {
      if (operation !== "set" || !/\/tasks\/[^/]+$/.test(key)) return;
      reached.open();
      await storing.opened;
    };
    const leaves = new AbortController();
    const client = await node.client();
    const call = client.request("tools/call", { name: "late", arguments: {} }, { signal: leaves.signal });
    await nodes.during(reached.opened);
    leaves.abort();
    await expect(nodes.during(call)).rejects.toMatchObject({ kind: "cancelled" });
    await turns(10);
    storing.open();
    await nodes.until(() => ends.length > 0);
    node.storage.before = () => {};
    // Three beats without a task, after which the process leaves its list.
    await nodes.pass(6_000);
    expect(nodes.keys()).toBe(0);
  });
});

describe("a server that closes while its storage fails", () => {
  it("closes all the same, and leaves its tasks to the lease", async () => {
    const wait = gate();
    const nodes = new TestNodes((server) => {
      server.tool("plain", { task: "required" }, async () => {
        await wait.opened;
        return "plain";
      });
    });
    cleanups.push(() => nodes.end());
    const node = nodes.node("A");
    await node.start("plain");
    node.storage.before = (_operation, key) => {
      if (key.includes("/task-nodes")) throw new Error("the storage is away");
    };
    await nodes.during(node.server.close());
    expect(node.warnings.join()).toContain("the storage is away");
    wait.open();
  });
});

describe("a client of the older form", () => {
  it("gets the result although the request that waits for it is never answered", async () => {
    const server = new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] }).tool(
      "asks",
      { task: "required" },
      async (_args, ctx) => `hello ${(await ctx.elicit("who?", z.object({ name: z.string() }))).name}`,
    );
    const client = await connect(server, {
      revisions: ["2025-11-25"],
      extensions: [tasks()],
      onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
    });
    cleanups.push(() => client.close());
    let hung = 0;
    client.use(async ({ method }, next) => {
      const result = next();
      // The server has asked and been answered, and then the connection is silent.
      if (method !== "tasks/result" || hung++ > 0) return result;
      await result;
      return new Promise<never>(() => {});
    });
    expect(await client.call("asks")).toBe("hello Ada");
    expect(hung).toBe(2);
  });
});
