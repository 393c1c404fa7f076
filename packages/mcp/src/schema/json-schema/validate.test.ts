import { describe, expect, it } from "vitest";
import { SchemaError } from "./schema-error.js";
import { type CompileOptions, compileValidator } from "./validate.js";
import type { SchemaIssue } from "./validation.js";

function issues(schema: unknown, value: unknown, options?: CompileOptions): readonly SchemaIssue[] {
  const result = compileValidator(schema, options).validate(value);
  return result.valid ? [] : result.errors;
}

function lines(schema: unknown, value: unknown): string[] {
  return issues(schema, value).map(({ path, message }) => `${path} ${message}`);
}

function refusal(act: () => unknown): SchemaError {
  try {
    act();
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("Issues tell people and models what to mend", () => {
  const person = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1 },
      age: { type: "integer", minimum: 0 },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["name"],
    additionalProperties: false,
  };

  it("all of them at once, each with its path", () => {
    expect(lines(person, { age: -1, tags: ["a", 5], "a/b": 1 })).toEqual([
      ' must have the property "name"',
      "/age must be at least 0",
      "/tags/1 must be string, not integer",
      ' must not have the property "a/b"',
    ]);
  });

  const cases: [unknown, unknown, string][] = [
    [{ type: ["string", "null"] }, 5, " must be null or string, not integer"],
    [{ enum: ["a", 1, { b: 2 }] }, "c", ' must be one of "a", 1, {"b":2}'],
    [{ const: 5 }, 6, " must be 5"],
    [{ maxLength: 1 }, "ab", " must have at most 1 character"],
    [{ pattern: "^a$" }, "b", " must match the pattern ^a$"],
    [{ multipleOf: 0.01 }, 0.005, " must be a multiple of 0.01"],
    [{ minItems: 2 }, [1], " must have at least 2 items"],
    [{ uniqueItems: true }, [1, 2, 1], " must not repeat items, but items 0 and 2 are equal"],
    [{ contains: { type: "string" } }, [1], ' must contain an item that matches "contains"'],
    [
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      ' must not have the property name "ab": it must have at most 1 character',
    ],
    [{ dependentRequired: { a: ["b"] } }, { a: 1 }, ' must have the property "b" because it has "a"'],
    [{ properties: { a: false } }, { a: 1 }, "/a is not allowed here"],
    [{ unevaluatedProperties: false }, { a: 1 }, "/a is not allowed here"],
    [
      { anyOf: [{ type: "string" }, { type: "boolean" }] },
      5,
      " must match one of 2 alternatives: must be string, not integer; or must be boolean, not integer",
    ],
    [
      { oneOf: [{ type: "number" }, { type: "integer" }] },
      5,
      " must match exactly one alternative, but matches alternatives 0 and 1",
    ],
    [{ not: { type: "number" } }, 5, ' must not match the schema in "not"'],
  ];
  for (const [schema, value, line] of cases) {
    it(line.trim(), () => expect(lines(schema, value)).toEqual([line]));
  }

  it("by the alternative that was meant, when only one fails inside", () => {
    const schema = { anyOf: [{ type: "string" }, { type: "object", properties: { a: { type: "number" } } }] };
    expect(lines(schema, { a: "x" })).toEqual(["/a must be number, not string"]);
  });

  it("ten of them by default", () => {
    const schema = { items: { type: "string" } };
    expect(issues(schema, Array(50).fill(1))).toHaveLength(10);
    expect(issues(schema, Array(50).fill(1), { limits: { issues: 3 } })).toHaveLength(3);
  });
});

describe("Values are read as JSON", () => {
  it("decimals divide as they are written", () => {
    const cents = compileValidator({ multipleOf: 0.01 });
    expect([19.99, 0.07, 1e-2, 1.1, 4.35].filter((value) => !cents.validate(value).valid)).toEqual([]);
    expect(cents.validate(0.001).valid).toBe(false);
    expect(compileValidator({ multipleOf: 1e-7 }).validate(1e300).valid).toBe(true);
  });

  it("names that every object inherits are ordinary names", () => {
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      const schema = JSON.parse(`{"properties":{"${name}":{"type":"string"}},"required":["${name}"]}`);
      const validator = compileValidator(schema);
      expect([name, validator.validate({}).valid]).toEqual([name, false]);
      expect([name, validator.validate(JSON.parse(`{"${name}":"x"}`)).valid]).toEqual([name, true]);
      expect([name, validator.validate(JSON.parse(`{"${name}":5}`)).valid]).toEqual([name, false]);
    }
    expect("polluted" in {}).toBe(false);
  });

  it("a member that is undefined is absent", () => {
    expect(compileValidator({ required: ["a"] }).validate({ a: undefined }).valid).toBe(false);
    expect(compileValidator({ properties: { a: { type: "string" } } }).validate({ a: undefined }).valid).toBe(true);
    expect(compileValidator({ additionalProperties: false }).validate({ a: undefined }).valid).toBe(true);
  });

  it("length counts characters, not code units", () => {
    expect(compileValidator({ minLength: 2 }).validate("😀").valid).toBe(false);
    expect(compileValidator({ maxLength: 2 }).validate("😀😀").valid).toBe(true);
    expect(compileValidator({ maxLength: 2 }).validate("😀😀a").valid).toBe(false);
  });

  it("equality does not mistake one structure for another", () => {
    const validator = compileValidator({ uniqueItems: true });
    const different = [
      ["a", "b"],
      ["a,b"],
      [["a"], "b"],
      { a: 1 },
      { a: "1" },
      ["1:a"],
      "a",
      1,
      true,
      "true",
      null,
      "null",
      [],
      {},
      [[]],
    ];
    expect(validator.validate(different).valid).toBe(true);
    expect(
      validator.validate([
        { a: 1, b: [2] },
        { b: [2], a: 1.0 },
      ]).valid,
    ).toBe(false);
    expect(validator.validate([0, -0]).valid).toBe(false);
  });
});

