import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a cancelled call aborts the handler's signal, and its connection serves the next call",
  ids: ["CANC-01", "CANC-05"],
  server: () => {
    let aborted = 0;
    return new Server({ name: "patient", version: "1" })
      .tool("wait", {}, (_args, { signal }) => {
        signal.addEventListener("abort", () => aborted++);
        return new Promise<never>(() => {});
      })
      .tool("aborted", {}, () => String(aborted));
  },
  async run({ connect }) {
    const client = await connect();
    const controller = new AbortController();
    const waiting = client.callTool("wait", {}, { signal: controller.signal });
    const settled = expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
    expect(await client.call("aborted")).toBe("0");
    controller.abort();
    await settled;
    await expect.poll(() => client.call("aborted"), { interval: 10 }).toBe("1");
  },
});
