import { describe, expect, it } from "vitest";
import { fitsSchema } from "../../page/forms/model/fits-schema.js";
import { MAX_BRANCHES, MAX_MEMBERS } from "../../page/forms/model/form-field.js";
import { formFieldOf } from "../../page/forms/model/form-model.js";
import { initialValue } from "../../page/forms/model/initial-value.js";
import { sketch } from "./sketch.js";

/** Wraps a schema many times. */
function nested(levels: number, wrap: (inner: object) => object, innermost: object = { type: "string" }): object {
  let schema = innermost;
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
const required = (inner: object) => ({ type: "object", properties: { a: inner }, required: ["a"] });

// Written so, because objects with such a member are taken for promises by linters.
const THEN = "then";

describe("the form of a hostile schema", () => {
  it.each([
    ["in a circle of two", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }],
    ["in a circle through allOf", { allOf: [{ $ref: "#" }] }],
    ["in a circle through anyOf", { anyOf: [{ $ref: "#" }, { type: "null" }] }],
    ["in a circle through a condition", { if: { $ref: "#" }, [THEN]: { $ref: "#" } }],
  ])("ends for references %s", (_name, schema) => {
    expect(formFieldOf(schema, schema, {}).kind).toBe("json");
    expect(initialValue(schema, schema)).toBeUndefined();
  });

  it("does not fill in a tree that never ends", () => {
    const schema = { $ref: "#/$defs/t", $defs: { t: required({ $ref: "#/$defs/t" }) } };
    const text = JSON.stringify(initialValue(schema, schema));
    expect(text.length).toBeLessThan(200);
    expect(text).toContain('{"a":{"a":');
  });

  it("does not fill in a tree that is as wide as deep", () => {
    const members = Object.fromEntries(names(100).map((name) => [name, { $ref: "#" }]));
    const schema = { type: "object", properties: members, required: names(100) };
    expect(JSON.stringify(initialValue(schema, schema)).length).toBeLessThan(100_000);
  });

  it("shows a thousand members, and no more than it says", () => {
    const many = (count: number) => ({
      type: "object",
      properties: Object.fromEntries(names(count).map((name) => [name, { type: "string" }])),
    });
    expect(formFieldOf(many(1_000), {}, {})).toMatchObject({ kind: "object", members: { length: 1_000 } });
    expect(formFieldOf(many(MAX_MEMBERS + 1), {}, {})).toMatchObject({ members: { length: MAX_MEMBERS } });
  });

  it("shows no more branches than it says", () => {
    const oneOf = names(500).map((name) => ({ type: "object", properties: { [name]: { type: "string" } } }));
    expect(formFieldOf({ oneOf }, {}, undefined)).toMatchObject({
      kind: "branches",
      branches: { length: MAX_BRANCHES },
    });
  });

  it("takes an enum that is too long as text", () => {
    expect(sketch({ type: "string", enum: names(2_001) })).toBe("text");
  });

  it("puts together no more than a number of parts", () => {
    const schema = { allOf: names(5_000).map((name) => ({ properties: { [name]: { type: "string" } } })) };
    const field = formFieldOf(schema, schema, {});
    expect(field.kind === "object" && field.members.length).toBe(199);
  });

  it.each([
    ["allOf", nested(1_000, (inner) => ({ allOf: [inner] }))],
    ["anyOf", nested(1_000, (inner) => ({ anyOf: [inner] }))],
    ["objects", nested(1_000, required)],
    ["lists", nested(1_000, (items) => ({ type: "array", items, minItems: 1 }))],
  ])("survives %s a thousand levels deep", (_name, schema) => {
    expect(() => formFieldOf(schema, schema, undefined)).not.toThrow();
    expect(() => initialValue(schema, schema)).not.toThrow();
  });

  it("judges a value by a bounded number of looks", () => {
    // Each level has two ways, so that all ways together are 2 ** 40.
    const schema = nested(40, (inner) => ({ allOf: [inner, inner] }), { type: "number" });
    expect(fitsSchema(schema, "text", schema)).toBe(false);
    expect(
      fitsSchema(
        nested(40, (inner) => ({ anyOf: [inner, inner] }), { type: "number" }),
        "text",
        {},
      ),
    ).toBe(true);
  });

  it("runs no expression of the server", () => {
    const schema = { type: "object", patternProperties: { "^(a+)+$": { type: "string", pattern: "^(a+)+$" } } };
    const value = { [`${"a".repeat(50)}!`]: `${"a".repeat(50)}!` };
    expect(fitsSchema(schema, value, schema)).toBe(true);
    expect(sketch(schema, value)).toBe("{^(a+)+$…:text}");
  });

  it.each([
    ["properties", { type: "object", properties: [1, 2] }],
    ["required", { type: "object", required: { a: 1 } }],
    ["enum", { enum: "abc" }],
    ["oneOf", { oneOf: {} }],
    ["items", { type: "array", items: 5 }],
    ["allOf", { allOf: [null, 5, "x", []] }],
    ["type", { type: { a: 1 } }],
    ["title and description", { title: { a: 1 }, description: 5 }],
    ["bounds", { type: "array", minItems: "two", maxItems: Number.NaN }],
    ["references", { $ref: 5 }],
    ["minItems", { type: "array", minItems: 1e9, items: { type: "string" } }],
  ])("takes wrong %s calmly", (_name, schema) => {
    expect(() => sketch(schema)).not.toThrow();
    expect(() => initialValue(schema, schema)).not.toThrow();
  });

  it("leaves the prototype of objects alone", () => {
    const schema = JSON.parse(
      '{"allOf":[{"__proto__":{"polluted":1}},{"properties":{"__proto__":{"default":{"polluted":1}}}}]}',
    );
    initialValue(schema, schema);
    formFieldOf(schema, schema, {});
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.hasOwn(initialValue(schema, schema) as object, "__proto__")).toBe(true);
  });
});
