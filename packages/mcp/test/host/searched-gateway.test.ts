import { connect, Server } from "@parley/mcp";
import { startHost } from "@parley/mcp/host";
import { describe, expect, it } from "vitest";

const form = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] } as const;

describe("a gateway that is searched (E12)", () => {
  it.each(["2025-11-25", "2026-07-28"] as const)(
    "shows three tools for hundreds, and calls each in %s",
    async (revision) => {
      const many = new Server({ name: "many", version: "1" });
      for (let index = 0; index < 200; index++) {
        many.tool(`tool_${index}`, { description: `Counts the sheep of meadow ${index}` }, () => `${index} sheep`);
      }
      many.tool("pay_bill", { description: "Pays a bill" }, async (_args, ctx) => {
        ctx.progress(1);
        return (await ctx.elicit("Sure?", form)).sure ? "paid" : "not paid";
      });
      const host = await startHost({ servers: { many } });
      const front = host.asServer({ tools: "search" });
      const client = await connect(front, {
        revisions: [revision],
        onElicit: () => ({ action: "accept", content: { sure: true } }),
      });
      try {
        const tools = await client.allTools();
        expect(tools.map(({ name }) => name)).toEqual(["search_tools", "describe_tool", "call_tool"]);
        // About 1,500 tokens.
        expect(JSON.stringify(tools).length).toBeLessThan(6000);
        expect(await client.call("search_tools", { query: "pay a bill", limit: 1 })).toContain("many__pay_bill");
        expect(await client.call("describe_tool", { names: ["many__tool_7"] })).toContain("meadow 7");
        const steps: number[] = [];
        const onProgress = ({ progress }: { progress: number }) => steps.push(progress);
        const called = { name: "many__pay_bill", arguments: {} };
        expect(await client.call("call_tool", called, { onProgress })).toBe("paid");
        expect(steps).toContain(1);
        expect(await client.call("call_tool", { name: "many__tool_7" })).toBe("7 sheep");
        expect(await client.callTool("call_tool", { name: "many__tol_7" })).toMatchObject({ isError: true });
        const changed = new Promise<void>((resolve) => client.on("notifications/tools/list_changed", () => resolve()));
        const watching = await client.subscribe({ tools: true });
        many.tool("another", {}, () => "");
        await changed;
        await watching.close();
      } finally {
        await client.close();
        await front.close();
        await host.close();
      }
    },
  );

  it("is refused for another word", async () => {
    const host = await startHost({});
    expect(() => host.asServer({ tools: "few" as never })).toThrow(/`tools` of `asServer` is "few"/);
    await host.close();
  });
});
