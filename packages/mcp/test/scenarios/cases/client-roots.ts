import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a handler sees the client's roots, also after they changed",
  ids: ["ROOT-01", "ROOT-02", "ROOT-03"],
  server: () =>
    new Server({ name: "walker", version: "1" }).tool("roots", {}, async (_args, ctx) =>
      (await ctx.roots()).map(({ uri }) => uri).join(" "),
    ),
  async run({ connect }) {
    const client = await connect({ roots: [{ uri: "file:///a" }, { uri: "file:///b", name: "b" }] });
    expect(await client.call("roots")).toBe("file:///a file:///b");
    await client.setRoots([{ uri: "file:///c" }]);
    expect(await client.call("roots")).toBe("file:///c");
    await Promise.all([
      client.roots.add({ uri: "file:///d" }),
      client.roots.add({ uri: "file:///e" }),
      client.roots.remove("file:///c"),
      client.roots.add({ uri: "file:///d", name: "again" }),
    ]);
    expect(await client.roots.list()).toEqual([{ uri: "file:///e" }, { uri: "file:///d", name: "again" }]);
    expect(await client.call("roots")).toBe("file:///e file:///d");
    await expect(client.roots.add({ uri: "https://elsewhere" })).rejects.toMatchObject({ kind: "invalid_definition" });
    await client.roots.set([]);
    expect(await client.call("roots")).toBe("");
    await expect((await connect()).roots.list()).rejects.toMatchObject({ kind: "capability_missing" });
  },
});
