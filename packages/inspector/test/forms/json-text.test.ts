import { describe, expect, it } from "vitest";
import { jsonText, readJsonText, readNumberText } from "../../page/forms/model/json-text.js";

describe("JSON as text", () => {
  it.each([{}, [], null, 0, "", { a: [1, { b: null }] }])("comes back as it was: %j", (value) => {
    expect(readJsonText(jsonText(value))).toEqual({ ok: true, value });
  });

  it("is absent where there is no text", () => {
    expect(jsonText(undefined)).toBe("");
    expect(readJsonText(" \n")).toEqual({ ok: true, value: undefined });
  });

  it.each([
    ['{"a": 1,}', 1, 9, "has `}` where a name in quotation marks must be"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'has `"` where `,` or `}` must be'],
    ["[1, 2", 1, 6, "ends before `]`"],
    ["[1, 2,]", 1, 7, "has `]` where a value must be"],
    ['{"a" 1}', 1, 6, "has `1` where `:` must be"],
    ["{a: 1}", 1, 2, "has `a` where a name in quotation marks must be"],
    ["tru", 1, 1, "has `t` where a value must be"],
    ['"abc', 1, 1, "has a string without its closing quotation mark"],
    ['"a\nb"', 1, 3, "has a line break or control character inside a string; write it as `\\n`"],
    ['"\\x"', 1, 2, "has an escape that JSON does not know"],
    ["01", 1, 2, "goes on with `1` after its end"],
    ["{} {}", 1, 4, "goes on with `{` after its end"],
    ["[", 1, 2, "ends before a value"],
    ["undefined", 1, 1, "has `u` where a value must be"],
    ["'a'", 1, 1, "has `'` where a value must be"],
    ['{"a": [1, {"b": }]}', 1, 17, "has `}` where a value must be"],
  ])("says where %j is wrong", (text, line, column, message) => {
    expect(readJsonText(text)).toEqual({ ok: false, line, column, message });
  });

  it("finds the error behind many levels without running out of stack", () => {
    const text = `${"[".repeat(4_000)}x`;
    expect(readJsonText(text)).toMatchObject({ ok: false, line: 1, column: 4_001 });
  });
});

describe("the text of a number", () => {
  it.each([
    ["", undefined],
    [" 12 ", 12],
    ["-1.5e3", -1500],
    [".5", 0.5],
    ["1.", 1],
    ["+2", 2],
  ])("%j is read as %s", (text, value) => {
    expect(readNumberText(text, false)).toEqual({ value });
  });

  it.each(["-", "1e", "abc", "0x10", "1,5", "Infinity", "NaN", "1e999"])("%j is said to be none", (text) => {
    expect(readNumberText(text, false)).toMatchObject({
      value: undefined,
      problem: expect.stringContaining("not a number"),
    });
  });

  it("says what is not whole, and what cannot be exact", () => {
    expect(readNumberText("1.5", true).problem).toContain("whole");
    expect(readNumberText("12345678901234567890", true).problem).toContain("12345678901234567000");
    expect(readNumberText("9007199254740991", true).problem).toBeUndefined();
  });
});
