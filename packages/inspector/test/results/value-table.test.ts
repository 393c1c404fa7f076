import { describe, expect, it } from "vitest";
import { cellText, valueTable } from "../../page/results/value-table.js";

describe("a value as a table", () => {
  it("has the members of all objects of a list as columns", () => {
    expect(valueTable([{ a: 1 }, { b: 2, a: 3 }])).toEqual({
      columns: ["a", "b"],
      rows: [
        [1, undefined],
        [3, 2],
      ],
      hidden: 0,
    });
  });

  it("has the names and values of an object as rows", () => {
    expect(valueTable({ sum: 9, ok: true })).toEqual({
      columns: ["name", "value"],
      rows: [
        ["sum", 9],
        ["ok", true],
      ],
      hidden: 0,
    });
  });

  it("is that of the list which is alone in an object", () => {
    expect(valueTable({ items: [{ a: 1 }] })?.columns).toEqual(["a"]);
    expect(valueTable({ items: [1, 2] })?.columns).toEqual(["name", "value"]);
  });

  it.each([[[]], [{}], [[1, 2]], [[{ a: 1 }, 2]], ["text"], [5], [null], [[null]], [[[1]]]])(
    "is none for %j",
    (value) => {
      expect(valueTable(value)).toBeUndefined();
    },
  );

  it("leaves out columns beyond a number, and says how many", () => {
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`c${index}`, index]));
    expect(valueTable([wide])).toMatchObject({ columns: { length: 50 }, hidden: 10 });
  });

  it("does not take members of the prototype for cells", () => {
    expect(valueTable([{ toString: 1 }, {}])?.rows).toEqual([[1], [undefined]]);
  });

  it("cuts cells", () => {
    expect(cellText(undefined)).toBe("");
    expect(cellText({ a: [1] })).toBe('{"a":[1]}');
    expect(cellText("x".repeat(300))).toHaveLength(201);
  });
});
