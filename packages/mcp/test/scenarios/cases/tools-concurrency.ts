import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "no more calls of a tool run at once than it allows; the others wait, and too many are refused by name",
  ids: ["TOOL-18"],
  server: () => {
    let running = 0;
    let most = 0;
    let proceed = () => {};
    const full = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    return new Server({ name: "narrow", version: "1" }, { limits: { queuedCalls: 4 } })
      .tool("work", { concurrency: 2 }, async () => {
        most = Math.max(most, ++running);
        await full;
        running--;
        return "done";
      })
      .tool("proceed", {}, () => {
        proceed();
        return "";
      })
      .tool("most", {}, () => String(most));
  },
  async run({ connect }) {
    const client = await connect();
    const refused: unknown[] = [];
    const calls = Array.from({ length: 8 }, () =>
      client.call("work").catch((error: unknown) => {
        refused.push(error);
      }),
    );
    await expect.poll(() => refused.length).toBe(2);
    await client.call("proceed");
    await Promise.all(calls);
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ data: { limit: "concurrency", running: 2, queued: 4 } });
    expect(await client.call("most")).toBe("2");
    expect(await client.call("work")).toBe("done");
  },
});
