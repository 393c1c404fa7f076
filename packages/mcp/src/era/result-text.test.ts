import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cacheText, plainResultText, resultTextWithTail } from "./result-text.js";

const members = { resultType: "complete", ttlMs: 5, _meta: { server: { name: "s" } } };
const tail = { text: JSON.stringify(members).slice(1, -1), members };
const marked = (result: unknown) => JSON.parse(resultTextWithTail(result, "m", "2026-07-28", tail)) as object;

describe("a marked result", () => {
  it("has its own members and the markings, for every JSON object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (result) => {
        const { _meta, resultType, ttlMs, ...own } = JSON.parse(JSON.stringify(result)) as Record<string, unknown>;
        const got = marked(result) as Record<string, unknown>;
        expect(got["resultType"]).toBe("complete");
        expect(Object.entries(got).filter(([key]) => !Object.hasOwn(members, key))).toEqual(Object.entries(own));
      }),
    );
  });

  it("keeps a handler's own metadata and hints, and never its resultType", () => {
    expect(marked({ a: 1, resultType: "task", _meta: { mine: 1 }, ttlMs: 9 })).toEqual({
      a: 1,
      resultType: "complete",
      ttlMs: 9,
      _meta: { server: { name: "s" }, mine: 1 },
    });
  });

  it("is made from what JSON sees: toJSON, undefined members, nothing at all", () => {
    expect(marked(undefined)).toEqual(members);
    expect(marked({})).toEqual(members);
    expect(marked({ a: undefined })).toEqual(members);
    expect(marked({ toJSON: () => ({ b: 2, resultType: "x" }) })).toEqual({ b: 2, ...members });
  });

  it("with one block of text is what JSON makes of it, also when it only looks like one", () => {
    const block = { type: "text", text: 'a "b"\n\ud800 é' };
    const inherited = Object.create({ content: [block] }, { other: { value: 1, enumerable: true } });
    const hidden = Object.defineProperty({ ...block }, "text", { enumerable: false });
    const own = Object.assign([block], { toJSON: () => [] });
    for (const result of [
      { content: [block] },
      { content: [block], isError: true },
      { content: [{ ...block, annotations: {} }] },
      { content: [{ text: "x", type: "text" }] },
      { content: [{ type: "text", text: 5 }] },
      { content: [{ ...block, toJSON: () => 1 }] },
      { content: [hidden] },
      { content: own },
      { content: [] },
      { content: [block, block] },
      inherited,
    ]) {
      expect(plainResultText(result, "m", "2025-11-25", (value) => value)).toBe(JSON.stringify(result));
    }
  });

  it("refuses what is no object or no JSON, with a fix", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    for (const bad of [[], null, "x", 5, new Date(), { big: 1n }, cycle, () => {}]) {
      expect(() => marked(bad)).toThrow(expect.objectContaining({ kind: "misuse", fix: expect.any(String) }));
    }
  });
});

describe("a kept result", () => {
  it("is serialised once per revision", () => {
    let reads = 0;
    const result = cacheText({
      get tools() {
        reads++;
        return [];
      },
    });
    const text = plainResultText(result, "m", "2025-11-25", (value) => value);
    expect(plainResultText(result, "m", "2025-11-25", (value) => value)).toBe(text);
    expect(reads).toBe(1);
    resultTextWithTail(result, "m", "2026-07-28", tail);
    resultTextWithTail(result, "m", "2026-07-28", tail);
    expect(reads).toBe(2);
  });
});
