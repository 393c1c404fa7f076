import { describe, expect, it } from "vitest";
import { branchOfValue, canShowValue } from "../../page/forms/model/field-branches.js";
import { formFieldOf } from "../../page/forms/model/form-model.js";
import { initialValue } from "../../page/forms/model/initial-value.js";
import { NESTED_SCHEMAS } from "./nested-schemas.js";
import { SCALAR_SCHEMAS } from "./scalar-schemas.js";
import { sketch } from "./sketch.js";

const CASES = [...SCALAR_SCHEMAS, ...NESTED_SCHEMAS];

// Written so, because objects with such a member are taken for promises by linters.
const THEN = "then";

describe("the form of a schema", () => {
  it.each(CASES)("shows %s", (_name, schema, form) => {
    expect(sketch(schema)).toBe(form);
  });

  it.each(CASES)("begins well with %s", (_name, schema, _form, begins) => {
    expect(initialValue(schema, schema)).toEqual(begins);
  });

  it("can show what it begins with", () => {
    for (const [name, schema, , begins] of CASES) {
      expect([name, canShowValue(formFieldOf(schema, schema, begins), begins)]).toEqual([name, true]);
    }
  });

  it("says in words what is demanded besides the type", () => {
    const hints = (schema: object) => formFieldOf(schema, schema, undefined).hints.join("; ");
    expect(hints({ type: "integer", minimum: 1, maximum: 9 })).toBe("1 to 9");
    expect(hints({ type: "number", exclusiveMinimum: 0, multipleOf: 0.5 })).toBe("above 0; a multiple of 0.5");
    expect(hints({ type: "string", minLength: 1 })).toBe("at least 1 character");
    expect(hints({ type: "string", minLength: 2, maxLength: 2, pattern: "^a" })).toBe(
      "exactly 2 characters; pattern ^a",
    );
    expect(hints({ type: "array", maxItems: 2, uniqueItems: true })).toBe("at most 2 items; unique items");
    expect(hints({ type: "string", examples: ["a", "b"] })).toBe('for example "a", "b"');
    expect(hints({ type: "object", oneOf: [{ required: ["a"] }, { required: ["b", "c"] }] })).toBe(
      "exactly one of: a | b and c",
    );
  });

  it("follows a condition once the value fulfils it", () => {
    const schema = {
      type: "object",
      properties: { country: { enum: ["US", "NO"] } },
      allOf: [
        {
          if: { properties: { country: { const: "US" } }, required: ["country"] },
          [THEN]: { properties: { zip: { type: "string" } }, required: ["zip"] },
        },
        {
          if: { properties: { country: { const: "NO" } }, required: ["country"] },
          [THEN]: { properties: { kommune: { type: "integer" } } },
        },
      ],
    };
    expect(sketch(schema, {})).toBe("{country:choice(US|NO)}");
    expect(sketch(schema, { country: "US" })).toBe("{country:choice(US|NO),zip*:text}");
    expect(sketch(schema, { country: "NO" })).toBe("{country:choice(US|NO),kommune:integer}");
  });

  it("follows members that demand others", () => {
    const schema = {
      type: "object",
      properties: { card: { type: "string" }, code: { type: "string" } },
      dependentRequired: { card: ["code"] },
      dependentSchemas: { code: { properties: { name: { type: "string" } } } },
    };
    expect(sketch(schema, {})).toBe("{card:text,code:text}");
    expect(sketch(schema, { card: "1" })).toBe("{card:text,code*:text}");
    expect(sketch(schema, { code: "1" })).toBe("{card:text,code:text,name:text}");
  });

  it("shows a list of constants item by item once it holds something else", () => {
    const schema = { type: "array", items: { enum: ["a", "b"] } };
    expect(sketch(schema, ["a"])).toBe("choices(a|b)");
    expect(sketch(schema, ["a", "a"])).toBe("[…choice(a|b)]");
    expect(sketch(schema, ["z"])).toBe("[…choice(a|b)]");
  });

  it("keeps what does not fit a field, by showing it as JSON", () => {
    const shows = (schema: object, value: unknown) => canShowValue(formFieldOf(schema, schema, value), value);
    expect(shows({ type: "string" }, 5)).toBe(false);
    expect(shows({ type: "number" }, "5")).toBe(false);
    expect(shows({ type: "boolean" }, null)).toBe(false);
    expect(shows({ type: ["boolean", "null"] }, null)).toBe(true);
    expect(shows({ type: "object" }, [])).toBe(false);
    expect(shows({ type: "array" }, {})).toBe(false);
    expect(shows({ enum: [{ a: 1 }] }, { a: 1 })).toBe(true);
    expect(shows({ enum: ["a"] }, "b")).toBe(false);
    expect(shows({ type: "string" }, undefined)).toBe(true);
  });
});

describe("the branch of a value", () => {
  const branches = [
    { title: "text", schema: { type: "string" } },
    {
      title: "circle",
      schema: {
        type: "object",
        properties: { kind: { const: "circle" }, r: { type: "number" } },
        required: ["kind", "r"],
      },
    },
    {
      title: "square",
      schema: {
        type: "object",
        properties: { kind: { const: "square" }, side: { type: "number" } },
        required: ["kind", "side"],
      },
    },
  ];

  it.each([
    ["of a type", "x", 0],
    ["that fits", { kind: "square", side: 2 }, 2],
    ["that is incomplete, by its constant", { kind: "square" }, 2],
    ["that is wrong, by its constant", { kind: "square", side: "wide", r: 1 }, 2],
    ["without the constant, by its members", { side: 2 }, 2],
    ["that is like none", 5, undefined],
    ["that is absent", undefined, undefined],
  ])("is found for a value %s", (_name, value, branch) => {
    expect(branchOfValue(branches, value, {})).toBe(branch);
  });
});
