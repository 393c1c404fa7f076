import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "one object with methods is a whole server, prepared before its first request",
  ids: ["TOOL-01", "RES-01", "PROMPT-01"],
  server: () => {
    let ready = false;
    return Server.from(
      {
        async init() {
          await new Promise((resolve) => setTimeout(resolve, 10));
          ready = true;
        },
        listTools: () => [{ name: "echo", inputSchema: { type: "object" } }],
        callTool: (name, args) => `${name} ${JSON.stringify(args)} ${ready}`,
        listResources: () => [{ uri: "note://1", name: "one" }],
        readResource: (uri) => `the text of ${uri}`,
        listPrompts: () => [{ name: "greet" }],
        getPrompt: (name) => `please ${name}`,
        complete: () => ["yes", "no"],
      },
      { name: "object", version: "1" },
    ) as unknown as Server<Record<string, unknown>, { echo: { args: object; result: string } }>;
  },
  async run({ connect }) {
    const client = await connect();
    expect(client.serverCapabilities).toEqual({
      tools: { listChanged: true },
      resources: { listChanged: true },
      prompts: { listChanged: true },
      completions: {},
    });
    expect(await client.call("echo", { a: 1 })).toBe('echo {"a":1} true');
    expect((await client.readResource("note://1")).contents).toMatchObject([{ text: "the text of note://1" }]);
    expect((await client.getPrompt("greet")).messages).toMatchObject([{ content: { text: "please greet" } }]);
  },
});
