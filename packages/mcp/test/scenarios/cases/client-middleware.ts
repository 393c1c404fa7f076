import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "middleware of a client sees every call and may change what is sent and what comes back",
  server: () =>
    new Server({ name: "echo", version: "1" }).tool(
      "echo",
      { input: z.object({ text: z.string() }) },
      ({ text }) => text,
    ),
  async run({ connect }) {
    const client = await connect();
    const seen: string[] = [];
    client.use(async (call, next) => {
      seen.push(call.method);
      if (call.method !== "tools/call" || call.params === undefined) return next();
      const result = await next({ params: { ...call.params, arguments: { text: "changed" } } });
      return { ...result, content: [{ type: "text", text: `${JSON.stringify(result["content"])}!` }] };
    });
    expect(await client.call("echo", { text: "original" })).toBe('[{"type":"text","text":"changed"}]!');
    await client.allTools();
    expect(seen).toEqual(["tools/call", "tools/list"]);
  },
});
