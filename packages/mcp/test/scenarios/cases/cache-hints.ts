import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "results carry how long and for whom they may be kept",
  ids: ["CACHE-01", "CACHE-09"],
  server: () =>
    new Server(
      { name: "calm", version: "1" },
      { cache: { ttlMs: 1000, scope: "public", prompts: { ttlMs: 5 } }, pageSize: 1 },
    )
      .tool("t", {}, () => "")
      .prompt("p", {}, () => "")
      .resource("note://1", {}, () => "")
      .resource("note://2", { cache: { ttlMs: 60_000, scope: "private" } }, () => "")
      .resourceTemplate("note://x/{y}", {}, () => ""),
  except: {
    stateful: "cache hints exist from 2026-07-28 on",
    "gateway-stateful": "a server with sessions says nothing of caching that the gateway could pass on",
  },
  async run({ connect }) {
    const client = await connect();
    const all = { ttlMs: 1000, cacheScope: "public" };
    expect(await client.request("server/discover")).toMatchObject(all);
    expect(await client.listTools()).toMatchObject(all);
    expect(await client.listPrompts()).toMatchObject({ ttlMs: 5, cacheScope: "public" });
    const first = await client.listResources();
    expect(first).toMatchObject(all);
    expect(await client.listResources(first.nextCursor)).toMatchObject(all);
    expect(await client.listResourceTemplates()).toMatchObject(all);
    expect(await client.readResource("note://1")).toMatchObject(all);
    expect(await client.readResource("note://2")).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
  },
});