describe("Dialects", () => {
  it("default to 2020-12, and follow $schema to draft-07 (BASE-36)", () => {
    const schema = { prefixItems: [{ type: "string" }] };
    expect(compileValidator(schema).validate([1]).valid).toBe(false);
    const old = { $schema: "http://json-schema.org/draft-07/schema#", ...schema };
    expect(compileValidator(old).validate([1]).valid).toBe(true);
  });

  it("that are not known are refused by name (BASE-37)", () => {
    const error = refusal(() => compileValidator({ $schema: "urn:unknown" }));
    expect(error.code).toBe("dialect_unsupported");
    expect(error.message).toMatch(/dialect not supported: "urn:unknown".*2020-12.*draft-07/);
    expect(refusal(() => compileValidator({ $defs: { a: { $id: "x", $schema: "urn:unknown" } } }))).toMatchObject({
      code: "dialect_unsupported",
      path: "/$defs/a",
    });
  });
});

describe("References", () => {
  it("to the network or to files are refused, not fetched and not ignored (BASE-39, BASE-41)", () => {
    for (const $ref of [
      "http://127.0.0.1:9/x",
      "https://example.com/s#/a",
      "file:///etc/passwd",
      "//host/x",
      "other.json",
    ]) {
      const error = refusal(() => compileValidator({ properties: { a: { $ref } } }));
      expect(error).toMatchObject({ code: "unresolved_ref", path: "/properties/a/$ref" });
      expect(error.message).toContain($ref.replace(/#.*/, ""));
    }
  });

  it("that lead nowhere are refused, even where nothing uses them", () => {
    for (const $ref of ["#/$defs/none", "#none", "#/$defs/a/type"]) {
      expect(refusal(() => compileValidator({ $defs: { a: { type: "string" }, b: { $ref } } }))).toMatchObject({
        code: "unresolved_ref",
        path: "/$defs/b/$ref",
      });
    }
  });

  it("may lead to documents that were handed in (BASE-40)", () => {
    const schemas = { "https://example.com/name": { type: "string" } };
    const validator = compileValidator({ $ref: "https://example.com/name" }, { schemas });
    expect([validator.validate("a").valid, validator.validate(1).valid]).toEqual([true, false]);
  });

  it("make recursive schemas", () => {
    const schema = { properties: { next: { $ref: "#" } }, additionalProperties: false };
    expect(lines(schema, { next: { next: { nxt: 1 } } })).toEqual(['/next/next must not have the property "nxt"']);
  });
});

describe("Malformed schemas are refused, naming the place (BASE-38)", () => {
  const malformed: [unknown, string][] = [
    [{ type: "strin" }, "/type"],
    [{ properties: { a: { minLength: -1 } } }, "/properties/a/minLength"],
    [{ properties: { a: 5 } }, "/properties/a"],
    [{ items: [{}] }, "/items"],
    [{ allOf: [] }, "/allOf"],
    [{ required: "a" }, "/required"],
    [{ enum: "a" }, "/enum"],
    [{ multipleOf: 0 }, "/multipleOf"],
    [{ $defs: { "a/b": { anyOf: {} } } }, "/$defs/a~1b/anyOf"],
    [{ minimum: Number.NaN }, "/minimum"],
    [{ default: () => 1 }, "/default"],
    [5, ""],
    [null, ""],
    [undefined, ""],
  ];
  for (const [schema, path] of malformed) {
    it(`${JSON.stringify(schema)} at "${path}"`, () => {
      expect(refusal(() => compileValidator(schema))).toMatchObject({ code: "invalid_schema", path });
    });
  }
});
