import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "closing a client ends every call that still runs, and refuses new ones",
  server: () =>
    new Server({ name: "slow", version: "1" }).tool(
      "wait",
      {},
      (_args, ctx) => new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve(""))),
    ),
  async run({ connect }) {
    const client = await connect();
    const calls = Promise.allSettled(Array.from({ length: 20 }, () => client.call("wait")));
    await client.ping();
    await client.close();
    for (const outcome of await calls) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { kind: "connection_closed" } });
    }
    await expect(client.call("wait")).rejects.toMatchObject({ kind: "connection_closed", fix: expect.any(String) });
    expect(client.state).toBe("closed");
  },
});
