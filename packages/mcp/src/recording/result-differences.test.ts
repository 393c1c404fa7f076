import { describe, expect, it } from "vitest";
import { differencesOf } from "./result-differences.js";

describe("differencesOf", () => {
  it("names the path and both values", () => {
    expect(differencesOf({ a: { b: [1, 2] }, c: 1 }, { a: { b: [1, 3] } })).toEqual([
      { path: "a.b.1", recorded: 2, now: 3 },
      { path: "c", recorded: 1, now: undefined },
    ]);
  });

  it("compares lists of named things by name", () => {
    const before = { tools: [{ name: "a", title: "A" }, { name: "b" }] };
    const now = { tools: [{ name: "c" }, { name: "a", title: "B" }, { name: "b" }] };
    expect(differencesOf(before, now)).toEqual([
      { path: "tools.a.title", recorded: "A", now: "B" },
      { path: "tools.c", recorded: undefined, now: { name: "c" } },
    ]);
  });

  it("takes lists whose names are not unique by position", () => {
    const before = [{ name: "a" }, { name: "a" }];
    expect(differencesOf(before, [{ name: "a" }])).toEqual([{ path: "1", recorded: { name: "a" }, now: undefined }]);
  });

  it("leaves out what is ignored, with a star for any name", () => {
    const ignored = ["time", "list.*.id"];
    expect(differencesOf({ time: 1, list: [{ id: 1 }] }, { time: 2, list: [{ id: 2 }] }, ignored)).toEqual([]);
    expect(differencesOf({ other: 1 }, { other: 2 }, ignored)).toHaveLength(1);
  });

  it("accepts anything where a secret was left out", () => {
    expect(differencesOf({ key: "[redacted]", pin: "[redacted]" }, { key: "abc", pin: 12 })).toEqual([]);
    expect(differencesOf({ key: "12" }, { key: 12 })).toHaveLength(1);
  });

  it("tells a bounded number", () => {
    const many = Array.from({ length: 500 }, (_item, at) => at);
    expect(
      differencesOf(
        many,
        many.map((at) => -at - 1),
      ),
    ).toHaveLength(100);
  });
});
