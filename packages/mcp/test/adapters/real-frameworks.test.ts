import { type Client, connect } from "@parley/mcp";
import {
  type AnthropicCall,
  type GeminiCall,
  type OpenAIChatCall,
  type OpenAIResponsesCall,
  toAiSdkTools,
  toAnthropicTools,
  toGeminiTools,
  toLangChainTools,
  toOpenAITools,
} from "@parley/mcp/adapters";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadPeer, peersInstalled } from "../mounts/peer-packages.js";
import { adapterServer, PIXEL } from "./adapter-server.js";

if (!peersInstalled) console.log("the peers are not installed (npm run peers); no tool was given to a framework");

let client: Client;
let seen: unknown[];
beforeEach(async () => {
  const made = adapterServer();
  seen = made.seen;
  client = await connect(made.server);
});
afterEach(() => client.close());

type Run<T> = (request: object) => Promise<T>;

interface AiSdk {
  generateText: Run<{ text: string }>;
  stepCountIs(count: number): unknown;
}

interface LangChainTool {
  name: string;
  invoke(call: object, config?: object): Promise<Record<string, unknown>>;
}

interface OpenAIClient {
  responses: { create: Run<{ output: OpenAIResponsesCall[] }> };
  chat: { completions: { create: Run<{ choices: { message: { tool_calls: OpenAIChatCall[] } }[] }> } };
}

interface AnthropicClient {
  messages: { create: Run<{ content: AnthropicCall[] }> };
}

interface GeminiClient {
  models: { generateContent: Run<{ functionCalls: GeminiCall[] }> };
}

function first<T>(list: readonly T[] | undefined): T {
  const [one] = list ?? [];
  if (one === undefined) throw new Error("the list is empty");
  return one;
}

/** A provider that answers each request with the next of these, and what it was sent. */
function provider(replies: readonly object[]) {
  const requests: Record<string, unknown>[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }) => {
    requests.push(JSON.parse(String(init?.body)));
    const reply = replies[requests.length - 1];
    return new Response(JSON.stringify(reply), { headers: { "content-type": "application/json" } });
  };
  return { requests, fetch };
}

