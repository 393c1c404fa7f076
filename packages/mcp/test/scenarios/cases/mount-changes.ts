import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "changes inside a mounted server reach clients of the outer one: lists and resources",
  ids: ["TOOL-09", "RES-07"],
  server: () => {
    const inner = new Server({ name: "inner", version: "1" })
      .resource("note://1", {}, () => "x")
      .tool("first", {}, () => "1");
    return new Server({ name: "outer", version: "1" })
      .mount("in", inner)
      .tool("grow", {}, () => {
        inner.tool("second", {}, () => "2");
        return "grown";
      })
      .tool("touch", {}, () => {
        inner.resourceUpdated("note://1");
        return "touched";
      });
  },
  async run({ connect }) {
    const client = await connect();
    const changes = await client.subscribe("in+note://1");
    const next = changes[Symbol.asyncIterator]().next();
    await client.call("touch");
    expect((await next).value).toMatchObject({ kind: "resource", uri: "in+note://1" });
    await changes.close();
    await client.call("grow");
    // Whoever serves it may have to hear of the change first.
    const names = async () => (await client.allTools({ cache: false })).map(({ name }) => name).sort();
    await expect.poll(names).toEqual(["grow", "in_first", "in_second", "touch"]);
  },
});
