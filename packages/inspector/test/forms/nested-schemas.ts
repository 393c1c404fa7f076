import type { SchemaCase } from "./scalar-schemas.js";

// Written so, because objects with such a member are taken for promises by linters.
const THEN = "then";
const node = {
  type: "object",
  properties: { name: { type: "string" }, child: { $ref: "#/$defs/node" } },
  required: ["name"],
};
const circle = {
  type: "object",
  properties: { kind: { const: "circle" }, radius: { type: "number" } },
  required: ["kind", "radius"],
};
const square = {
  type: "object",
  properties: { kind: { const: "square" }, side: { type: "number", default: 1 } },
  required: ["kind"],
};

/** Schemas of objects and lists. */
export const NESTED_SCHEMAS: readonly SchemaCase[] = [
  ["an object without members", { type: "object" }, "{…:json}", {}],
  ["an object that takes nothing", { type: "object", properties: {}, additionalProperties: false }, "{}", {}],
  ["members without a type", { properties: { a: { type: "string" } } }, "{a:text}", {}],
  [
    "members, required and not",
    {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", default: 3 } },
      required: ["city"],
    },
    "{city*:text,days:integer}",
    { days: 3 },
  ],
  ["a required member that is not described", { type: "object", required: ["x"] }, "{x*:json}", {}],
  [
    "objects in objects",
    {
      type: "object",
      properties: { at: { type: "object", properties: { x: { type: "number", default: 0 } } } },
      required: ["at"],
    },
    "{at*:{x:number}}",
    { at: { x: 0 } },
  ],
  [
    "an optional object, which is left out",
    { type: "object", properties: { at: { type: "object", properties: { x: { default: 0, type: "number" } } } } },
    "{at:{x:number}}",
    {},
  ],
  ["a map of numbers", { type: "object", additionalProperties: { type: "number" } }, "{…:number}", {}],
  [
    "named members and others",
    { type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "boolean" } },
    "{a:text,…:boolean}",
    {},
  ],
  [
    "members by patterns",
    {
      type: "object",
      patternProperties: { "^x-": { type: "string" }, "^n-": { type: "number" } },
      additionalProperties: false,
    },
    "{^x-…:text,^n-…:number}",
    {},
  ],
  [
    "a member called __proto__",
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
    "{__proto__:text}",
    {},
  ],
  [
    "a default of an object",
    { type: "object", properties: { a: { default: 1 } }, default: { b: 2 } },
    "{a:json}",
    { a: 1, b: 2 },
  ],
  ["a list", { type: "array", items: { type: "number" } }, "[…number]", []],
  ["a list of anything", { type: "array" }, "[…json]", []],
  ["a list that needs two", { type: "array", items: { type: "string" }, minItems: 2 }, "[…text]", ["", ""]],
  ["a list with a default", { type: "array", items: { type: "string" }, default: ["a"] }, "[…text]", ["a"]],
  ["a list of lists", { type: "array", items: { type: "array", items: { type: "number" } } }, "[…[…number]]", []],
  [
    "a tuple",
    { type: "array", prefixItems: [{ type: "number" }, { type: "string" }], items: false, minItems: 2 },
    "[number,text]",
    [0, ""],
  ],
  [
    "a tuple of draft 7",
    { type: "array", items: [{ type: "number" }], additionalItems: { type: "string" } },
    "[number,…text]",
    [],
  ],
  ["several of an enum", { type: "array", items: { type: "string", enum: ["card", "bow"] } }, "choices(card|bow)", []],
  [
    "several of titled constants",
    {
      type: "array",
      items: {
        anyOf: [
          { const: "r", title: "Red" },
          { const: "g", title: "Green" },
        ],
      },
    },
    "choices(Red|Green)",
    [],
  ],
  [
    "an enum that may be there twice",
    { type: "array", items: { enum: ["a", "b"] }, uniqueItems: false },
    "[…choice(a|b)]",
    [],
  ],
  [
    "a list of objects",
    { type: "array", items: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } },
    "[…{id*:integer}]",
    [],
  ],
  [
    "shapes told apart by a constant",
    { oneOf: [circle, square] },
    'either(kind: "circle"={kind*:choice(circle),radius*:number} | kind: "square"={kind*:choice(square),side:number})',
    { kind: "circle" },
  ],
  [
    "shapes with titles and references",
    { anyOf: [{ $ref: "#/$defs/A" }, { title: "Bee", type: "string" }], $defs: { A: { type: "integer" } } },
    "either(A=integer | Bee=text)",
    undefined,
  ],
  [
    "shapes beside what all have",
    { type: "object", properties: { id: { type: "string" } }, oneOf: [circle, square] },
    'either(kind: "circle"={id:text,kind*:choice(circle),radius*:number} | kind: "square"={id:text,kind*:choice(square),side:number})',
    { kind: "circle" },
  ],
  [
    "alternatives that only demand members",
    {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    "{a:text,b:text}",
    {},
  ],
  [
    "an optional object of Python",
    {
      anyOf: [{ $ref: "#/$defs/P" }, { type: "null" }],
      default: null,
      $defs: { P: { type: "object", properties: { x: { type: "number" } } } },
    },
    "{x:number}?",
    null,
  ],
  [
    "all of several",
    {
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "number" } }, required: ["b"] },
      ],
    },
    "{a*:text,b*:number}",
    {},
  ],
  [
    "all of several about one member",
    { allOf: [{ properties: { n: { type: "number", minimum: 1 } } }, { properties: { n: { type: "integer" } } }] },
    "{n:integer}",
    {},
  ],
  [
    "a condition that holds at once",
    {
      type: "object",
      properties: { a: { type: "string" } },
      if: { properties: { a: { const: "x" } } },
      [THEN]: { properties: { b: { type: "number" } } },
    },
    "{a:text,b:number}",
    {},
  ],
  [
    "a condition that does not hold yet",
    {
      type: "object",
      properties: { a: { type: "string" } },
      if: { required: ["a"], type: "object" },
      [THEN]: { properties: { b: { type: "number" } } },
      else: { properties: { c: { type: "boolean" } } },
    },
    "{a:text,c:boolean}",
    {},
  ],
  [
    "references",
    {
      type: "object",
      properties: { from: { $ref: "#/$defs/place" }, to: { $ref: "#/$defs/place" } },
      $defs: { place: { type: "string", enum: ["a", "b"] } },
    },
    "{from:choice(a|b),to:choice(a|b)}",
    {},
  ],
  [
    "a reference with a description beside it",
    { $ref: "#/definitions/t", description: "x", definitions: { t: { type: "integer" } } },
    "integer",
    undefined,
  ],
  ["a reference to an anchor", { $ref: "#it", $defs: { t: { $anchor: "it", type: "boolean" } } }, "boolean", false],
  [
    "a reference with escapes",
    { $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { type: "number" } } },
    "number",
    undefined,
  ],
  [
    "a reference by an id",
    { $ref: "https://example.com/t", $defs: { t: { $id: "https://example.com/t", type: "number" } } },
    "number",
    undefined,
  ],
  [
    "a tree",
    { ...node, $defs: { node } },
    "{name*:text,child:{name*:text,child:{name*:text,child:{name*:text,child:{name*:…,child:…}}}}}",
    {},
  ],
  ["a reference to nothing", { $ref: "#/$defs/none" }, "json!The schema has no #/$defs/none.", undefined],
  [
    "a reference to elsewhere",
    { $ref: "https://example.com/s.json" },
    "json!The schema refers to https://example.com/s.json, which is not fetched.",
    undefined,
  ],
  ["a reference to itself", { $ref: "#" }, "json!The schema refers to itself.", undefined],
];
