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
    ['{"a": 1,}', 1, 9, "expected a name in double quotes, found `}`"],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected `,` or `}`, found `"`'],
    ["[1, 2", 1, 6, "expected `]`, but the text ends"],
    ["[1, 2,]", 1, 7, "expected a value, found `]`"],
    ['{"a" 1}', 1, 6, "expected `:`, found `1`"],
    ["{a: 1}", 1, 2, "expected a name in double quotes, found `a`"],
    ["tru", 1, 1, "expected a value, found `t`"],
    ['"abc', 1, 1, "the string has no closing quote"],
    ['"a\nb"', 1, 3, "line break or control character in a string; write it as an escape such as `\\n`"],
    ['"\\x"', 1, 2, "unknown escape sequence in a string"],
    ["01", 1, 2, "unexpected `1` after the value"],
    ["{} {}", 1, 4, "unexpected `{` after the value"],
    ["[", 1, 2, "expected a value, but the text ends"],
    ["undefined", 1, 1, "expected a value, found `u`"],
    ["'a'", 1, 1, "expected a value, found `'`"],
    ['{"a": [1, {"b": }]}', 1, 17, "expected a value, found `}`"],
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
      problem: expect.stringContaining("Not a number"),
    });
  });

  it("says what is not whole, and what cannot be exact", () => {
    expect(readNumberText("1.5", true).problem).toContain("whole");
    expect(readNumberText("12345678901234567890", true).problem).toContain("12345678901234567000");
    expect(readNumberText("9007199254740991", true).problem).toBeUndefined();
  });
});
