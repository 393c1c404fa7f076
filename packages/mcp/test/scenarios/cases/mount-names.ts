import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a server within a server is reached under its prefix: tools, prompts and resources",
  ids: ["TOOL-01", "TOOL-07"],
  server: () =>
    new Server({ name: "outer", version: "1" })
      .tool("own", {}, () => "outer")
      .mount(
        "in",
        new Server({ name: "inner", version: "1" })
          .tool("double", { input: z.object({ n: z.number() }), output: z.object({ n: z.number() }) }, ({ n }) => ({
            n: 2 * n,
          }))
          .resource("note://1", {}, () => "a note")
          .prompt("greet", {}, () => "hello"),
      ),
  async run({ connect }) {
    const client = await connect();
    expect((await client.allTools()).map(({ name }) => name)).toEqual(["own", "in_double"]);
    expect(await client.call("in_double", { n: 21 })).toEqual({ n: 42 });
    expect(await client.call("own")).toBe("outer");
    expect((await client.readResource("in+note://1")).contents).toMatchObject([{ uri: "in+note://1", text: "a note" }]);
    expect((await client.getPrompt("in_greet")).messages).toHaveLength(1);
  },
});
