import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a client keeps results as long as it chooses, until the server announces a change",
  ids: ["CACHE-07"],
  server: () => {
    const server = new Server({ name: "calm", version: "1" });
    const asked: Record<string, number> = {};
    server.use((call, next) => {
      asked[call.method] = (asked[call.method] ?? 0) + 1;
      return next();
    });
    return server
      .resource("note://a", {}, () => "a")
      .tool("asked", {}, () => `${asked["resources/read"] ?? 0} ${asked["tools/list"] ?? 0}`)
      .tool("change", {}, () => {
        server.resourceUpdated("note://a");
        return "";
      });
  },
  async run({ connect }) {
    const client = await connect({ cache: { ttlMs: 60_000 } });
    for (let turn = 0; turn < 3; turn++) {
      await client.readResource("note://a");
      expect(await client.allTools()).toHaveLength(2);
    }
    expect(await client.call("asked")).toBe("1 1");
    const changes = await client.subscribe("note://a");
    await client.call("change");
    for await (const { uri } of changes) {
      expect(uri).toBe("note://a");
      break;
    }
    await client.readResource("note://a");
    await client.readResource("note://a");
    await client.allTools();
    expect(await client.call("asked")).toBe("2 1");
    await client.readResource("note://a", { cache: false });
    expect(await client.call("asked")).toBe("3 1");
  },
});
