import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a subscription is iterated and left in the same way in every era, and nothing comes after that",
  ids: ["RES-07", "SUB-01", "SUB-07"],
  server: () => {
    const server = new Server({ name: "feed", version: "1" }).resource("feed:news", { name: "news" }, () => "n");
    return server.tool("publish", {}, () => {
      server.resourceUpdated("feed:news");
      return "";
    });
  },
  async run({ connect }) {
    const client = await connect();
    const subscription = await client.subscribe("feed:news");
    expect(subscription.accepted).toEqual({ resourceSubscriptions: ["feed:news"] });
    await client.call("publish");
    let turns = 0;
    for await (const change of subscription) {
      expect(change).toEqual({ kind: "resource", uri: "feed:news", missed: false });
      turns++;
      if (turns === 3) break;
      await client.call("publish");
    }
    await client.call("publish");
    expect(await subscription[Symbol.asyncIterator]().next()).toEqual({ value: undefined, done: true });
  },
});
