import { Server } from "@parley/mcp";
import { quotas } from "@parley/mcp/limits";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool that is called too often says when to call it again, and other tools are served",
  server: () =>
    new Server({ name: "host", version: "1" }, { quotas: quotas() })
      .tool("rare", { rate: { calls: 2, perMs: 3_600_000, per: "server" } }, () => "served")
      .tool("other", {}, () => "served"),
  async run({ connect }) {
    const client = await connect();
    const results = [];
    for (let calls = 0; calls < 3; calls++) results.push(await client.callTool("rare", {}));
    expect(results.map(({ isError }) => isError === true)).toEqual([false, false, true]);
    expect(results[2]?.content).toEqual([
      { type: "text", text: expect.stringMatching(/^Too many calls: .* Wait \d+ s, then call again\.$/) },
    ]);
    expect(results[2]?._meta?.["dev.parley/failure"]).toMatchObject({ limit: 'rate of tool "rare"' });
    expect(await client.call("other", {})).toBe("served");
  },
});
