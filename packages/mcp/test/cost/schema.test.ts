import { describe, expect, it } from "vitest";
import { standardFormats } from "../../src/schema/json-schema/formats.js";
import { SchemaError } from "../../src/schema/json-schema/schema-error.js";
import { compileValidator } from "../../src/schema/json-schema/validate.js";
import { countSteps, growthOf } from "./cost.js";

/** Steps of one verdict: about 50 ms, in which an event loop does nothing else. */
const MAX_STEPS = 4_000_000;

/** Asserts that an act ends in a verdict or in a typed error within the steps that may block an event loop. */
function endsInTime(act: () => unknown): unknown {
  let outcome: unknown;
  const attempt = () => {
    try {
      outcome = act();
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      outcome = error.code;
    }
  };
  expect(countSteps(attempt)).toBeLessThanOrEqual(MAX_STEPS);
  return outcome;
}

const verdict = (schema: unknown, value: unknown) => endsInTime(() => compileValidator(schema).validate(value).valid);

/** 2^levels applications of one leaf, written in a few hundred bytes. */
function fanOut(levels: number, combine: (ref: object) => object, leaf: object): object {
  const $defs: Record<string, object> = { [`n${levels}`]: leaf };
  for (let i = 0; i < levels; i++) $defs[`n${i}`] = combine({ $ref: `#/$defs/n${i + 1}` });
  return { $ref: "#/$defs/n0", $defs };
}

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = {};
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
}

describe("Hostile patterns end in time", () => {
  const evil = [
    "^(a+)+$",
    "^(a*)*$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "^(.*a){12}$",
    "(a+)+b",
    "^(a?){25}a{25}$",
    "(x+x+)+y",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "^(?=(a+)+$)a*$",
    "\\s+$",
    "a*a*a*a*b",
    "^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$",
  ];
  const texts = [
    `${"a".repeat(28)}!`,
    "a".repeat(29),
    `${"a".repeat(5_000)}!`,
    `${" ".repeat(5_000)}x`,
    "x".repeat(2_000),
  ];
  for (const pattern of evil) {
    it(pattern, () => {
      for (const text of texts) expect([true, false, "too_complex"]).toContain(verdict({ pattern }, text));
    });
  }

  it("as names of properties too", () => {
    const schema = { patternProperties: { "^(a+)+$": true }, additionalProperties: false };
    expect(verdict(schema, { [`${"a".repeat(28)}!`]: 1 })).toBe(false);
  });

  it("with the right verdict on the 29 characters that freeze a backtracking matcher", () => {
    expect(verdict({ pattern: "^(a+)+$" }, `${"a".repeat(28)}!`)).toBe(false);
    expect(verdict({ pattern: "^(a+)+$" }, "a".repeat(29))).toBe(true);
  });

  it("in great number", () => {
    const patterns = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`^(a+)+${i}$`, true]));
    expect(verdict({ patternProperties: patterns }, {})).toBe("too_complex");
  });

  it("of great length", () => {
    expect(verdict({ pattern: `${"(a|".repeat(5_000)}b${")*".repeat(5_000)}` }, "a")).toBe("unsupported_pattern");
    expect(
      verdict({ pattern: `^(?:${Array.from({ length: 3_000 }, (_, i) => `w${i}`).join("|")})*$` }, "w1w2"),
    ).toBeTypeOf("string");
  });
});

