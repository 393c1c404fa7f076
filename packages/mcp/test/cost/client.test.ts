import { connect, Server } from "@parley/mcp";
import { expect, it } from "vitest";
import { virtualTime } from "../http-client/virtual-time.js";
import { countStepsUntil } from "./cost.js";

/** The steps of closing a client with so many calls in flight, on a clock that stands still. */
async function stepsOfClosing(calls: number): Promise<number> {
  let begun = 0;
  const server = new Server({ name: "s", version: "1" }).tool("wait", {}, () => {
    begun += 1;
    return new Promise<string>(() => {});
  });
  const client = await connect(server, { platform: virtualTime().platform });
  const kinds = Array.from({ length: calls }, () =>
    client.callTool("wait").then(String, ({ kind }: { kind: string }) => kind),
  );
  await expect.poll(() => begun).toBe(calls);
  const steps = await countStepsUntil(async () => {
    await client.close();
    expect(new Set(await Promise.all(kinds))).toEqual(new Set(["connection_closed"]));
  });
  return steps;
}

it("a client with 1,000 calls in flight closes without waiting, and each call ends in a few steps", async () => {
  const few = await stepsOfClosing(125);
  const many = await stepsOfClosing(1_000);
  expect(many).toBeLessThanOrEqual(12 * few);
  expect(many).toBeLessThanOrEqual(500 * 1_000);
});
