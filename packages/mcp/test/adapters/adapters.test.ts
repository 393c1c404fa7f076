import { type Client, connect } from "@parley/mcp";
import {
  toAdkTools,
  toAiSdkTools,
  toAnthropicTools,
  toGeminiTools,
  toLangChainTools,
  toOpenAITools,
} from "@parley/mcp/adapters";
import { Host } from "@parley/mcp/host";
import type { Tool } from "@parley/mcp/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { adapterServer, PIXEL } from "./adapter-server.js";

let client: Client;
let seen: unknown[];
beforeEach(async () => {
  const made = adapterServer();
  seen = made.seen;
  client = await connect(made.server);
});
afterEach(() => client.close());

const named = <T extends { name: string }>(tools: readonly T[], name: string) =>
  tools.find((tool) => tool.name === name);
const responsesCall = (name: string, args: unknown) =>
  ({ type: "function_call", call_id: "c1", name, arguments: JSON.stringify(args) }) as const;

describe("tools for OpenAI", () => {
  it("are strict in both APIs, and calls come back as the server wants them", async () => {
    const openai = await toOpenAITools(client);
    const add = named(openai.responses, "add");
    expect(add).toEqual({
      type: "function",
      name: "add",
      description: "Adds numbers.",
      strict: true,
      parameters: {
        type: "object",
        properties: {
          a: { type: "integer", minimum: 0 },
          b: { type: "integer" },
          note: { type: ["string", "null"], description: "(minLength: 1)" },
          tags: { type: ["string", "null"], description: expect.stringContaining("JSON text of:") },
        },
        required: ["a", "b", "note", "tags"],
        additionalProperties: false,
      },
    });
    const { type, ...rest } = add ?? { type: "" };
    expect(openai.chat[0]).toEqual({ type, function: rest });
    expect(openai.lost).toEqual([
      { tool: "add", parts: ["note: minLength", "tags: JSON text, because it has properties with arbitrary names"] },
    ]);
    const args = { a: 1, b: 2, note: null, tags: '{"x":"y"}' };
    expect(await openai.call(responsesCall("add", args))).toEqual({
      type: "function_call_output",
      call_id: "c1",
      output: '{"sum":3}',
    });
    const chat = {
      type: "function",
      id: "c2",
      function: { name: "add", arguments: JSON.stringify({ ...args, tags: null }) },
    };
    expect(await openai.call(chat as never)).toEqual({ role: "tool", tool_call_id: "c2", content: '{"sum":3}' });
    expect(seen).toEqual([
      { a: 1, b: 2, tags: { x: "y" } },
      { a: 1, b: 2 },
    ]);
  });

  it("keep the schema without strict", async () => {
    const openai = await toOpenAITools(client, { strict: false });
    expect(named(openai.responses, "add")).toMatchObject({ strict: false, parameters: { required: ["a", "b"] } });
    await openai.call(responsesCall("add", { a: 1, b: 2, tags: { x: "y" } }));
    expect(seen).toEqual([{ a: 1, b: 2, tags: { x: "y" } }]);
  });

  it("give images, failures and mistakes to the model", async () => {
    const openai = await toOpenAITools(client);
    expect((await openai.call(responsesCall("picture", {}))).output).toEqual([
      { type: "input_text", text: "a pixel" },
      { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" },
    ]);
    const chat = await openai.call({ type: "function", id: "c", function: { name: "picture", arguments: "" } });
    expect(chat.content).toMatch(/^a pixel\n\[image of type image\/png, \d+ bytes\]$/);
    expect((await openai.call(responsesCall("fails", {}))).output).toMatch(/^Error: .*the disk is full/);
    expect((await openai.call(responsesCall("nothing", {}))).output).toBe("Error: unknown tool: nothing");
    expect((await openai.call(responsesCall("add", { a: -1 }))).output).toMatch(/^Error: /);
    expect((await openai.call(responsesCall("add", [1]))).output).toMatch(/not an object/);
    const broken = { ...responsesCall("add", {}), arguments: "{" };
    expect((await openai.call(broken)).output).toBe("Error: The arguments are not valid JSON.");
    await expect(openai.call({ type: "other" } as never)).rejects.toMatchObject({ kind: "misuse" });
  });
});

describe("tools for Anthropic", () => {
  it("have the server's schema, and results in blocks", async () => {
    const { tools, call, lost } = await toAnthropicTools(client);
    expect(named(tools, "add")?.input_schema).toMatchObject({ type: "object", required: ["a", "b"] });
    expect(lost).toEqual([]);
    const use = (name: string, input: unknown) => call({ type: "tool_use", id: "u1", name, input });
    expect(await use("add", { a: 1, b: 2 })).toEqual({
      type: "tool_result",
      tool_use_id: "u1",
      content: [{ type: "text", text: '{"sum":3}' }],
    });
    expect((await use("picture", {})).content[1]).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: PIXEL },
    });
    expect(await use("fails", {})).toMatchObject({ is_error: true });
    expect(await use("nothing", {})).toMatchObject({ is_error: true });
  });
});

