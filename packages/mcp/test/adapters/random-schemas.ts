import fc from "fast-check";

/** A schema of arguments and arguments that fit it. */
export interface SchemaWithArguments {
  readonly schema: Record<string, unknown>;
  readonly args: Record<string, unknown>;
}

interface Part {
  readonly schema: unknown;
  readonly value: unknown;
}

const key = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("a", "b", "c", "id", "name") },
  { weight: 1, arbitrary: fc.constantFrom("with space", "9lives", "ünïcode", "a-b", "__proto__x", "x".repeat(70)) },
);
const anyJson = fc.jsonValue({ maxDepth: 2, noUnicodeString: true });

const leaf: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    schema: fc.constantFrom<unknown[]>(
      { type: "string" },
      { type: "string", minLength: 0, description: "a text" },
      { type: "string", pattern: "^" },
      { type: "string", format: "made-up" },
    ),
    value: fc.string(),
  }),
  fc.record({ schema: fc.constantFrom({ type: "integer" }, { type: "integer", minimum: -5 }), value: fc.nat() }),
  fc.record({ schema: fc.constant({ type: "number", multipleOf: 0.5 }), value: fc.nat({ max: 99 }).map((n) => n / 2) }),
  fc.record({ schema: fc.constant({ type: "boolean" }), value: fc.boolean() }),
  fc.record({ schema: fc.constant({ type: "null" }), value: fc.constant(null) }),
  fc.constantFrom("", "x", 3, 1.5, true, false, null).map((value) => ({ schema: { const: value }, value })),
  fc
    .uniqueArray(fc.constantFrom<unknown[]>("", "x", "y", 1, 2.5, true, null), { minLength: 1 })
    .chain((values) => fc.record({ schema: fc.constant({ enum: values }), value: fc.constantFrom(...values) })),
  fc.record({ schema: fc.constant({ enum: [{ a: 1 }, [2]] }), value: fc.constantFrom({ a: 1 }, [2]) }),
  fc.record({ schema: fc.constantFrom<unknown[]>(true, {}, { description: "anything" }), value: anyJson }),
  fc.record({ schema: fc.constant({ type: ["string", "null"] }), value: fc.option(fc.string()) }),
  fc.record({ schema: fc.constant({ type: ["integer", "boolean"] }), value: fc.oneof(fc.nat(), fc.boolean()) }),
  fc.record({
    schema: fc.constant({ type: "object", additionalProperties: { type: "integer" } }),
    value: fc.dictionary(key, fc.nat()),
  }),
  fc.record({ schema: fc.constant({ type: "object" }), value: fc.dictionary(key, anyJson) }),
  fc.constant({ schema: { type: "object", additionalProperties: false }, value: {} }),
  fc.record({ schema: fc.constant({ $ref: "#/$defs/tree" }), value: tree(2) }),
  fc.record({ schema: fc.constant({ $ref: "#/$defs/point", description: "where" }), value: point() }),
  fc.record({
    schema: fc.constant({ type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false }),
    value: fc.tuple(fc.string(), fc.nat()),
  }),
);

function tree(depth: number): fc.Arbitrary<unknown> {
  const children = depth === 0 ? fc.constant([]) : fc.array(tree(depth - 1), { maxLength: 2 });
  return fc.record({ name: fc.string(), children }, { requiredKeys: ["name"] });
}

function point(): fc.Arbitrary<unknown> {
  return fc.record({ x: fc.nat(), y: fc.option(fc.nat()) }, { requiredKeys: ["x"] });
}

/** Referred to by some of the schemas; one of them holds itself. */
export const DEFINITIONS = {
  tree: {
    type: "object",
    properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/tree" } } },
    required: ["name"],
    additionalProperties: false,
  },
  point: {
    type: "object",
    properties: { x: { type: "integer" }, y: { type: ["integer", "null"] } },
    required: ["x"],
  },
};

function part(depth: number): fc.Arbitrary<Part> {
  if (depth === 0) return leaf;
  const inside = part(depth - 1);
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 3, arbitrary: object(inside) },
    { weight: 2, arbitrary: list(inside) },
    { weight: 2, arbitrary: choice(inside) },
    { weight: 1, arbitrary: both(inside) },
  );
}

function object(inside: fc.Arbitrary<Part>): fc.Arbitrary<Part> {
  const member = fc.record({ name: key, part: inside, required: fc.boolean(), given: fc.boolean() });
  const members = fc.uniqueArray(member, { selector: ({ name }) => name, minLength: 1, maxLength: 4 });
  const extras = fc.constantFrom<Record<string, unknown>[]>({}, { additionalProperties: false }, { uniqueItems: true });
  return fc.tuple(members, extras).map(([list, extra]) => ({
    schema: {
      type: "object",
      properties: Object.fromEntries(list.map(({ name, part: { schema } }) => [name, schema])),
      required: list.filter(({ required }) => required).map(({ name }) => name),
      ...extra,
    },
    value: Object.fromEntries(
      list.filter(({ required, given }) => required || given).map(({ name, part: { value } }) => [name, value]),
    ),
  }));
}

function list(inside: fc.Arbitrary<Part>): fc.Arbitrary<Part> {
  return fc.record({ one: inside, count: fc.nat({ max: 3 }) }).map(({ one, count }) => ({
    schema: { type: "array", items: one.schema, maxItems: 3 },
    value: Array.from({ length: count }, () => one.value),
  }));
}

function choice(inside: fc.Arbitrary<Part>): fc.Arbitrary<Part> {
  return fc
    .record({
      parts: fc.array(inside, { minLength: 1, maxLength: 3 }),
      pick: fc.nat(),
      word: fc.constantFrom("anyOf", "oneOf"),
    })
    .map(({ parts, pick, word }) => ({
      schema: { [word]: parts.map(({ schema }) => schema) },
      value: parts[pick % parts.length]?.value,
    }));
}

/** Two objects in one by `allOf`. */
function both(inside: fc.Arbitrary<Part>): fc.Arbitrary<Part> {
  return fc.tuple(inside, inside).map(([one, other]) => ({
    schema: {
      allOf: [
        { type: "object", properties: { left: one.schema }, required: ["left"] },
        { type: "object", properties: { right: other.schema } },
      ],
    },
    value: { left: one.value, right: other.value },
  }));
}

/** Schemas of every kind that servers write, some of them odd, each with arguments that it accepts. */
export const schemasWithArguments: fc.Arbitrary<SchemaWithArguments> = fc
  .oneof(object(part(3)), both(part(2)))
  .map(({ schema, value }) => ({
    schema: { type: "object", ...(schema as object), $defs: DEFINITIONS },
    args: value as Record<string, unknown>,
  }));
