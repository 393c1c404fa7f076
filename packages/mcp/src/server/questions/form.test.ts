import { describe, expect, it } from "vitest";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";
import { toForm } from "./form.js";

const form = (properties: Record<string, unknown>, more: object = {}) =>
  ({ type: "object", properties, ...more }) as JsonSchemaObject;

describe("a form", () => {
  it("accepts every property kind of ELIC-05", () => {
    const schema = form(
      {
        name: { type: "string", title: "Name", description: "Yours", minLength: 1, maxLength: 50, default: "Ada" },
        email: { type: "string", format: "email" },
        home: { type: "string", format: "uri" },
        born: { type: "string", format: "date" },
        at: { type: "string", format: "date-time" },
        score: { type: "number", minimum: 0, maximum: 1, default: 0.5 },
        age: { type: "integer", minimum: 0 },
        agree: { type: "boolean", default: false },
      },
      { required: ["name", "agree"] },
    );
    expect(toForm(schema)).toEqual(schema);
  });

  it("accepts every enum shape of ELIC-06", () => {
    const titled = [
      { const: "#f00", title: "Red" },
      { const: "#0f0", title: "Green" },
    ];
    const schema = form({
      untitled: { type: "string", enum: ["red", "green"], default: "red" },
      titled: { type: "string", oneOf: titled },
      legacy: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
      many: { type: "array", items: { type: "string", enum: ["red", "green"] }, minItems: 1, maxItems: 2 },
      manyTitled: { type: "array", items: { anyOf: titled }, default: ["#f00"] },
    });
    expect(toForm(schema)).toEqual(schema);
  });

  it("leaves out what forms do not have", () => {
    const name = { type: "string", pattern: "^a$", format: "uuid", oneOf: [{ const: "a" }, { const: "b" }] };
    const { oneOf: _, ...free } = name;
    const asked = toForm(form({ name, free, age: { type: "integer", exclusiveMinimum: 0 } }, { allOf: [{}] }));
    expect(asked).toEqual(
      form({
        name: { type: "string", enum: ["a", "b"] },
        free: { type: "string" },
        age: { type: "integer", minimum: 1 },
      }),
    );
  });

  const refused: [string, JsonSchemaObject, RegExp][] = [
    ["another type", { type: "string" }, /object with properties/],
    ["no properties", { type: "object" }, /object with properties/],
    ["a nested object", form({ a: form({}) }), /property "a" must be a string.*not "object"/],
    ["a property without a type", form({ a: {} }), /property "a" must be a string/],
    ["a property that is no schema", form({ a: true }), /property "a" must be an object/],
    ["a list of free text", form({ a: { type: "array", items: { type: "string" } } }), /list its choices/],
    ["a list without choices", form({ a: { type: "array", items: { enum: [] } } }), /list its choices/],
    ["an empty enum", form({ a: { type: "string", enum: [] } }), /strings in "enum"/],
    ["an unknown required name", form({}, { required: ["b"] }), /"b", which is not a property/],
    ["a malformed bound", form({ a: { type: "string", minLength: -1 } }), /minLength/],
  ];
  for (const [name, schema, problem] of refused) {
    it(`refuses ${name} (ELIC-04)`, () => {
      expect(() => toForm(schema)).toThrow(problem);
    });
  }
});
