import { connect, Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function observedServer() {
  const seen: string[] = [];
  const durations: number[] = [];
  const server = new Server({ name: "s", version: "1" }, { extensions: [tasks({ pollIntervalMs: 10 })], onError() {} })
    .tool("boom", { task: "required" }, async () => {
      await later(50);
      throw new Error("boom");
    })
    .tool("fine", { task: "optional" }, () => "fine")
    .tool("never", { task: { support: "optional", begin: "handler" } }, () => "no task");
  server.observe({
    started: ({ method, name }) => method === "tools/call" && seen.push(`started ${name}`),
    ended({ method, name, outcome, failure, error, durationMs }) {
      if (method !== "tools/call") return;
      seen.push(`ended ${name} ${outcome} ${failure} ${error}`);
      durations.push(durationMs);
    },
  });
  return { server, seen, durations };
}

async function called(server: Server, tool: string) {
  const client = await connect(server, { revisions: ["2026-07-28"], extensions: [tasks()] });
  cleanups.push(() => client.close());
  return client.call(tool).then(String, (error: Error) => `failed: ${error.message}`);
}

describe("observers", () => {
  it("see the run of a task as a call of its own, with its failure and its time", async () => {
    const { server, seen, durations } = observedServer();
    await called(server, "boom");
    await expect.poll(() => seen).toHaveLength(4);
    expect(seen).toEqual([
      "started boom",
      "started boom",
      "ended boom ok undefined undefined",
      "ended boom tool_error handler_error Error: boom",
    ]);
    expect(durations[1]).toBeGreaterThanOrEqual(40);
  });

  it("see a task that ends well", async () => {
    const { server, seen } = observedServer();
    expect(await called(server, "fine")).toBe("fine");
    await expect.poll(() => seen.filter((one) => one.startsWith("ended fine ok"))).toHaveLength(2);
  });

  it("see a call once that does not become a task", async () => {
    const { server, seen } = observedServer();
    expect(await called(server, "never")).toBe("no task");
    expect(seen).toEqual(["started never", "ended never ok undefined undefined"]);
  });
});