describe("Schemas that multiply end in time (BASE-42)", () => {
  const twice: Record<string, (ref: object) => object> = {
    allOf: (ref) => ({ allOf: [ref, ref] }),
    anyOf: (ref) => ({ anyOf: [ref, ref] }),
    oneOf: (ref) => ({ oneOf: [ref, { not: ref }] }),
    "if and not": (ref) => ({ if: ref, else: { not: { not: ref } } }),
    unevaluatedProperties: (ref) => ({ allOf: [ref], anyOf: [ref], unevaluatedProperties: true }),
    contains: (ref) => ({ contains: ref, items: ref }),
    dependentSchemas: (ref) => ({ dependentSchemas: { a: ref }, properties: { a: true }, allOf: [ref] }),
  };
  for (const [name, combine] of Object.entries(twice)) {
    it(`2^20 references by ${name}`, () => {
      const value = name === "contains" ? nested(20, (inner) => [inner, inner]) : { a: 1 };
      const schema = fanOut(20, combine, { type: "string" });
      expect([true, false, "too_complex"]).toContain(verdict(schema, value));
    });
  }

  it("nested combinators of depth 7", () => {
    const schema = nested(7, (inner) => ({ anyOf: [{ allOf: [inner, inner] }, { allOf: [inner] }] }));
    expect([true, "too_complex"]).toContain(verdict(schema, 5));
  });

  for (const [name, schema] of Object.entries({
    "$ref to itself": { $ref: "#" },
    "two that refer to each other": {
      $ref: "#/$defs/a",
      $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
    },
    "a circle through allOf": { allOf: [{ $ref: "#" }, { $ref: "#" }] },
    "a circle through not": { not: { $ref: "#" } },
    "a circle of dynamic references": { $dynamicAnchor: "n", $dynamicRef: "#n" },
  })) {
    it(name, () => expect(verdict(schema, 5)).toBe("too_complex"));
  }
});

describe("Large values and schemas end in time", () => {
  it("uniqueItems over 10,000 objects", () => {
    const items = Array.from({ length: 10_000 }, (_, i) => ({ id: i, name: `item ${i}`, at: [i, { x: 1 }] }));
    expect(verdict({ uniqueItems: true }, items)).toBe(true);
    expect(verdict({ uniqueItems: true }, [...items, { at: [5, { x: 1 }], name: "item 5", id: 5 }])).toBe(false);
  });

  it("values 10,000 levels deep", () => {
    const list = nested(10_000, (inner) => [inner]);
    const object = nested(10_000, (inner) => ({ a: inner }));
    expect(verdict({ properties: { a: { $ref: "#" } } }, object)).toBe("too_complex");
    expect(verdict({ const: [] }, list)).toBe("too_complex");
    expect(verdict({ uniqueItems: true }, list)).toBe("too_complex");
    expect(verdict({ type: "array" }, list)).toBe(true);
  });

  it("schemas 10,000 levels deep, circular, or of a million values", () => {
    const deep = nested(10_000, (inner) => ({ properties: { a: inner } }));
    const circular: Record<string, unknown> = {};
    circular.not = circular;
    const values = Array.from({ length: 1_000_000 }, (_, i) => i);
    const wide = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [`p${i}`, { enum: values.slice(0, 1_000) }]),
    );
    for (const schema of [deep, circular, { enum: values }, { properties: wide }]) {
      expect(endsInTime(() => compileValidator(schema))).toBe("too_complex");
    }
  });

  it("100,000 items and 10,000 members of a plain schema are validated, not refused", () => {
    const items = Array.from({ length: 100_000 }, (_, i) => (i % 2 ? i : null));
    expect(verdict({ items: { anyOf: [{ type: "integer" }, { type: "null" }] } }, items)).toBe(true);
    const members = Object.fromEntries(items.slice(0, 10_000).map((value, i) => [`k${i}`, value]));
    expect(verdict({ additionalProperties: { type: ["integer", "null"] } }, members)).toBe(true);
  });
});

it("Formats are quick on hostile text", () => {
  for (const [format, test] of Object.entries(standardFormats)) {
    for (const unit of ["1", "a", "-", ".", "a.", "a-", ":", "@", "%41", "P1Y", "~0", "["]) {
      const judge = (length: number) => {
        const text = unit.repeat(length);
        return () => [test(text), test(`${text}\n`)];
      };
      // Eight times as long a text: linear work takes 8 times as long, quadratic work 64 times.
      expect(growthOf(judge(2_500), judge(20_000), 24), `${format} ${unit}`).toBeLessThanOrEqual(24);
    }
  }
});
