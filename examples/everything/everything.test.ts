import { connect } from "@parley/mcp";
import { REVISIONS } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { server } from "./server.js";
import { answers, tour } from "./tour.js";

describe("the example of everything", () => {
  it.each(["2025-11-25", "2026-07-28"] as const)("holds what it shows in %s", async (revision) => {
    const client = await connect(server, { ...answers, revisions: [revision] });
    const lines: string[] = [];
    await tour(client, (line) => lines.push(line));
    expect(lines.length).toBeGreaterThan(6);
    await client.close();
  });

  it.each(REVISIONS)("serves a client that asks nothing in %s", async (revision) => {
    const client = await connect(server, { revisions: [revision] });
    expect((await client.allTools()).length).toBeGreaterThan(15);
    expect((await client.callTool("sum", { numbers: [4, 5] })).content).toMatchObject([{ type: "text" }]);
    expect((await client.readResource("config://app")).contents).toHaveLength(1);
    expect((await client.callTool("media")).content).toHaveLength(5);
    await client.close();
  });

  it("says why each capability is on", () => {
    const off = server.explainCapabilities().filter(({ on }) => !on);
    expect(off).toEqual([]);
  });
});
