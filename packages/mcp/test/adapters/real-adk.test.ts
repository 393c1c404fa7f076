import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { connect } from "@parley/mcp";
import { toAdkTools } from "@parley/mcp/adapters";
import { describe, expect, it } from "vitest";
import { adapterServer } from "./adapter-server.js";

const folder = new URL("../peers/adk/package.json", import.meta.url);
const isInstalled = existsSync(new URL("node_modules", folder));
if (!isInstalled) console.log("the Agent Development Kit is not installed (npm run peers); no tool was given to it");

interface ModelRequest {
  readonly contents: readonly { parts?: readonly { functionResponse?: { name: string; response: unknown } }[] }[];
  readonly config?: { tools?: readonly { functionDeclarations?: readonly { name: string; parameters: unknown }[] }[] };
}

interface Model {
  generateContentAsync(request: ModelRequest): AsyncGenerator<object, void>;
}

interface Adk {
  BaseLlm: new (options: { model: string }) => object;
  FunctionTool: new (definition: never) => object;
  LlmAgent: new (options: { name: string; model: object; tools: object[] }) => object;
  InMemoryRunner: new (options: {
    agent: object;
  }) => {
    runEphemeral(options: object): AsyncGenerator<{ content?: { parts?: { text?: string }[] } }, void>;
  };
}

describe.skipIf(!isInstalled)("Google's Agent Development Kit", () => {
  it("offers the tools to a model, and runs its calls", async () => {
    // Its types need packages that are not installed for us, so that the test names what it uses.
    const adk = (await import(pathToFileURL(createRequire(folder).resolve("@google/adk")).href)) as Adk;
    const { server, seen } = adapterServer();
    const client = await connect(server);
    const requests: ModelRequest[] = [];
    class Stub extends adk.BaseLlm implements Model {
      async *generateContentAsync(request: ModelRequest) {
        requests.push(request);
        const call = (name: string, args: object) => ({ functionCall: { id: name, name, args } });
        const calls = [call("add", { a: 1, b: 2, tags: '{"x":"y"}' }), call("fails", {})];
        yield { content: { role: "model", parts: requests.length === 1 ? calls : [{ text: "done" }] } };
      }
      connect() {
        throw new Error("not live");
      }
    }
    try {
      const tools = await toAdkTools(client, { FunctionTool: adk.FunctionTool });
      const agent = new adk.LlmAgent({ name: "agent", model: new Stub({ model: "stub" }), tools });
      const runner = new adk.InMemoryRunner({ agent });
      const texts: unknown[] = [];
      for await (const event of runner.runEphemeral({
        userId: "u",
        newMessage: { role: "user", parts: [{ text: "add" }] },
      })) {
        texts.push(...(event.content?.parts ?? []).flatMap(({ text }) => text ?? []));
      }
      expect(texts).toEqual(["done"]);
      expect(seen).toEqual([{ a: 1, b: 2, tags: { x: "y" } }]);
      const declared = requests[0]?.config?.tools?.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
      expect(declared?.find(({ name }) => name === "add")?.parameters).toMatchObject({
        type: "OBJECT",
        required: ["a", "b"],
      });
      const responses = requests[1]?.contents.flatMap(({ parts = [] }) =>
        parts.flatMap((part) => part.functionResponse ?? []),
      );
      expect(responses?.map(({ name, response }) => [name, response])).toEqual([
        ["add", { output: { sum: 3 } }],
        ["fails", { error: expect.stringContaining("the disk is full") }],
      ]);
    } finally {
      await client.close();
    }
  });
});
