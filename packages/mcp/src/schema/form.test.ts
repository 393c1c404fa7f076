import { describe, expect, it } from "vitest";
import { applyDefaults, checkForm } from "./form.js";

const form = (properties: Record<string, unknown>, more: object = {}) =>
  ({ type: "object", properties, ...more }) as const;

describe("checkForm", () => {
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
    expect(checkForm(schema)).toEqual([]);
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
    expect(checkForm(schema)).toEqual([]);
  });

  const refused: [string, unknown, RegExp][] = [
    ["a list", [], /object schema/],
    ["another type", { type: "string" }, /"type": "object"/],
    ["no properties", { type: "object" }, /"properties"/],
    ["a nested object", form({ a: form({}) }), /property "a" must be a string.*not "object"/],
    ["a property without a type", form({ a: {} }), /property "a" must be a string/],
    ["a list of free text", form({ a: { type: "array", items: { type: "string" } } }), /list its choices/],
    ["a pattern", form({ a: { type: "string", pattern: "^a$" } }), /must not have "pattern"/],
    ["an unknown format", form({ a: { type: "string", format: "uuid" } }), /format "uuid"/],
    ["numbers in an enum", form({ a: { type: "string", enum: [1] } }), /strings in "enum"/],
    ["untitled oneOf", form({ a: { type: "string", oneOf: [{ const: "a" }] } }), /const, title/],
    ["an unknown required name", form({}, { required: ["b"] }), /"b", which is not a property/],
    ["a combinator", form({}, { allOf: [{}] }), /without "allOf"/],
    ["a malformed bound", form({ a: { type: "string", minLength: -1 } }), /minLength/],
  ];
  for (const [name, schema, problem] of refused) {
    it(`refuses ${name} (ELIC-04)`, () => {
      expect(checkForm(schema).join("\n")).toMatch(problem);
    });
  }
});

describe("applyDefaults", () => {
  const schema = form({
    a: { type: "string", default: "x" },
    b: { type: "boolean", default: false },
    c: { type: "number" },
  });

  it("returns the defaults of an untouched form (ELIC-07)", () => {
    expect(applyDefaults(schema, {})).toEqual({ a: "x", b: false });
  });

  it("keeps what was answered, and the answer itself", () => {
    const content = { a: "y", c: 1 };
    expect(applyDefaults(schema, content)).toEqual({ a: "y", b: false, c: 1 });
    expect(content).toEqual({ a: "y", c: 1 });
  });
});
