import { connect, fetchHandler, Server } from "@parley/mcp";
import { memoryStorage } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, expect, it } from "vitest";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

it("SEC-15: a stranger does not get the message of an unexpected error, also after another node took the task over", async () => {
  const storage = memoryStorage();
  let runs = 0;
  const node = () => {
    const server = new Server(
      { name: "s", version: "1" },
      { storage, onError: () => {}, extensions: [tasks({ leaseMs: 60, pollIntervalMs: 10 })] },
    ).tool("fails", { task: "optional" }, async (_args, ctx) => {
      await ctx.step("a", () => 1);
      runs++;
      if (runs === 1) await new Promise((_, reject) => ctx.signal.addEventListener("abort", reject));
      throw new Error("the password is hunter2");
    });
    const handler = fetchHandler(server, { publicUrl: "https://example.com/mcp", allowUnauthenticated: true });
    const open = () =>
      connect("https://example.com/mcp", {
        revisions: ["2026-07-28"],
        extensions: [tasks()],
        fetch: (url, init) =>
          handler(new Request(url, { ...init, headers: { host: "example.com", ...init?.headers } })),
      });
    cleanups.push(() => server.close());
    return { server, open };
  };
  const first = node();
  const starter = await first.open();
  const handle = await starter.startTask("fails");
  await expect.poll(() => runs).toBe(1);
  await first.server.close();
  const client = await node().open();
  cleanups.push(
    () => client.close(),
    () => starter.close(),
  );
  const error = await client
    .task(handle.toJSON())
    .result()
    .catch((reason: unknown) => reason);
  expect(runs).toBe(2);
  expect(String(error)).toMatch(/internal error \(id /);
  expect(JSON.stringify(error)).not.toContain("hunter2");
});
