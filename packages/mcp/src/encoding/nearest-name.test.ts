import { describe, expect, it } from "vitest";
import { nearestName } from "./nearest-name.js";

describe("the name that was probably meant", () => {
  it.each([
    ["filter", ["filters", "limit"], "filters"],
    ["user_id", ["userId", "id"], "userId"],
    ["USER-ID", ["userId", "id"], "userId"],
    ["ctiy", ["city", "country"], "city"],
    ["quey", ["query", "key"], "query"],
    ["x", ["y"], "y"],
  ])("%s among %j is %s", (name, known, meant) => {
    expect(nearestName(name, known)).toBe(meant);
  });

  it.each([
    ["completely", ["other", "names"]],
    ["a".repeat(65), ["a".repeat(64)]],
    ["query", []],
  ])("is nobody's guess for %s among %j", (name, known) => {
    expect(nearestName(name, known)).toBeUndefined();
  });
});
