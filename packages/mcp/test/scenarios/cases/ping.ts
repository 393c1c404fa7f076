import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a server is alive whenever it is asked, also while it works",
  ids: ["PING-01"],
  server: () =>
    new Server({ name: "worker", version: "1" }).tool(
      "hold",
      {},
      (_args, ctx) =>
        new Promise((resolve) => {
          ctx.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
        }),
    ),
  async run({ connect }) {
    const client = await connect();
    const stop = new AbortController();
    const held = client.call("hold", {}, { signal: stop.signal });
    for (let count = 0; count < 5; count++) await client.ping();
    stop.abort();
    await expect(held).rejects.toMatchObject({ kind: "cancelled" });
  },
});
