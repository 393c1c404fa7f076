import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "every list is cut into pages and keeps the order of registration",
  ids: ["PAGE-01", "PAGE-03"],
  server: () => {
    const server = new Server({ name: "many", version: "1" }, { pageSize: 4 });
    for (let n = 0; n < 10; n++) {
      server.tool(`tool${n}`, {}, () => "");
      server.resource(`item://${n}`, { name: `resource${n}` }, () => "");
      server.resourceTemplate(`family${n}://{x}`, { name: `template${n}` }, () => "");
      server.prompt(`prompt${n}`, {}, () => "");
    }
    return server;
  },
  async run({ connect }) {
    const client = await connect();
    expect((await client.listTools()).tools).toHaveLength(4);
    expect((await client.listPrompts()).prompts).toHaveLength(4);
    const names = (found: readonly { name: string }[]) => found.map(({ name }) => name);
    const ten = (kind: string) => Array.from({ length: 10 }, (_, n) => `${kind}${n}`);
    expect(names(await client.allTools())).toEqual(ten("tool"));
    expect(names(await client.allResources())).toEqual(ten("resource"));
    expect(names(await client.allResourceTemplates())).toEqual(ten("template"));
    expect(names(await client.allPrompts())).toEqual(ten("prompt"));
  },
});
