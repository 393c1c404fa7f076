import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "an observer hears how every call ended, and nothing of what was said in it",
  ids: ["OTEL-02"],
  server: () => {
    const lines: string[] = [];
    const server = new Server({ name: "observed", version: "1" })
      .tool("ok", { input: z.object({ password: z.string() }) }, () => "fine")
      .tool("fails", {}, () => {
        throw new Error("no");
      })
      .tool("lines", {}, () => lines.join("\n"));
    server.observe({
      ended: (call) => {
        if (call.method === "tools/call") lines.push(`${call.name} ${call.outcome}`);
        if (JSON.stringify(call).includes("hunter2")) lines.push("leaked");
      },
    });
    return server;
  },
  async run({ connect }) {
    const client = await connect();
    await client.call("ok", { password: "hunter2" });
    await client.callTool("fails");
    expect(await client.call("lines")).toBe("ok ok\nfails tool_error");
  },
});
