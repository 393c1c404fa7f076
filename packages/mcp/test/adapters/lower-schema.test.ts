import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { geminiSchema } from "../../src/adapters/gemini-tools.js";
import { lowerArguments, openArguments } from "../../src/adapters/schema/lower-arguments.js";
import { GEMINI, OPENAI_STRICT } from "../../src/adapters/schema/schema-dialect.js";
import { compileValidator } from "../../src/schema/json-schema/validate.js";
import { brokenGeminiRules, brokenStrictRules } from "./provider-rules.js";
import { schemasWithArguments } from "./random-schemas.js";

const errorsOf = (schema: unknown, value: unknown) => {
  const result = compileValidator(schema).validate(value);
  return result.valid ? [] : result.errors;
};

describe.each([
  ["OpenAI", OPENAI_STRICT],
  ["Gemini", GEMINI],
])("any schema for %s", (_name, dialect) => {
  it("accepts the arguments that the tool accepts, and gives back what the tool accepts", () => {
    let tried = 0;
    fc.assert(
      fc.property(schemasWithArguments, ({ schema, args }) => {
        // Alternatives that overlap do not accept all that one of them does.
        fc.pre(errorsOf(schema, args).length === 0);
        tried++;
        const lowered = lowerArguments(schema, dialect);
        const encoded = lowered.encode(args);
        expect(errorsOf(lowered.schema, encoded)).toEqual([]);
        expect(errorsOf(schema, lowered.decode(encoded))).toEqual([]);
        const rules = dialect === GEMINI ? brokenGeminiRules : brokenStrictRules;
        expect(rules(dialect === GEMINI ? geminiSchema(lowered.schema) : lowered.schema)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
    expect(tried).toBeGreaterThan(400);
  });
});

describe("a schema for Anthropic", () => {
  it("accepts the arguments that the tool accepts, under names that are legal", () => {
    fc.assert(
      fc.property(schemasWithArguments, ({ schema, args }) => {
        fc.pre(errorsOf(schema, args).length === 0);
        const lowered = openArguments(schema);
        expect(errorsOf(lowered.schema, lowered.encode(args))).toEqual([]);
        expect(lowered.decode(lowered.encode(args))).toEqual(args);
        const names = Object.keys(Object(lowered.schema["properties"]));
        expect(names.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))).toEqual([]);
        for (const keyword of ["anyOf", "oneOf", "allOf", "$ref"]) expect(lowered.schema).not.toHaveProperty(keyword);
      }),
      { numRuns: 1000 },
    );
  });
});

const text = { type: "string" };
const object = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest });
const strict = (schema: Record<string, unknown>) => lowerArguments(schema, OPENAI_STRICT);

describe("lowering", () => {
  it("offers what alternatives of the whole have, and says what they require", () => {
    const schema = object(
      { a: text },
      { oneOf: [{ required: ["a"] }, { properties: { b: text }, required: ["b"] }], description: "One of them." },
    );
    for (const lowered of [strict(schema), openArguments(schema)]) {
      expect(Object.keys(Object(lowered.schema["properties"]))).toEqual(["a", "b"]);
      expect(lowered.schema["description"]).toBe("One of them. (Exactly one of: a; or b.)");
      expect(lowered.lost).toEqual(["the arguments: oneOf"]);
    }
    expect(strict(schema).decode({ a: null, b: "x" })).toEqual({ b: "x" });
  });

  it("inlines references, and writes what holds itself as JSON text", () => {
    const node = object({ value: text, next: { $ref: "#/$defs/node" } });
    const lowered = strict({ ...object({ list: { $ref: "#/$defs/node" } }), $defs: { node } });
    expect(brokenStrictRules(lowered.schema)).toEqual([]);
    const { next } = Object(lowered.schema["properties"]).list.properties;
    expect(next.description).toMatch(/^JSON text of: {"type":"object","properties":{"value"/);
    const list = { value: "a", next: { value: "b", next: { value: "c" } } };
    expect(lowered.decode(lowered.encode({ list }))).toEqual({ list });
    expect(lowered.lost).toEqual(["list.next: JSON text, because it is recursive or combines schemas"]);
  });

  it("tells alternatives apart by a property with different values", () => {
    const circle = object({ kind: { const: "circle" }, size: { type: "number" } }, { required: ["kind", "size"] });
    const square = object({ kind: { const: "square" }, side: { type: "number" } }, { required: ["kind"] });
    const { schema, decode } = strict(object({ shape: { anyOf: [circle, square] } }, { required: ["shape"] }));
    expect(Object(schema["properties"]).shape.anyOf).toHaveLength(2);
    expect(decode({ shape: { kind: "square", side: null } })).toEqual({ shape: { kind: "square" } });
    const alike = strict(object({ shape: { anyOf: [object({ a: text }), object({ a: { type: "number" } })] } }));
    expect(alike.lost).toEqual(["shape: JSON text, because it has alternatives that cannot be told apart"]);
  });

  it("moves what a provider does not know into the description", () => {
    const schema = object({ a: { ...text, description: "A name.", minLength: 2, format: "uri", default: "x" } });
    expect(Object(strict(schema).schema["properties"]).a.description).toBe(
      'A name. (minLength: 2; format: "uri"; default: "x")',
    );
    expect(strict(schema).lost).toEqual(["a: minLength", "a: format"]);
  });

  it("keeps what models of Gemini may choose from in words where `enum` cannot hold it", () => {
    const { schema, lost } = lowerArguments(object({ n: { enum: [1, 2] }, s: { enum: ["a", "b", null] } }), GEMINI);
    expect(geminiSchema(schema).properties).toEqual({
      n: { type: "INTEGER", description: "One of 1, 2." },
      s: { type: "STRING", enum: ["a", "b"], nullable: true },
    });
    expect(lost).toEqual([]);
  });

  it("leaves arguments that the model made up for the server to judge", () => {
    expect(strict(object({ a: text })).decode({ a: "x", made: { up: 1 } })).toEqual({ a: "x", made: { up: 1 } });
  });

  it("stays bounded, whatever a server sends", () => {
    let deep: object = text;
    for (let level = 0; level < 5000; level++) deep = object({ a: deep });
    const wide = object(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, object({ a: text })])));
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => {
        const next = { $ref: `#/$defs/d${at + 1}` };
        return [`d${at}`, object({ a: next, b: next })];
      }),
    );
    const ring = { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } };
    const hostile = [
      deep,
      wide,
      { ...object({ a: { $ref: "#/$defs/d0" } }), $defs: doubling },
      { ...object({ a: { $ref: "#/$defs/a" } }), $defs: ring },
      { type: "object", $ref: "#" },
      { type: "object", allOf: [{ $ref: "#" }] },
      object({ a: { $ref: "https://example.com/schema" } }),
      object({ a: false, b: { type: 7 }, c: { enum: [] }, d: { anyOf: [] }, e: { pattern: "(" } }),
      { type: "object", properties: null, required: "a" },
    ];
    for (const schema of hostile) {
      for (const dialect of [OPENAI_STRICT, GEMINI]) {
        const lowered = lowerArguments(schema as Record<string, unknown>, dialect);
        expect(() => lowered.decode({ a: "{}" })).not.toThrow();
        expect(JSON.stringify(lowered.schema).length).toBeLessThan(2_000_000);
      }
      expect(() => openArguments(schema as Record<string, unknown>)).not.toThrow();
    }
  });
});
