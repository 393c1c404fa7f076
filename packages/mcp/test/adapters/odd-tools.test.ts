import { toAnthropicTools, toGeminiTools, toOpenAITools } from "@parley/mcp/adapters";
import type { CallToolResult, Tool } from "@parley/mcp/protocol";
import { describe, expect, it, vi } from "vitest";
import { PIXEL } from "./adapter-server.js";

/** A source of these tools, which keeps the arguments of calls. */
function sourceOf(tools: readonly Tool[], result: CallToolResult = { content: [] }) {
  const seen: unknown[] = [];
  const callTool = (_name: string, args?: Record<string, unknown>) => {
    seen.push(args);
    return Promise.resolve(result);
  };
  return { seen, source: { tools: () => tools, callTool } };
}

/** A tool with these arguments; from JSON, as a server sends it. */
const toolOf = (properties: string): Tool => ({
  name: "t",
  inputSchema: { type: "object", properties: JSON.parse(properties) as Record<string, object> },
});
const callOf = (args: object) =>
  ({ type: "function_call", call_id: "1", name: "t", arguments: JSON.stringify(args) }) as const;

describe("schemas that no provider can write", () => {
  it("keep a text a text where the tool wants nothing else", async () => {
    const { source, seen } = sourceOf([
      toolOf('{"zip":{"type":"string","allOf":[{"pattern":"^[0-9]"},{"pattern":"5$"}]}}'),
    ]);
    const openai = await toOpenAITools(source);
    const gemini = await toGeminiTools(source);
    for (const zip of ["12345", '"12345"']) {
      await openai.call(callOf({ zip }));
      await gemini.call({ name: "t", args: { zip } });
    }
    expect(seen).toEqual(Array(4).fill({ zip: "12345" }));
  });

  it("have no empty list of alternatives, which providers refuse", async () => {
    const { source } = sourceOf([
      toolOf('{"a":{"enum":[]},"b":{"anyOf":[]},"c":{"allOf":[{"enum":[1]},{"enum":[2]}]}}'),
    ]);
    for (const { tools } of [await toGeminiTools(source), { tools: (await toOpenAITools(source)).responses }]) {
      expect(JSON.stringify(tools)).not.toMatch(/"anyOf":\[(\]|\{"type":"null"\}\])/);
    }
  });

  it("keep an argument that is named like a member of every object", async () => {
    const either = '[{"type":"object","properties":{"__proto__":{"type":"string"}}}]';
    const tool = { name: "t", inputSchema: { type: "object" as const, anyOf: JSON.parse(either) as object[] } };
    const { responses } = await toOpenAITools(sourceOf([tool]).source);
    expect(Object.keys(responses[0]?.parameters["properties"] ?? {})).toEqual(["__proto__"]);
  });

  it("are written once, however often they are referred to", async () => {
    const same = { $ref: "#/$defs/node" };
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`p${index}`, same]));
    const node = { type: "object", properties: many };
    const tool: Tool = { name: "t", inputSchema: { type: "object", properties: { node: same }, $defs: { node } } };
    let written = 0;
    const { stringify } = JSON;
    const spied = vi.spyOn(JSON, "stringify").mockImplementation((value: unknown) => {
      const text = stringify(value);
      written += text?.length ?? 0;
      return text;
    });
    try {
      await toGeminiTools(sourceOf([tool]).source);
    } finally {
      spied.mockRestore();
    }
    expect(written).toBeLessThan(10_000_000);
  });
});

describe("tools that are not for models", () => {
  it("are left out, as those for pages alone are", async () => {
    const page = (visibility: unknown): Tool => ({ ...toolOf("{}"), name: "page", _meta: { ui: { visibility } } });
    for (const hidden of [["app"], [], "model"]) {
      expect((await toAnthropicTools(sourceOf([page(hidden)]).source)).tools).toEqual([]);
    }
    for (const shown of [["model"], ["app", "model"], undefined]) {
      expect((await toAnthropicTools(sourceOf([page(shown)]).source)).tools).toHaveLength(1);
    }
  });

  it("are offered once if they are listed twice", async () => {
    const { tools } = await toAnthropicTools(sourceOf([toolOf("{}"), toolOf('{"a":{"type":"string"}}')]).source);
    expect(tools).toHaveLength(1);
  });
});

it("a failure with an image says that it is one", async () => {
  const failed: CallToolResult = {
    isError: true,
    content: [
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "text", text: "too dark" },
    ],
  };
  const openai = await toOpenAITools(sourceOf([toolOf("{}")], failed).source);
  const { output } = await openai.call(callOf({}));
  expect(output).toMatchObject([{ text: "Error:" }, { type: "input_image" }, { text: "too dark" }]);
});