describe("tools for Gemini and ADK", () => {
  it("are declared in Gemini's words, and results are its parts", async () => {
    const gemini = await toGeminiTools(client);
    const declared = gemini.tools[0]?.functionDeclarations ?? [];
    expect(named(declared, "add")?.parameters).toEqual({
      type: "OBJECT",
      properties: {
        a: { type: "INTEGER", minimum: 0 },
        b: { type: "INTEGER" },
        note: { type: "STRING", minLength: "1" },
        tags: { type: "STRING", description: expect.stringContaining("JSON text of:") },
      },
      required: ["a", "b"],
    });
    expect(named(declared, "fails")).toEqual({ name: "fails", description: "fails" });
    expect(await gemini.call({ id: "g1", name: "add", args: { a: 1, b: 2, tags: "{}" } })).toEqual({
      functionResponse: { id: "g1", name: "add", response: { output: { sum: 3 } } },
    });
    expect((await gemini.call({ name: "picture" })).functionResponse).toMatchObject({
      response: { output: expect.stringContaining("a pixel") },
      parts: [{ inlineData: { mimeType: "image/png", data: PIXEL } }],
    });
    expect((await gemini.call({ name: "fails", args: {} })).functionResponse.response).toEqual({
      error: expect.stringContaining("the disk is full"),
    });
    expect((await toGeminiTools({ tools: () => [], callTool: client.callTool })).tools).toEqual([]);
  });

  it("are made by the class of ADK", async () => {
    class FunctionTool {
      readonly options: { name: string; execute(args: unknown): Promise<unknown> };
      constructor(options: FunctionTool["options"]) {
        this.options = options;
      }
    }
    const tools = await toAdkTools(client, { FunctionTool });
    const run = (name: string, args: unknown) =>
      named(
        tools.map(({ options }) => options),
        name,
      )?.execute(args);
    expect(await run("add", { a: 1, b: 2 })).toEqual({ output: { sum: 3 } });
    expect(await run("fails", {})).toEqual({ error: expect.stringContaining("the disk is full") });
  });
});

describe("every adapter", () => {
  it("gives tools names that are legal, and finds them again", async () => {
    const openai = await toOpenAITools(client);
    const odd = openai.responses.find(({ name }) => name.startsWith("odd"))?.name ?? "";
    expect(odd).toMatch(/^odd_name_of_a_tool_[0-9a-f]{8}$/);
    expect((await openai.call(responsesCall(odd, {}))).output).toBe("odd");
    const again = await toAnthropicTools(client);
    expect(again.tools.map(({ name }) => name)).toContain(odd);
  });

  it("keeps names apart that become alike", async () => {
    const tool = (name: string): Tool => ({ name, inputSchema: { type: "object" } });
    const names = ["a b", "a.b", "a_b", "9", "x".repeat(100), "x".repeat(101), "", "ü", "constructor", "__proto__"];
    const called: string[] = [];
    const source = {
      tools: () => names.map(tool),
      callTool: async (name: string) => {
        called.push(name);
        return { content: [] };
      },
    };
    const { tools, call } = await toAnthropicTools(source);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(names.length);
    for (const { name } of tools) {
      expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
      await call({ type: "tool_use", id: "x", name, input: {} });
    }
    expect(called).toEqual(names);
    expect(Object.keys(await toAiSdkTools(source))).toHaveLength(names.length);
  });

  it("takes the tools of a host under the names that it gives them", async () => {
    const host = new Host({ servers: { here: adapterServer().server } });
    await host.start();
    const { tools, call } = await toAnthropicTools(host);
    expect(tools.map(({ name }) => name)).toContain("here__add");
    const result = await call({ type: "tool_use", id: "h", name: "here__add", input: { a: 1, b: 2 } });
    expect(result.content).toEqual([{ type: "text", text: '{"sum":3}' }]);
    await host.close();
  });

  it("passes on the signal that cancels", async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const calls = [
      (await toOpenAITools(client)).call(responsesCall("waits", {}), { signal }),
      (await toAnthropicTools(client)).call({ type: "tool_use", id: "w", name: "waits", input: {} }, { signal }),
      (await toGeminiTools(client)).call({ name: "waits" }, { signal }),
      (await toAiSdkTools(client))["waits"]?.execute({}, { abortSignal: signal }),
    ];
    stop.abort();
    for (const call of calls) await expect(call).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("takes tools from `allTools` and from `tools`, and says when there is neither", async () => {
    const tools = await client.allTools();
    const callTool = async () => ({ content: [] });
    for (const source of [client, { tools: () => tools, callTool }, { allTools: () => tools, callTool }]) {
      expect(Object.keys(await toAiSdkTools(source))).toHaveLength(5);
    }
    await expect(toAiSdkTools({ callTool })).rejects.toMatchObject({ kind: "misuse" });
    await expect(toAiSdkTools(client, { schemas: "other" as never })).rejects.toMatchObject({
      kind: "invalid_definition",
    });
    await expect(toOpenAITools(client, { strikt: true } as never)).rejects.toThrow(/did you mean "strict"/);
    const endless = {
      *tools() {
        for (let at = 0; ; at++) yield { name: `t${at}`, inputSchema: { type: "object" as const } };
      },
      callTool,
    };
    await expect(toLangChainTools(endless, { tool: () => undefined })).rejects.toMatchObject({
      kind: "limit_exceeded",
    });
  });
});
