import { describe, expect, it } from "vitest";
import { coerceArguments, prepareCoercion } from "./coerce.js";
import type { JsonSchemaObject } from "./json-schema/json-schema.js";

const of = (property: JsonSchemaObject, more: object = {}): JsonSchemaObject => ({
  type: "object",
  properties: { a: property },
  ...more,
});

function coerceA(property: JsonSchemaObject, a: unknown): unknown {
  const { value } = coerceArguments({ a }, of(property));
  return (value as { a: unknown }).a; // the schema above puts the member there
}

describe("coerceArguments turns stringified values", () => {
  const turned: [string, JsonSchemaObject, string, unknown][] = [
    ["an array", { type: "array" }, "[1,2]", [1, 2]],
    ["an object", { type: "object" }, '{"b":1}', { b: 1 }],
    ["a number", { type: "number" }, "-5.25", -5.25],
    ["an integer", { type: "integer" }, "5", 5],
    ["an integer written as a fraction", { type: "integer" }, "5.0", 5],
    ["a boolean", { type: "boolean" }, "false", false],
    ["one of several types", { type: ["integer", "boolean"] }, "true", true],
    ["an optional array as pydantic writes it", { anyOf: [{ type: "array" }, { type: "null" }] }, "[1]", [1]],
    ["a choice of numbers", { enum: [1, 2, 3] }, "2", 2],
    ["items inside a stringified array", { type: "array", items: { type: "integer" } }, '["1",2]', [1, 2]],
  ];
  for (const [name, property, text, expected] of turned) {
    it(name, () => expect(coerceA(property, text)).toEqual(expected));
  }

  it("through references, nested members and additional properties", () => {
    const schema: JsonSchemaObject = {
      type: "object",
      properties: { p: { $ref: "#/$defs/point" } },
      additionalProperties: { type: "boolean" },
      $defs: { point: { type: "object", properties: { x: { type: "number" }, next: { $ref: "#/$defs/point" } } } },
    };
    const value = { p: { x: "1", next: '{"x":"2"}' }, q: "true" };
    expect(coerceArguments(value, schema)).toEqual({
      value: { p: { x: 1, next: { x: 2 } }, q: true },
      coercions: [
        { path: "/p/x", from: "string", to: "number" },
        { path: "/p/next", from: "string", to: "object" },
        { path: "/p/next/x", from: "string", to: "number" },
        { path: "/q", from: "string", to: "boolean" },
      ],
    });
    expect(value).toEqual({ p: { x: "1", next: '{"x":"2"}' }, q: "true" });
  });

  it("without touching the prototype when a member is named __proto__", () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"object"}}}');
    const { value } = coerceArguments(JSON.parse('{"__proto__":"{\\"polluted\\":true}"}'), schema);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true}}');
  });
});

describe("coerceArguments leaves alone", () => {
  const left: [string, JsonSchemaObject, unknown][] = [
    ["what the schema admits as a string", { type: ["string", "number"] }, "5"],
    ["what has no type", {}, "5"],
    ["a string alternative", { anyOf: [{ type: "number" }, { type: "string" }] }, "5"],
    ["an alternative without a type", { anyOf: [{ type: "number" }, { minLength: 1 }] }, "5"],
    ["a string among choices", { enum: ["5", 5] }, "5"],
    ["text that is no JSON", { type: "array" }, "[1,"],
    ["text of another type", { type: "array" }, "5"],
    ["text with spaces around a number", { type: "number" }, " 5 "],
    ["hexadecimal, NaN and empty text", { type: "number" }, "0x10"],
    ["an empty string", { type: "number" }, ""],
    ["a fraction for an integer", { type: "integer" }, "5.5"],
    ["an integer past 2^53", { type: "integer" }, "9007199254740993"],
    ["a number past all doubles", { type: "number" }, "1e400"],
    ["other spellings of booleans", { type: "boolean" }, "True"],
    ["null as text", { type: ["number", "null"] }, "null"],
    ["a reference it cannot follow", { $ref: "http://example.com/x" }, "5"],
    ["text deeper than a message may be", { type: "array" }, "[".repeat(200) + "]".repeat(200)],
    ["what is already right", { type: "array", items: { type: "integer" } }, [1, 2]],
  ];
  for (const [name, property, a] of left) {
    it(name, () => {
      const value = { a };
      const coerced = coerceArguments(value, of(property));
      expect(coerced.value).toBe(value);
      expect(coerced.coercions).toEqual([]);
    });
  }
});

it("prepareCoercion says when a schema has nothing to coerce", () => {
  expect(prepareCoercion({ type: "string" })).toBeUndefined();
  expect(prepareCoercion({})).toBeUndefined();
  expect(prepareCoercion({ properties: { a: { type: "string" }, b: { items: { type: "string" } } } })).toBeUndefined();
  expect(prepareCoercion({ properties: { a: { type: "number" } } })).toBeDefined();
});
