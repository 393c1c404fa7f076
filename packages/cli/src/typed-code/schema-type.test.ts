import { describe, expect, it } from "vitest";
import { ModuleNames } from "./module-names.js";
import { declareSchema } from "./schema-type.js";

const declared = (schema: unknown) => declareSchema("X", schema, new ModuleNames()).replaceAll(/\s+/g, " ").trim();

describe("the type of a schema", () => {
  it.each<[what: string, schema: unknown, type: string]>([
    ["anything", {}, "unknown"],
    ["true", true, "unknown"],
    ["false", false, "never"],
    ["no schema at all", 7, "unknown"],
    ["an unknown type", { type: "stone" }, "unknown"],
    ["an inherited name as a type", { type: "toString" }, "unknown"],
    ["only keywords without types", { minLength: 3, "x-unknown": 1 }, "unknown"],
    ["a text with a format", { type: "string", format: "date-time", pattern: "^a" }, "string"],
    ["a whole number", { type: "integer", minimum: 1 }, "number"],
    ["a type that may be null", { type: ["string", "null"] }, "string | null"],
    ["the null of OpenAPI", { type: "string", nullable: true }, "string | null"],
    ["an enum", { type: "string", enum: ["a", "b", 'c"'] }, '"a" | "b" | "c\\""'],
    [
      "an enum of many kinds",
      { enum: [1, -2, true, null, { b: [1], a: "x" }] },
      '1 | -2 | true | null | { a: "x"; b: [1] }',
    ],
    ["a const", { const: "fixed" }, '"fixed"'],
    ["a const that is null", { const: null }, "null"],
    ["a list", { type: "array", items: { type: "string" } }, "string[]"],
    ["a list of alternatives", { items: { type: ["string", "number"] } }, "(string | number)[]"],
    ["a list of anything", { type: "array" }, "unknown[]"],
    ["a closed tuple", { prefixItems: [{ type: "string" }, { type: "number" }], items: false }, "[string, number]"],
    ["an open tuple", { type: "array", prefixItems: [{ type: "string" }] }, "[string, ...unknown[]]"],
    [
      "a tuple with elements that may be missing",
      { prefixItems: [{ type: "string" }, { type: ["number", "null"] }], minItems: 1, items: { type: "boolean" } },
      "[string, (number | null)?, ...boolean[]]",
    ],
    ["a tuple of draft 7", { type: "array", items: [{ type: "string" }], additionalItems: false }, "[string]"],
    ["an open object", { type: "object" }, "{ [key: string]: unknown }"],
    ["a closed object without members", { type: "object", additionalProperties: false }, "{ [key: string]: never }"],
    ["a map", { type: "object", additionalProperties: { type: "number" } }, "{ [key: string]: number }"],
    [
      "members, required ones first and in order",
      { type: "object", properties: { c: {}, b: { type: "string" }, a: { type: "number" } }, required: ["b", "z"] },
      "{ b: string; z: unknown; a?: number; c?: unknown; }",
    ],
    [
      "members beside a map",
      { properties: { a: { type: "string" } }, additionalProperties: { type: "number" } },
      "{ a?: string; [key: string]: unknown; }",
    ],
    ["patterns", { type: "object", patternProperties: { "^x": { type: "string" } } }, "{ [key: string]: string }"],
    [
      "names that are no identifiers",
      { properties: JSON.parse('{"a-b":{},"2":{},"__proto__":{},"\\"; evil()":{}}') },
      '{ "\\"; evil()"?: unknown; "2"?: unknown; "__proto__"?: unknown; "a-b"?: unknown; }',
    ],
    ["alternatives", { anyOf: [{ type: "string" }, { type: "null" }], default: null }, "string | null"],
    ["one of several", { oneOf: [{ const: "a" }, { const: "b" }, { const: "a" }] }, '"a" | "b"'],
    ["an alternative that is anything", { anyOf: [{ type: "string" }, {}] }, "unknown"],
    [
      "all of several",
      { allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: {} } }] },
      "{ a?: string; } & { b?: unknown; }",
    ],
    [
      "an object with alternatives",
      { type: "object", properties: { a: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      "{ a?: unknown; } & ({ a: unknown; } | { b: unknown; })",
    ],
    [
      "an object of which only alternatives are said",
      { type: "object", oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
      "{ a?: unknown; } | { b?: unknown; }",
    ],
    ["a reference to nothing", { $ref: "#/$defs/none" }, "unknown"],
    ["a reference to elsewhere", { $ref: "https://example.com/x.json" }, "unknown"],
    ["a reference that cannot be read", { $ref: "#/%zz" }, "unknown"],
    ["a reference to a prototype", { $ref: "#/constructor" }, "unknown"],
    ["a reference to itself and nothing else", { $ref: "#" }, "unknown"],
  ])("is right for %s", (_what, schema, type) => {
    expect(declared(schema)).toBe(`export type X = ${type};`);
  });

  it("names what is referred to, also when it refers to itself", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/node" }, up: { $ref: "#" } } };
    expect(declared({ properties: { first: { $ref: "#/%24defs/node" } }, $defs: { node } })).toBe(
      "export type X = { first?: XNode; }; export type XNode = { next?: XNode; up?: X; };",
    );
  });

  it("leaves out what would be a circle of alternatives", () => {
    const $defs = { a: { anyOf: [{ $ref: "#/$defs/b" }, { type: "string" }] }, b: { allOf: [{ $ref: "#/$defs/a" }] } };
    expect(declared({ $ref: "#/$defs/a", $defs })).toBe(
      "export type X = XA; export type XA = XB | string; export type XB = unknown;".replace(
        "XB | string",
        "XB | string",
      ),
    );
  });

  it("says what members are for, and their defaults", () => {
    const count = { type: "integer", description: "How many.", default: 3 };
    expect(declared({ properties: { count } })).toBe(
      "export type X = { /** How many. Default: 3. */ count?: number; };",
    );
  });

  it("gives up where schemas are too deep, too many or too wide", () => {
    let deep: unknown = { type: "string" };
    for (let at = 0; at < 5_000; at++) deep = { type: "array", items: deep };
    expect(declared(deep)).toMatch(/^export type X = unknown(\[\])+;$/);
    const properties = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`p${at}`, { type: "string" }]));
    expect(declared({ properties }).split(": unknown").length).toBeGreaterThan(5_000);
    const wide = (letter: string) => ({ enum: Array.from({ length: 100 }, (_, at) => `${letter}${at}`) });
    expect(declared({ allOf: [wide("a"), wide("b"), wide("c")] })).not.toContain("&");
    expect(declared({ enum: Array.from({ length: 401 }, (_, at) => `v${at}`) })).toBe("export type X = string;");
  });

  it("writes a long chain of references as one declaration each", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`d${at}`, { properties: { next: { $ref: `#/$defs/d${at + 1}` } } }]),
    );
    expect(declared({ $ref: "#/$defs/d0", $defs })).toContain("export type XD499 = { next?: unknown; };");
  });
});
