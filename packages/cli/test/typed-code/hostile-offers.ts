import fc from "fast-check";
import type { ServerOffers } from "../../src/typed-code/server-offers.js";

/** Texts that try to leave the place where they are put. */
const HOSTILE = [
  "*/ evil(); /*",
  "*\\/ evil(); /*",
  "@ts-ignore",
  "@ts-nocheck",
  "{@link x} @deprecated",
  '"; evil(); "',
  "'; evil(); '",
  "`$" + "{evil()}`",
  "a\nevil();\n",
  "a\revil();",
  "a\u2028evil();",
  "\\",
  '\\"; evil(); //',
  "__proto__",
  "constructor",
  "\u202egnirts",
  "\ud800",
  "</script><!--",
  "{x}",
  "file:///{path}/{+rest}",
  "}; evil(); function x() {",
];
const text = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ maxLength: 20 }),
);
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.boolean(),
    fc.jsonValue(),
    fc.record(
      {
        type: fc.oneof(fc.constantFrom("object", "array", "string", "null"), fc.array(text, { maxLength: 3 })),
        description: text,
        title: text,
        default: fc.jsonValue(),
        const: fc.jsonValue(),
        enum: fc.array(fc.oneof(text, fc.jsonValue()), { maxLength: 4 }),
        properties: fc.dictionary(text, tie("schema"), { maxKeys: 4 }),
        required: fc.array(text, { maxLength: 3 }),
        additionalProperties: tie("schema"),
        patternProperties: fc.dictionary(text, tie("schema"), { maxKeys: 2 }),
        items: fc.oneof(tie("schema"), fc.array(tie("schema"), { maxLength: 3 })),
        prefixItems: fc.array(tie("schema"), { maxLength: 3 }),
        anyOf: fc.array(tie("schema"), { maxLength: 3 }),
        allOf: fc.array(tie("schema"), { maxLength: 3 }),
        $ref: fc.oneof(fc.constantFrom("#", "#/properties/a", "#/anyOf/0", "#/$defs/a"), text),
        $defs: fc.dictionary(fc.oneof(text, fc.constant("a")), tie("schema"), { maxKeys: 2 }),
      },
      { requiredKeys: [] },
    ),
  ),
}));
const anyOffers = fc.record({
  server: text,
  tools: fc.uniqueArray(
    fc.record(
      { name: text, description: text, inputSchema: schema, outputSchema: schema },
      { requiredKeys: ["name", "inputSchema"] },
    ),
    { maxLength: 4, selector: ({ name }) => name },
  ),
  prompts: fc.uniqueArray(
    fc.record({
      name: text,
      description: text,
      arguments: fc.array(fc.record({ name: text, description: text }), { maxLength: 3 }),
    }),
    { maxLength: 3, selector: ({ name }) => name },
  ),
  templates: fc.uniqueArray(fc.record({ name: text, uriTemplate: text, description: text }), {
    maxLength: 3,
    selector: ({ uriTemplate }) => uriTemplate,
  }),
});

/** What a hostile server may offer: names, texts and schemas that try to become code. */
// The client checks no more of a schema than this.
export const hostileOffers = anyOffers as unknown as fc.Arbitrary<ServerOffers>;
