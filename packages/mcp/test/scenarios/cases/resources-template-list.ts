import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a template may list members of its family beside the single resources",
  ids: ["RES-02", "PAGE-01"],
  server: () =>
    new Server({ name: "forge", version: "1" }, { pageSize: 2 })
      .resource("repo://pinned", {}, () => "pinned")
      .resourceTemplate(
        "repo://{name}",
        { mimeType: "text/plain", list: async () => [{ variables: { name: "a b" } }, { uri: "repo://c", title: "C" }] },
        ({ name }) => name,
      ),
  async run({ connect }) {
    const client = await connect();
    expect((await client.listResources()).resources).toHaveLength(2);
    const all = await client.allResources();
    expect(all.map(({ uri }) => uri)).toEqual(["repo://pinned", "repo://a%20b", "repo://c"]);
    expect(all[2]).toEqual({ uri: "repo://c", name: "repo://c", title: "C", mimeType: "text/plain" });
    const read = await client.readResource("repo://a%20b");
    expect(read.contents).toMatchObject([{ text: "a b" }]);
  },
});
