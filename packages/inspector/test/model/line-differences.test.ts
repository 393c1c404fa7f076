import { describe, expect, it } from "vitest";
import { lineDifferences } from "../../page/model/line-differences.js";

const marked = (lines: readonly { text: string; differs: boolean }[]) =>
  lines.filter(({ differs }) => differs).map(({ text }) => text);

describe("differences of lines", () => {
  it("are none between equal texts, whatever follows a line", () => {
    const { left, right } = lineDifferences('{\n  "a": 1\n}', '{\n  "a": 1,\n  "b": 2\n}');
    expect(marked(left)).toEqual([]);
    expect(marked(right)).toEqual(['  "b": 2']);
  });

  it("mark what only one side has, and keep every line", () => {
    const { left, right } = lineDifferences("a\nb\nc\nd", "a\nx\nc\ny\nd");
    expect(left.map(({ text }) => text).join("\n")).toBe("a\nb\nc\nd");
    expect(marked(left)).toEqual(["b"]);
    expect(marked(right)).toEqual(["x", "y"]);
  });

  it("are not looked for in texts of many lines", () => {
    const { left, right } = lineDifferences("a\n".repeat(5_000), "b");
    expect(marked(left)).toEqual([]);
    expect(right).toEqual([{ text: "b", differs: false }]);
  });
});