describe.skipIf(!peersInstalled)("with the real packages", () => {
  it("the Vercel AI SDK calls tools of a model and gives it their results", async () => {
    const { generateText, stepCountIs } = await loadPeer<AiSdk>("ai");
    const { MockLanguageModelV3 } = await loadPeer<{ MockLanguageModelV3: new (model: object) => object }>("ai/test");
    const prompts: unknown[] = [];
    const offered: { name: string; inputSchema: unknown }[] = [];
    const toolCall = (toolName: string, input: object) => ({
      type: "tool-call",
      toolCallId: toolName,
      toolName,
      input: JSON.stringify(input),
    });
    const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
    const usage = { inputTokens: tokens, outputTokens: tokens };
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt, tools }: { prompt: unknown[]; tools: typeof offered }) => {
        prompts.push(prompt);
        offered.push(...tools);
        const finish = (unified: string) => ({ finishReason: { unified, raw: unified }, usage, warnings: [] });
        if (prompts.length > 1) return { content: [{ type: "text", text: "done" }], ...finish("stop") };
        const calls = [
          toolCall("add", { a: 1, b: 2, tags: { x: "y" } }),
          toolCall("picture", {}),
          toolCall("fails", {}),
        ];
        return { content: calls, ...finish("tool-calls") };
      },
    });
    const tools = await toAiSdkTools(client);
    const { text } = await generateText({ model, tools, prompt: "add", stopWhen: stepCountIs(3) });
    expect(text).toBe("done");
    expect(seen).toEqual([{ a: 1, b: 2, tags: { x: "y" } }]);
    const [add] = await client.allTools();
    expect(offered.find(({ name }) => name === "add")?.inputSchema).toEqual(add?.inputSchema);
    const results = JSON.stringify(prompts[1]);
    expect(results).toContain('"value":"{\\"sum\\":3}"');
    expect(results).toContain(`"data":"${PIXEL}"`);
    expect(results).toContain("the disk is full");
  });

  it("LangChain tools run, with content, artifact, failures and signals", async () => {
    const { tool } = await loadPeer<{ tool(run: never, fields: never): LangChainTool }>("@langchain/core/tools");
    const { convertToOpenAITool } = await loadPeer<{ convertToOpenAITool(tool: unknown): unknown }>(
      "@langchain/core/utils/function_calling",
    );
    const tools = await toLangChainTools(client, { tool });
    const find = (name: string) => first(tools.filter((one) => one.name === name));
    const add = find("add");
    expect(convertToOpenAITool(add)).toMatchObject({ function: { name: "add", parameters: { required: ["a", "b"] } } });
    const invoke = (one: LangChainTool, args: object, config: object = {}) =>
      one.invoke({ type: "tool_call", id: "l1", name: one.name, args }, config);
    const message = await invoke(add, { a: 1, b: 2 });
    expect(message["content"]).toBe('{"sum":3}');
    expect(message["tool_call_id"]).toBe("l1");
    expect(message["artifact"]).toMatchObject({ structuredContent: { sum: 3 } });
    const picture = await invoke(find("picture"), {});
    expect(picture["content"]).toEqual([
      { type: "text", text: "a pixel" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ]);
    await expect(invoke(find("fails"), {})).rejects.toThrow("the disk is full");
    const stop = new AbortController();
    const waiting = invoke(find("waits"), {}, { signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toThrow();
  });

  it("OpenAI's client sends the tools of both APIs, and calls come back", async () => {
    const { OpenAI } = await loadPeer<{ OpenAI: new (options: object) => OpenAIClient }>("openai");
    const openai = await toOpenAITools(client);
    const args = JSON.stringify({ a: 1, b: 2, note: null, tags: null });
    const item = { type: "function_call", id: "f", call_id: "c1", name: "add", arguments: args, status: "completed" };
    const toolCalls = [{ id: "c2", type: "function", function: { name: "add", arguments: args } }];
    const { fetch, requests } = provider([
      { id: "r", object: "response", output: [item] },
      {
        id: "k",
        object: "chat.completion",
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: { role: "assistant", content: null, tool_calls: toolCalls },
          },
        ],
      },
    ]);
    const api = new OpenAI({ apiKey: "none", fetch });
    const response = await api.responses.create({
      model: "m",
      input: "add",
      tools: openai.responses,
    });
    expect(await openai.call(first(response.output))).toMatchObject({ output: '{"sum":3}' });
    const chat = await api.chat.completions.create({
      model: "m",
      messages: [],
      tools: openai.chat,
    });
    expect(await openai.call(first(first(chat.choices).message.tool_calls))).toMatchObject({ content: '{"sum":3}' });
    expect(requests.map(({ tools }) => tools)).toEqual([openai.responses, openai.chat]);
  });

  it("Anthropic's client sends the tools, and calls come back", async () => {
    const { Anthropic } = await loadPeer<{ Anthropic: new (options: object) => AnthropicClient }>("@anthropic-ai/sdk");
    const { tools, call } = await toAnthropicTools(client);
    const use = { type: "tool_use", id: "u1", name: "add", input: { a: 1, b: 2 } };
    const { fetch, requests } = provider([
      { id: "m", type: "message", role: "assistant", content: [use], stop_reason: "tool_use" },
    ]);
    const api = new Anthropic({ apiKey: "none", fetch });
    const message = await api.messages.create({
      model: "m",
      max_tokens: 9,
      messages: [{ role: "user", content: "add" }],
      tools,
    });
    expect(await call(first(message.content))).toMatchObject({
      tool_use_id: "u1",
      content: [{ type: "text", text: '{"sum":3}' }],
    });
    expect(requests[0]?.["tools"]).toEqual(tools);
  });

  it("Gemini's client takes the declarations, and calls come back", async () => {
    const { createServer } = await import("node:http");
    const { GoogleGenAI } = await loadPeer<{ GoogleGenAI: new (options: object) => GeminiClient }>("@google/genai");
    const bodies: { tools: unknown }[] = [];
    const functionCall = { id: "g1", name: "add", args: { a: 1, b: 2 } };
    const http = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += chunk;
      bodies.push(JSON.parse(text));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ functionCall }] } }] }));
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    try {
      const baseUrl = `http://127.0.0.1:${Object(http.address()).port}`;
      const api = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl } });
      const gemini = await toGeminiTools(client);
      const reply = await api.models.generateContent({
        model: "m",
        contents: "add",
        config: { tools: gemini.tools },
      });
      const { functionResponse } = await gemini.call(first(reply.functionCalls));
      expect(functionResponse).toEqual({ id: "g1", name: "add", response: { output: { sum: 3 } } });
      expect(bodies[0]?.tools).toEqual(gemini.tools);
    } finally {
      http.close();
    }
  });
});
