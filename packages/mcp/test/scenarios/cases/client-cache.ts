import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a list is fetched once while it is fresh, and again when it changed",
  ids: ["CACHE-03", "CACHE-07"],
  except: { stateful: "results of this era carry no hints about how long they may be kept" },
  server: () => {
    const server = new Server({ name: "calm", version: "1" }, { cache: { ttlMs: 60_000, scope: "private" } });
    let lists = 0;
    server.use((call, next) => {
      if (call.method === "tools/list") lists++;
      return next();
    });
    return server
      .tool("lists", {}, () => String(lists))
      .tool("grow", {}, () => {
        server.tool("more", {}, () => "");
        return "";
      });
  },
  async run({ connect }) {
    const client = await connect();
    for (let turn = 0; turn < 10; turn++) expect(await client.allTools()).toHaveLength(2);
    expect(await client.call("lists")).toBe("1");
    const changes = await client.subscribe({ tools: true });
    await client.call("grow");
    for await (const { kind } of changes) {
      expect(kind).toBe("tools");
      break;
    }
    expect(await client.allTools()).toHaveLength(3);
    expect(await client.call("lists")).toBe("2");
  },
});
