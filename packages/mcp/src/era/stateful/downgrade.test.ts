import { describe, expect, it } from "vitest";
import { STRUCTURED_KEY, WRAPPED_KEY } from "../../protocol/meta.js";
import { featuresOf, type Revision } from "../../protocol/revisions.js";
import { downgradeResult } from "./downgrade.js";

const shape = (method: string, result: Record<string, unknown>, revision: Revision) =>
  downgradeResult(method, result, featuresOf(revision));

describe("an older revision", () => {
  it("gets tools without what it does not know", () => {
    const tool = {
      name: "t",
      title: "T",
      description: "d",
      inputSchema: { type: "object" },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      icons: [],
      _meta: { a: 1 },
    };
    const names = (revision: Revision) => {
      const { tools } = shape("tools/list", { tools: [tool] }, revision) as { tools: object[] };
      return Object.keys(tools[0] ?? {}).sort();
    };
    expect(names("2024-11-05")).toEqual(["_meta", "description", "inputSchema", "name"]);
    expect(names("2025-03-26")).toEqual(["_meta", "annotations", "description", "inputSchema", "name"]);
    expect(names("2025-06-18")).toEqual([
      "_meta",
      "annotations",
      "description",
      "inputSchema",
      "name",
      "outputSchema",
      "title",
    ]);
    expect(names("2025-11-25")).toEqual(Object.keys(tool).sort());
  });

  it("gets newer content as text (TOOL-10)", () => {
    const content = [
      { type: "audio", data: "AA==", mimeType: "audio/wav" },
      { type: "resource_link", uri: "x://y", name: "y" },
      { type: "text", text: "t" },
    ];
    const types = (revision: Revision) => {
      const result = shape("tools/call", { content }, revision) as { content: { type: string }[] };
      return result.content.map(({ type }) => type);
    };
    expect(types("2024-11-05")).toEqual(["text", "text", "text"]);
    expect(types("2025-03-26")).toEqual(["audio", "text", "text"]);
    expect(types("2025-06-18")).toEqual(["audio", "resource_link", "text"]);
  });

  it("gets structured content as it can: as marked text, wrapped, or as it is (TOOL-11, TOOL-12)", () => {
    const list = { content: [], structuredContent: [1, 2] };
    const json = { type: "text", text: "[1,2]" };
    expect(shape("tools/call", list, "2025-03-26")).toEqual({ content: [json], _meta: { [STRUCTURED_KEY]: 0 } });
    const spoken = { content: [{ type: "text", text: "two" }, json], structuredContent: [1, 2], _meta: { a: 1 } };
    expect(shape("tools/call", spoken, "2024-11-05")).toEqual({
      content: spoken.content,
      _meta: { a: 1, [STRUCTURED_KEY]: 1 },
    });
    expect(shape("tools/call", list, "2025-11-25")).toEqual({
      content: [],
      structuredContent: { result: [1, 2] },
      _meta: { [WRAPPED_KEY]: true },
    });
    expect(shape("tools/call", { content: [], structuredContent: null }, "2025-06-18")).toMatchObject({
      structuredContent: { result: null },
    });
    const tool = { name: "t", inputSchema: {}, outputSchema: { type: "array" } };
    expect(shape("tools/list", { tools: [tool] }, "2025-11-25")).toMatchObject({
      tools: [{ outputSchema: { type: "object", required: ["result"] } }],
    });
  });

  it("gets an object wrapped where the schema promises more than objects (TOOL-11)", () => {
    const result = { content: [], structuredContent: { a: 1 } };
    const wrapped = (revision: Revision) => downgradeResult("tools/call", result, featuresOf(revision), true);
    expect(wrapped("2025-11-25")).toEqual({
      content: [],
      structuredContent: { result: { a: 1 } },
      _meta: { [WRAPPED_KEY]: true },
    });
    expect(wrapped("2025-03-26")).toMatchObject({ content: [{ text: '{"a":1}' }] });
  });

  it("gets the same object when there is nothing to change", () => {
    const result = { content: [{ type: "text", text: "x" }] };
    for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const)
      expect(shape("tools/call", result, revision)).toBe(result);
  });
});
