import type { StandardSchemaV1 } from "@standard-schema/spec";
import { toJsonSchema as valibotToJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod3";
import type { JsonSchemaObject } from "./json-schema/json-schema.js";
import {
  type AnySchema,
  type FromJsonSchema,
  type InferInput,
  type InferOutput,
  isStandardSchema,
  type JsonSchemaAdapter,
  toJsonSchema,
} from "./standard.js";

// Stands for every function of ours that takes a schema: literals are kept without `as const`.
// Only the types of what it gives are looked at, and expectTypeOf may reach into a proxy.
function infer<const S extends AnySchema>(_schema: S): { input: InferInput<S>; output: InferOutput<S> } {
  const anything: object = new Proxy({}, { get: () => anything });
  return anything as { input: InferInput<S>; output: InferOutput<S> };
}

it("InferInput and InferOutput know both sides of every library", () => {
  const zod = infer(z.object({ a: z.string(), b: z.number().default(1) }));
  expectTypeOf(zod.input).toEqualTypeOf<{ a: string; b?: number | undefined }>();
  expectTypeOf(zod.output).toEqualTypeOf<{ a: string; b: number }>();
  const zod3 = infer(z3.object({ a: z3.string().transform(Number) }));
  expectTypeOf(zod3.input).toEqualTypeOf<{ a: string }>();
  expectTypeOf(zod3.output).toEqualTypeOf<{ a: number }>();
  expectTypeOf(infer(v.object({ a: v.picklist(["x", "y"]) })).output).toEqualTypeOf<{ a: "x" | "y" }>();
  expectTypeOf(infer(type({ a: "string", "b?": "number" })).output).toEqualTypeOf<{ a: string; b?: number }>();
});

it("FromJsonSchema reads type, properties, required, enum, const and items of a literal", () => {
  const inferred = infer({
    type: "object",
    properties: {
      city: { type: "string" },
      unit: { enum: ["C", "F"] },
      kind: { const: "forecast" },
      days: { type: ["integer", "null"] },
      tags: { type: "array", items: { type: "string" } },
      free: {},
    },
    required: ["city", "tags"],
  }).input;
  expectTypeOf(inferred.city).toEqualTypeOf<string>();
  expectTypeOf(inferred.unit).toEqualTypeOf<"C" | "F" | undefined>();
  expectTypeOf(inferred.kind).toEqualTypeOf<"forecast" | undefined>();
  expectTypeOf(inferred.days).toEqualTypeOf<number | null | undefined>();
  expectTypeOf(inferred.tags).toEqualTypeOf<string[]>();
  expectTypeOf(inferred.free).toBeUnknown();
  expectTypeOf<FromJsonSchema<{ type: "object" }>>().toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf<FromJsonSchema<{ anyOf: [] }>>().toBeUnknown();
  expectTypeOf<FromJsonSchema<{ type: string }>>().toBeUnknown();
});

it("the converters of the libraries fit as adapters as they are", () => {
  expectTypeOf(valibotToJsonSchema).toExtend<JsonSchemaAdapter>();
  expectTypeOf(z.toJSONSchema).toExtend<JsonSchemaAdapter>();
  const schema = v.object({ n: v.pipe(v.string(), v.transform(Number), v.number()) });
  const what = 'tool "x" input';
  const sides = (["input", "output"] as const).map((io) =>
    toJsonSchema(schema, { io, what, adapter: valibotToJsonSchema }),
  );
  expect(sides).toMatchObject([{ properties: { n: { type: "string" } } }, { properties: { n: { type: "number" } } }]);
});

it("asks a schema's own method when the standard one is missing, before any adapter", () => {
  const { validate } = z.string()["~standard"];
  const schema: StandardSchemaV1 & { toJSONSchema(): unknown } = {
    "~standard": { version: 1, vendor: "home-made", validate },
    toJSONSchema: () => ({ type: "string" }),
  };
  expect(toJsonSchema(schema, { io: "input", what: "x", adapter: () => ({}) })).toEqual({ type: "string" });
});

it("tells Standard Schemas, callable ones included, from JSON Schemas", () => {
  expect([z.string(), v.string(), type("string"), z3.string()].every(isStandardSchema)).toBe(true);
  expect([{ type: "string" }, {}, null, undefined, "x", { "~standard": 1 }].some(isStandardSchema)).toBe(false);
});

it("keeps a JSON Schema verbatim (BASE-43)", () => {
  const schema: JsonSchemaObject = JSON.parse(`{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": { "a": { "$anchor": "x", "type": "string" } },
    "allOf": [{ "if": { "required": ["b"] }, "then": { "properties": { "b": { "$ref": "#x" } } } }],
    "x-mine": [1, null, { "deep": true }]
  }`);
  expect(toJsonSchema(schema, { io: "input", what: "x" })).toEqual(schema);
});

it("says where a schema cannot be converted", () => {
  const schema = z.object({ a: z.string(), list: z.array(z.object({ when: z.date().optional() })) });
  expect(() => toJsonSchema(schema, { io: "input", what: 'tool "t" input' })).toThrow(
    expect.objectContaining({
      path: "/list/when",
      message:
        'The schema of tool "t" input cannot be converted to JSON Schema: Date cannot be represented in JSON Schema (at /list/when)',
    }),
  );
});
