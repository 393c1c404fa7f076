import { describe, expect, it } from "vitest";
import { resolveSchema, typedValue, typesOf } from "./typed-value.js";

describe("typedValue", () => {
  it.each<[string, unknown, unknown]>([
    ["3", { type: "number" }, 3],
    ["-2.5e3", { type: "number" }, -2500],
    ["3", { type: "integer" }, 3],
    ["3", { type: "string" }, "3"],
    ["3", {}, "3"],
    ["3", undefined, "3"],
    ["true", { type: "boolean" }, true],
    ["null", { type: ["string", "null"] }, null],
    ["x", { type: ["number", "string"] }, "x"],
    ["7", { type: ["number", "string"] }, 7],
    ["[1]", { type: "array", items: { type: "number" } }, [1]],
    ["1", { type: "array", items: { type: "number" } }, [1]],
    ["a", { type: "array" }, ["a"]],
    ['{"a":1}', { type: "object" }, { a: 1 }],
    ["[not json", { type: ["array", "string"] }, "[not json"],
    ["2", { enum: [1, 2] }, 2],
    ["2", { anyOf: [{ type: "integer" }, { type: "boolean" }] }, 2],
    ["", { type: "string" }, ""],
  ])("reads %j by %j as %j", (text, schema, value) => {
    expect(typedValue(text, schema)).toEqual({ value });
  });

  it.each<[string, unknown, string]>([
    ["x", { type: "number" }, "not a number"],
    ["", { type: "number" }, "not a number"],
    ["1.5", { type: "integer" }, "not a whole number"],
    ["0x10", { type: "integer" }, "not a whole number"],
    ["yes", { type: "boolean" }, "not true or false"],
    ["{", { type: "object" }, "not valid JSON: line 1, column 2: close brace expected"],
    ["x", { type: "array", items: { type: "number" } }, "not a number"],
    ["x", { type: ["number", "null"] }, "not a number or null"],
  ])("refuses %j by %j: %s", (text, schema, problem) => {
    expect(typedValue(text, schema)).toEqual({ problem });
  });

  it("follows references, and ends where they lead to themselves", () => {
    const root = {
      $defs: { count: { type: "integer" }, "a/b": { $ref: "#/$defs/count" }, loop: { $ref: "#/$defs/loop" } },
    };
    expect(typedValue("3", { $ref: "#/$defs/a~1b" }, root)).toEqual({ value: 3 });
    expect(resolveSchema({ $ref: "#/$defs/loop" }, root)).toBeUndefined();
    expect(typedValue("3", { $ref: "#/$defs/loop" }, root)).toEqual({ value: "3" });
    const endless = { anyOf: [{ $ref: "#" }, { $ref: "#/anyOf/1" }] };
    expect([...typesOf(endless, endless)]).toEqual([]);
  });
});
