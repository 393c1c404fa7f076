import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "who leaves the walk through a list early fetches no further page",
  ids: ["PAGE-01", "PAGE-03"],
  server: () => {
    const server = new Server({ name: "many", version: "1" }, { pageSize: 2 });
    let lists = 0;
    server.use((call, next) => {
      if (call.method === "tools/list") lists++;
      return next();
    });
    for (let n = 0; n < 9; n++) server.tool(`t${n}`, {}, () => "");
    return server.tool("lists", {}, () => String(lists));
  },
  except: {
    "gateway-stateful": "the gateway lists the server itself, and cuts the pages of its own clients",
    "gateway-stateless": "the gateway lists the server itself, and cuts the pages of its own clients",
  },
  async run({ connect }) {
    const client = await connect({ cache: false });
    const seen: string[] = [];
    for await (const { name } of client.tools()) {
      seen.push(name);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual(["t0", "t1", "t2"]);
    expect(await client.call("lists")).toBe("2");
    expect(await client.allTools()).toHaveLength(10);
  },
});
