import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a template reads its variables out of a URI: decoded, optional, in any order",
  ids: ["RES-02"],
  server: () =>
    new Server({ name: "forge", version: "1" }).resourceTemplate(
      "repo://{owner}/{name}{?page,tags*}",
      { name: "repo", mimeType: "application/json" },
      (variables) => JSON.stringify(variables),
    ),
  async run({ connect }) {
    const client = await connect();
    expect(await client.allResourceTemplates()).toEqual([
      { uriTemplate: "repo://{owner}/{name}{?page,tags*}", name: "repo", mimeType: "application/json" },
    ]);
    const read = async (uri: string) => {
      const [found] = (await client.readResource(uri)).contents;
      expect(found?.uri).toBe(uri);
      return JSON.parse(found !== undefined && "text" in found ? found.text : "null");
    };
    expect(await read("repo://a%20b/c")).toEqual({ owner: "a b", name: "c" });
    expect(await read("repo://x/y?tags=1&page=2&tags=3")).toEqual({
      owner: "x",
      name: "y",
      page: "2",
      tags: ["1", "3"],
    });
    await expect(client.readResource("repo://only-one")).rejects.toMatchObject({ data: { uri: "repo://only-one" } });
  },
});
