import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a handler learns the client's folders, and that a client has none to tell",
  ids: ["ROOT-01", "ROOT-02", "ROOT-06"],
  server: () =>
    new Server({ name: "rooted", version: "1" }).tool("folders", {}, async (_args, ctx) =>
      ctx.client.can("roots") ? (await ctx.roots()).map(({ uri }) => uri).join(" ") : "none known",
    ),
  async run({ connect }) {
    const client = await connect({ roots: [{ uri: "file:///a", name: "A" }, { uri: "file:///b" }] });
    expect(await client.call("folders")).toBe("file:///a file:///b");
    const rootless = await connect();
    expect(await rootless.call("folders")).toBe("none known");
  },
});
