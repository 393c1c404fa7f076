import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

function growing() {
  const server = new Server({ name: "shelf", version: "1" })
    .resource("book://1", {}, () => "one")
    .tool("swap", {}, () => {
      server.remove("resource", "book://1");
      server.resource("book://2", {}, () => "two").resourceTemplate("page://{n}", {}, ({ n }) => n);
      return "done";
    });
  return server;
}

export default scenario({
  name: "resources that come and go are told, and can be read and listed at once",
  ids: ["RES-08", "CACHE-07"],
  server: growing,
  async run({ connect }) {
    const client = await connect();
    expect((await client.allResources()).map(({ uri }) => uri)).toEqual(["book://1"]);
    const subscription = await client.subscribe({ resources: true });
    const oldName = await client.subscribe({ resourceList: true, resources: [] });
    await client.call("swap");
    expect((await subscription[Symbol.asyncIterator]().next()).value).toEqual({ kind: "resources", missed: false });
    expect((await client.allResources()).map(({ uri }) => uri)).toEqual(["book://2"]);
    expect((await client.readResource("page://7")).contents).toMatchObject([{ text: "7" }]);
    await expect(client.readResource("book://1")).rejects.toMatchObject({ data: { uri: "book://1" } });
    expect((await oldName[Symbol.asyncIterator]().next()).value).toEqual({ kind: "resources", missed: false });
    await subscription.close();
    for (const target of [{ tool: true }, { tools: "yes" }, { resources: [7] }, { resourceList: "book://1" }]) {
      // Wrong on purpose: what a caller without types may pass.
      await expect(client.subscribe(target as never)).rejects.toMatchObject({
        kind: "invalid_params",
        message: expect.stringContaining(Object.keys(target)[0] ?? ""),
        fix: expect.stringContaining("`resources: true`"),
      });
    }
  },
});
