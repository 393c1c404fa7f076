import { describe, expect, it } from "vitest";
import {
  memberOf,
  sameJson,
  withItem,
  withMember,
  withMoved,
  withoutItem,
  withRenamed,
} from "../../page/forms/model/json-members.js";

describe("editing a value", () => {
  it("sets, keeps the place of, and takes out members", () => {
    expect(Object.keys(withMember({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
    expect(withMember({ a: 1 }, "b", null)).toEqual({ a: 1, b: null });
    expect(withMember({ a: 1 }, "a", undefined)).toEqual({});
    expect(withMember(undefined, "a", 1)).toEqual({ a: 1 });
    expect(withMember("text", "a", 1)).toEqual({ a: 1 });
  });

  it("takes __proto__ as a member like any other", () => {
    const value = withMember({}, "__proto__", "x");
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(memberOf(value, "__proto__")).toBe("x");
    expect(memberOf({}, "__proto__")).toBeUndefined();
    expect(memberOf({}, "toString")).toBeUndefined();
  });

  it("renames members at their place, but not onto another", () => {
    expect(Object.entries(withRenamed({ a: 1, b: 2 }, "a", "c"))).toEqual([
      ["c", 1],
      ["b", 2],
    ]);
    const value = { a: 1, b: 2 };
    expect(withRenamed(value, "a", "b")).toBe(value);
  });

  it("changes, moves and removes items", () => {
    expect(withItem([1, 2], 1, 3)).toEqual([1, 3]);
    expect(withItem([1], 1, undefined)).toEqual([1, null]);
    expect(withMoved([1, 2, 3], 2, -1)).toEqual([1, 3, 2]);
    expect(withMoved([1, 2, 3], 0, -1)).toEqual([1, 2, 3]);
    expect(withMoved([1, 2, 3], 2, 1)).toEqual([1, 2, 3]);
    expect(withoutItem([1, 2, 3], 1)).toEqual([1, 3]);
  });

  it("compares values whatever the order of members", () => {
    expect(sameJson({ a: [1, { b: 2 }], c: null }, { c: null, a: [1, { b: 2 }] })).toBe(true);
    expect(sameJson({ a: 1 }, { a: 1, b: undefined })).toBe(false);
    expect(sameJson([1, 2], [2, 1])).toBe(false);
    expect(sameJson(null, {})).toBe(false);
    expect(sameJson([], {})).toBe(false);
  });
});
