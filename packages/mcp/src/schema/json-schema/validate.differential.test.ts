import { Validator as CfValidator } from "@cfworker/json-schema";
import Ajv7 from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileValidator } from "./validate.js";

const NAMES = ["a", "b", "ab", "constructor"];
const name = fc.constantFrom(...NAMES);
// cfworker does not find a $ref under dependencies/constructor.
const plainName = fc.constantFrom("a", "b", "ab");
const leaf = fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 2.5, 3, 1e15, "", "a", "ab", "abc", "😀", "1");

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

type Draft = "2020-12" | "7";
type Keyword = fc.Arbitrary<Record<string, unknown>>;

const keyword = (key: string, of: fc.Arbitrary<unknown>): Keyword => of.map((content) => ({ [key]: content }));
const count = fc.integer({ min: 0, max: 3 });
const type = fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object");
const pattern = fc.constantFrom("^a", "b$", "^(a|b)+$", "^.$", "^(a+)+$", "(?=a)", "\\d", "[^a]");

function scalars(): Keyword[] {
  return [
    keyword("type", fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 }))),
    keyword("enum", fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (each) => JSON.stringify(each) })),
    keyword("const", value),
    keyword("minimum", count),
    keyword("exclusiveMaximum", count),
    keyword("multipleOf", fc.integer({ min: 1, max: 3 })),
    keyword("minLength", count),
    keyword("maxLength", count),
    keyword("pattern", pattern),
    keyword("minItems", count),
    keyword("maxItems", count),
    keyword("uniqueItems", fc.boolean()),
    keyword("minProperties", count),
    keyword("maxProperties", count),
    keyword("required", fc.uniqueArray(name, { maxLength: 2 })),
  ];
}

function applicators(schema: fc.Arbitrary<unknown>, draft: Draft, oracle: string): Keyword[] {
  const list = fc.array(schema, { minLength: 1, maxLength: 3 });
  // ajv lets an empty list pass "contains" beside a list of item schemas.
  const contains = oracle === "ajv" ? [] : [keyword("contains", schema)];
  const map = (key: fc.Arbitrary<string>) => fc.dictionary(key, schema, { maxKeys: 2, noNullPrototype: true });
  const counts = fc.tuple(count, count).map(([min, more]) => ({ minContains: min, maxContains: min + more }));
  const both = [
    ...contains,
    keyword("properties", map(name)),
    keyword("patternProperties", map(pattern)),
    keyword("additionalProperties", schema),
    keyword("propertyNames", schema),
    keyword("allOf", list),
    keyword("anyOf", list),
    keyword("oneOf", list),
    keyword("not", schema),
    fc
      .tuple(schema, schema, schema)
      .map(([condition, yes, no]) =>
        JSON.parse(`{"if":${JSON.stringify(condition)},"then":${JSON.stringify(yes)},"else":${JSON.stringify(no)}}`),
      ),
    keyword("$ref", fc.constantFrom("#/$defs/x", "#/$defs/y")),
  ];
  if (draft === "7") {
    return [
      ...both,
      keyword("items", fc.oneof(schema, list)),
      keyword("additionalItems", schema),
      keyword(
        "dependencies",
        fc.dictionary(plainName, fc.oneof(schema, fc.uniqueArray(name, { maxLength: 2 })), {
          maxKeys: 2,
          noNullPrototype: true,
        }),
      ),
    ];
  }
  return [
    ...both,
    keyword("items", schema),
    keyword("prefixItems", list),
    counts,
    keyword("dependentSchemas", map(name)),
    keyword(
      "dependentRequired",
      fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true }),
    ),
    // ajv counts what a failing "if" has looked at as evaluated.
    ...(oracle === "ajv" ? [] : ["unevaluatedProperties", "unevaluatedItems"].map((each) => keyword(each, schema))),
  ];
}

function schemas(draft: Draft, oracle: string): fc.Arbitrary<Record<string, unknown>> {
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.boolean(),
      merge(scalars()),
      merge([...scalars(), ...applicators(tie("schema"), draft, oracle)]).map((schema) => aloneIn(draft, schema)),
    ),
  }));
  // What $defs hold refers to nothing, so that no schema refers to itself at the same place without end.
  const plain = merge(scalars());
  const top = merge([...scalars(), ...applicators(schema, draft, oracle), ...applicators(schema, draft, oracle)]);
  return fc.tuple(top, plain, plain).map(([root, x, y]) => ({ ...aloneIn(draft, root, false), $defs: { x, y } }));
}

/** Draft-07 ignores what stands beside $ref; the oracles do not, so there it stands alone. */
function aloneIn(draft: Draft, schema: Record<string, unknown>, keep = true): Record<string, unknown> {
  if (draft !== "7" || !("$ref" in schema)) return schema;
  const { $ref, ...others } = schema;
  return keep ? { $ref } : others;
}

function merge(keywords: Keyword[]): fc.Arbitrary<Record<string, unknown>> {
  return fc.array(fc.oneof(...keywords), { minLength: 1, maxLength: 4 }).map((parts) => Object.assign({}, ...parts));
}

type Oracle = (schema: Record<string, unknown>) => (data: unknown) => boolean;

// Without ownProperties ajv takes "constructor" for a member of every object.
const ajvOptions = {
  strict: false,
  ownProperties: true,
  validateFormats: false,
  validateSchema: false,
  logger: false,
} as const;
const oracles: Record<string, Record<Draft, Oracle>> = {
  ajv: {
    "2020-12": (schema) => {
      const validate = new Ajv2020.default(ajvOptions).compile(schema);
      return (data) => validate(data) === true;
    },
    "7": (schema) => {
      const validate = new Ajv7.default(ajvOptions).compile(schema);
      return (data) => validate(data) === true;
    },
  },
  cfworker: {
    "2020-12": (schema) => (data) => new CfValidator(schema, "2020-12").validate(data).valid,
    "7": (schema) => (data) => new CfValidator(schema, "7").validate(data).valid,
  },
};

for (const [oracle, drafts] of Object.entries(oracles)) {
  describe(`Random schemas and values get the verdict of ${oracle}`, () => {
    for (const draft of ["2020-12", "7"] as const) {
      it(`in draft ${draft}`, () => {
        let matching = 0;
        let failing = 0;
        fc.assert(
          fc.property(schemas(draft, oracle), fc.array(value, { minLength: 1, maxLength: 5 }), (schema, values) => {
            const declared = draft === "7" ? { $schema: "http://json-schema.org/draft-07/schema#", ...schema } : schema;
            const theirs = drafts[draft](declared);
            const ours = compileValidator(declared);
            for (const data of values) {
              const expected = theirs(data);
              if (expected) matching++;
              else failing++;
              expect({ schema, data, valid: ours.validate(data).valid }).toEqual({ schema, data, valid: expected });
            }
          }),
          // Fixed, because a new seed may find one more bug of an oracle.
          { numRuns: 400, seed: 2020_12 },
        );
        console.log(`${oracle}, draft ${draft}: ${matching} matching and ${failing} failing values agree`);
        expect(Math.min(matching, failing)).toBeGreaterThan(50);
      });
    }
  });
}
