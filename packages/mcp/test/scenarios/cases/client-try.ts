import { McpError, Server, ToolError } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "calls that end as values never throw, and say which call failed",
  server: () =>
    new Server({ name: "values", version: "1" })
      .tool("good", () => "yes")
      .tool("bad", () => {
        throw new ToolError("no");
      })
      .resource("note://a", {}, () => "a")
      .prompt("greet", {}, () => "hello"),
  async run({ connect }) {
    const client = await connect();
    expect(await client.tryCall("good")).toEqual({ ok: true, value: "yes" });
    const failures = [
      [await client.tryCall("bad"), "tool_error", { method: "tools/call", target: "bad" }],
      [
        await client.tryReadResource("note://b"),
        "resource_not_found",
        { method: "resources/read", target: "note://b" },
      ],
      [await client.tryGetPrompt("nobody"), "invalid_params", { method: "prompts/get", target: "nobody" }],
      [await client.tryRequest("tools/list", { cursor: "?" }), "invalid_params", { method: "tools/list" }],
      [await client.tryCall("good", {}, { signal: AbortSignal.abort() }), "cancelled", { method: "tools/call" }],
    ] as const;
    for (const [outcome, kind, operation] of failures) {
      expect(outcome).toMatchObject({ ok: false, error: { kind, operation } });
      expect(!outcome.ok && McpError.is(outcome.error)).toBe(true);
    }
    expect(await client.tryReadResource("note://a")).toMatchObject({ ok: true, value: { contents: [{ text: "a" }] } });
    expect(await client.tryGetPrompt("greet")).toMatchObject({ ok: true, value: { messages: [{}] } });
    expect(await client.tryRequest("tools/list")).toMatchObject({ ok: true });
    await client.close();
    expect(await client.tryCall("good")).toMatchObject({ ok: false, error: { operation: { target: "good" } } });
  },
});
