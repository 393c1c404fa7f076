import { connect, Server } from "@parley/mcp";
import { expect, it } from "vitest";

it("middleware of an outer server may change a mounted tool's result in place", async () => {
  const inner = new Server({ name: "inner", version: "1" }).tool(
    "secret",
    { output: { type: "object", properties: { key: { type: "string" } }, required: ["key"] } },
    () => ({ key: "hidden" }),
  );
  const outer = new Server({ name: "outer", version: "1" }).mount("in", inner).use(async (_call, next) => {
    const result = (await next()) as { structuredContent?: { key: string }; content?: { text: string }[] };
    if (result.structuredContent !== undefined) {
      result.structuredContent = { key: "***" };
      result.content = [];
    }
    return result;
  });
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    const client = await connect(outer, { revisions: [revision] });
    const { content, structuredContent } = await client.callTool("in_secret");
    expect([structuredContent, content]).toEqual([{ key: "***" }, []]);
    await client.close();
  }
});
