import { expect, test } from "vitest";
import { linesOfPointers, problemLines } from "./problem-lines.js";

const message = {
  result: {
    tools: [
      { name: "a", inputSchema: {}, "with/slash": { "~": 1 } },
      { name: 12, list: [[], [1, "}"], {}] },
    ],
    'quote"d': null,
  },
  "": "empty",
};
const text = JSON.stringify(message, null, 2);
const lines = text.split("\n");

function pointersOf(value: unknown, pointer: string): string[] {
  if (typeof value !== "object" || value === null) return [pointer];
  const members = Object.entries(value).flatMap(([key, inner]) =>
    pointersOf(inner, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
  return [pointer, ...members];
}

test("every value of a message has its line", () => {
  expect([...linesOfPointers(text).keys()].sort()).toEqual(pointersOf(message, "").sort());
});

test("the line of a value is the one that it begins on", () => {
  const found = linesOfPointers(text);
  const lineOf = (pointer: string) => lines[found.get(pointer) ?? -1]?.trim();
  expect(lineOf("")).toBe("{");
  expect(lineOf("/result/tools/1/name")).toBe('"name": 12,');
  expect(lineOf("/result/tools/0/with~1slash/~0")).toBe('"~": 1');
  expect(lineOf("/result/tools/1/list/1/1")).toBe('"}"');
  expect(lineOf('/result/quote"d')).toBe('"quote\\"d": null');
  expect(lineOf("/")).toBe('"": "empty"');
});

test("a problem of a value that is missing stands at the value around it", () => {
  const missing = { path: "/result/tools/1/inputSchema/type", message: "is missing", definition: "Tool" };
  const [[line, problems] = []] = [...problemLines(text, [missing])];
  expect(lines[line ?? -1]?.trim()).toBe("{");
  expect(line).toBe(linesOfPointers(text).get("/result/tools/1"));
  expect(problems).toEqual([missing]);
});

test("problems of one place stand together, and one that is nowhere stands at the message", () => {
  const one = { path: "/result/tools/1/name", message: "one", definition: "Tool" };
  const two = { ...one, message: "two" };
  const nowhere = { path: "nonsense", message: "three", definition: "Tool" };
  const placed = problemLines(text, [one, two, nowhere]);
  expect(placed.get(linesOfPointers(text).get(one.path) ?? -1)).toEqual([one, two]);
  expect(placed.get(0)).toEqual([nowhere]);
});

test("a text that was cut anywhere has the lines up to the cut", () => {
  for (let end = 0; end < text.length; end += 1) {
    const found = linesOfPointers(text.slice(0, end));
    for (const line of found.values()) expect(line).toBeLessThan(lines.length);
  }
});

test("a message without problems is not read", () => {
  expect(problemLines("not JSON", []).size).toBe(0);
});
