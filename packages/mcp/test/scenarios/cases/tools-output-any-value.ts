import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool gives any JSON value, and a client gets it back in every revision that has structure",
  ids: ["TOOL-05", "TOOL-11", "TOOL-12"],
  server: () =>
    new Server({ name: "values", version: "1" })
      .tool("list", { output: z.array(z.number()) }, () => [1, 2])
      .tool("nothing", { output: z.null() }, () => null)
      .tool("either", { output: z.union([z.object({ a: z.number() }), z.string()]) }, () => ({ a: 1 }))
      .tool("perhaps", { output: z.object({ a: z.number() }).nullable() }, () => ({ a: 2 }))
      .mount(
        "inner",
        new Server({ name: "inner", version: "1" }).tool(
          "either",
          { output: z.union([z.object({ a: z.number() }), z.string()]) },
          () => ({ a: 3 }),
        ),
      )
      .tool("number", { output: z.number() }, () => 7)
      .tool("object", { output: z.object({ a: z.boolean() }) }, () => ({ a: true })),
  async run({ connect }) {
    const client = await connect();
    // From here on, results are checked against the schemas of the list.
    await client.allTools();
    expect(await client.call("either")).toEqual({ a: 1 });
    expect(await client.call("perhaps")).toEqual({ a: 2 });
    expect(await client.call("inner_either")).toEqual({ a: 3 });
    expect(await client.call("list")).toEqual([1, 2]);
    expect(await client.call("nothing")).toBeNull();
    expect(await client.call("number")).toBe(7);
    expect(await client.call("object")).toEqual({ a: true });
    expect((await client.callTool("list")).content).toEqual([{ type: "text", text: "[1,2]" }]);
  },
});
