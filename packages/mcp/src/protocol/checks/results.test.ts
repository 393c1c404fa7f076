import { describe, expect, it } from "vitest";
import {
  checkCallToolResult,
  checkCompleteResult,
  checkDiscoverResult,
  checkGetPromptResult,
  checkInitializeResult,
  checkPromptList,
  checkReadResourceResult,
  checkResourceList,
  checkResourceTemplateList,
  checkToolList,
} from "./results.js";

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const text = { type: "text", text: "hello" };

describe("checkToolList", () => {
  it("leaves 49 tools of 50 when one is malformed, and says which", () => {
    const tools: unknown[] = Array.from({ length: 50 }, (_, index) => tool(`t${index}`));
    tools[17] = { name: "t17", inputSchema: "object" };
    const { items, result, problems } = checkToolList({ tools, nextCursor: "n" });
    expect(items).toHaveLength(49);
    expect(result?.tools).toBe(items);
    expect(result?.nextCursor).toBe("n");
    expect(problems).toEqual(['tools[17] (t17).inputSchema is not a JSON Schema of type "object"']);
  });

  it("returns a sound result itself, not a copy", () => {
    const value = { tools: [tool("a")], ttlMs: 0, cacheScope: "private", unknown: 1 };
    const { result, problems } = checkToolList(value);
    expect(result).toBe(value);
    expect(problems).toEqual([]);
  });

  it("keeps unknown members of tools (BASE-11)", () => {
    const odd = { ...tool("a"), "x-vendor": { deep: true } };
    expect(checkToolList({ tools: [odd] }).items[0]).toBe(odd);
  });

  it("leaves out optional members of a wrong type but keeps the tool", () => {
    const { items, problems } = checkToolList({ tools: [{ ...tool("a"), description: null, annotations: "none" }] });
    expect(items).toEqual([tool("a")]);
    expect(problems).toHaveLength(2);
  });

  it("takes a schema without a type for one of an object, since what is meant is plain", () => {
    const { items, problems } = checkToolList({ tools: [{ name: "a", inputSchema: { properties: {} } }] });
    expect(items).toEqual([{ name: "a", inputSchema: { type: "object", properties: {} } }]);
    expect(problems).toHaveLength(1);
  });

  it("leaves out a cursor that is null, and keeps one that is empty (PAGE-03)", () => {
    expect(checkToolList({ tools: [], nextCursor: null }).result).toEqual({ tools: [] });
    expect(checkToolList({ tools: [], nextCursor: "" }).result).toEqual({ tools: [], nextCursor: "" });
  });

  it("does not call a value without a list usable", () => {
    for (const value of [undefined, null, [], "tools", {}, { tools: {} }, { tools: null }]) {
      const { result, items, problems } = checkToolList(value);
      expect(result).toBeUndefined();
      expect(items).toEqual([]);
      expect(problems).toHaveLength(1);
    }
  });

  it("survives every kind of item", () => {
    const { items, problems } = checkToolList({ tools: [null, 1, "a", [], {}, { name: 1 }, tool("constructor")] });
    expect(items).toEqual([tool("constructor")]);
    expect(problems).toHaveLength(6);
  });
});

describe("the other lists", () => {
  it("leave out only what cannot be used", () => {
    expect(checkResourceList({ resources: [{ uri: "a:", name: "a" }, { uri: "b:" }] }).items).toEqual([
      { uri: "a:", name: "a" },
    ]);
    expect(checkResourceTemplateList({ resourceTemplates: [{ uriTemplate: "a:{b}", name: "a" }, 5] }).items).toEqual([
      { uriTemplate: "a:{b}", name: "a" },
    ]);
    const prompts = [{ name: "p", arguments: [{ name: "x", required: "yes" }, { description: "no name" }] }, {}];
    const checked = checkPromptList({ prompts });
    expect(checked.items).toEqual([{ name: "p", arguments: [{ name: "x" }] }]);
    expect(checked.problems).toHaveLength(3);
  });
});

describe("checkCallToolResult", () => {
  it("leaves out blocks that are no blocks, and keeps those of a type that is unknown", () => {
    const hologram = { type: "hologram", depth: 3 };
    const { result, problems } = checkCallToolResult({ content: [text, hologram, { type: "text" }] });
    expect(result).toEqual({ content: [text, hologram] });
    expect(problems).toHaveLength(2);
  });

  it("accepts structured content without content, with a complaint, but not nothing at all", () => {
    expect(checkCallToolResult({ structuredContent: { a: 1 } })).toEqual({
      result: { structuredContent: { a: 1 }, content: [] },
      problems: ["the result has no content"],
    });
    for (const value of [{}, { content: "text" }, null, "done"]) {
      expect(checkCallToolResult(value).result).toBeUndefined();
    }
  });

  it("never lets a failure that is spelt oddly pass for success", () => {
    expect(checkCallToolResult({ content: [], isError: "true" }).result).toBeUndefined();
    expect(checkCallToolResult({ content: [], isError: 1 }).result).toBeUndefined();
    expect(checkCallToolResult({ content: [], isError: null }).result).toEqual({ content: [] });
    expect(checkCallToolResult({ content: [], isError: true }).result).toEqual({ content: [], isError: true });
  });
});

describe("the other results", () => {
  it("are read with the same tolerance", () => {
    const contents = [{ uri: "a:", text: "" }, { uri: "a:" }];
    expect(checkReadResourceResult({ contents }).result).toEqual({ contents: [contents[0]] });
    const messages = [
      { role: "user", content: text },
      { role: "system", content: text },
      { role: "user", content: [text] },
    ];
    expect(checkGetPromptResult({ messages }).result).toEqual({ messages: [messages[0]] });
    expect(checkCompleteResult({ completion: { values: ["a"], total: "1" } }).result).toEqual({
      completion: { values: ["a"] },
    });
    expect(checkCompleteResult({ completion: { values: [1] } }).result).toBeUndefined();
  });

  it("of a handshake need a version, capabilities and a name", () => {
    const good = { protocolVersion: "v", capabilities: {}, serverInfo: { name: "n", version: "1" } };
    expect(checkInitializeResult(good)).toEqual({ result: good, problems: [] });
    for (const key of Object.keys(good)) {
      expect(checkInitializeResult({ ...good, [key]: undefined }).result).toBeUndefined();
    }
    expect(checkInitializeResult({ ...good, serverInfo: { name: "n" } }).result).toBeUndefined();
  });

  it("of a discovery need the list of versions", () => {
    const good = { supportedVersions: ["v"], capabilities: {}, ttlMs: 0, cacheScope: "public" };
    expect(checkDiscoverResult(good)).toEqual({ result: good, problems: [] });
    expect(checkDiscoverResult({ ...good, supportedVersions: "v" }).result).toBeUndefined();
    expect(checkDiscoverResult({ ...good, cacheScope: "all" }).problems).toHaveLength(1);
  });
});
