import { connect, Server } from "@parley/mcp";
import { startHost } from "@parley/mcp/host";
import { expect, it } from "vitest";

it("clients of a gateway take turns at a server that runs one call at a time", async () => {
  const order: string[] = [];
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const input = { type: "object", properties: { who: { type: "string" } }, required: ["who"] } as const;
  const server = new Server({ name: "a", version: "1" }).tool("note", { input }, async ({ who }) => {
    order.push(String(who));
    await gate;
    return "";
  });
  await using host = await startHost({ servers: { a: { server, concurrency: 1 } } });
  const gateway = host.asServer();
  const [many, few] = await Promise.all([connect(gateway), connect(gateway)]);
  const calls = [1, 2, 3, 4].map(() => many.callTool("a__note", { who: "many" }));
  await expect.poll(() => host.status()["a"]?.calls).toMatchObject({ running: 1, waiting: 3 });
  calls.push(few.callTool("a__note", { who: "few" }));
  await expect.poll(() => host.status()["a"]?.calls.waiting).toBe(4);
  release();
  await Promise.all(calls);
  expect(order).toEqual(["many", "many", "few", "many", "many"]);
  await Promise.all([many.close(), few.close()]);
});
