import { describe, expect, test } from "vitest";
import { rowAfterKey, scrollTopFor, visibleRows } from "./visible-rows.js";

describe("the rows of a virtual list", () => {
  test("that are shown are those in the window and a few beyond each edge", () => {
    const { from, to } = visibleRows(10_000, 30, { top: 3_000, height: 600 });
    expect(from).toBeLessThan(100);
    expect(to).toBeGreaterThan(120);
    expect(to - from).toBeLessThan(60);
  });

  test("stay inside the list, however it is scrolled", () => {
    expect(visibleRows(3, 30, { top: 0, height: 600 })).toEqual({ from: 0, to: 3 });
    expect(visibleRows(0, 30, { top: 900, height: 600 })).toEqual({ from: 0, to: 0 });
    const beyond = visibleRows(10, 30, { top: 90_000, height: 600 });
    expect(beyond.from).toBeGreaterThanOrEqual(0);
    expect(beyond.to).toBe(10);
  });

  test("move by keys, and stop at both ends", () => {
    expect(rowAfterKey("ArrowDown", 4, 10, 5)).toBe(5);
    expect(rowAfterKey("j", 9, 10, 5)).toBe(9);
    expect(rowAfterKey("k", 0, 10, 5)).toBe(0);
    expect(rowAfterKey("PageDown", 7, 10, 5)).toBe(9);
    expect(rowAfterKey("Home", 7, 10, 5)).toBe(0);
    expect(rowAfterKey("End", 0, 10, 5)).toBe(9);
    expect(rowAfterKey("ArrowDown", -1, 10, 5)).toBe(0);
  });

  test("are not moved by other keys, nor in an empty list", () => {
    for (const key of ["x", "toString", "Enter"]) expect(rowAfterKey(key, 4, 10, 5)).toBeUndefined();
    expect(rowAfterKey("ArrowDown", -1, 0, 5)).toBeUndefined();
  });

  test("are scrolled to only when they are not seen", () => {
    const seen = { top: 300, height: 300 };
    expect(scrollTopFor(12, 30, seen)).toBe(300);
    expect(scrollTopFor(2, 30, seen)).toBe(60);
    expect(scrollTopFor(30, 30, seen)).toBe(630);
  });
});
