import { Server } from "@parley/mcp";

/** A server whose tools have forms of every shape, and what it was sent. */
export interface ShapesServer {
  readonly server: Server;
  /** The arguments of each call, the newest last. */
  readonly received: unknown[];
}

const words = {
  type: "object",
  properties: {
    name: { type: "string", title: "Full name", description: "Who it is", minLength: 2, maxLength: 20 },
    note: { type: "string", format: "multiline" },
    day: { type: "string", format: "date" },
    moment: { type: "string", format: "date-time" },
    mail: { type: "string", format: "email" },
    nick: { type: ["string", "null"] },
    age: { type: "integer", minimum: 0, maximum: 150 },
    ratio: { type: "number", exclusiveMinimum: 0, default: 0.5 },
    agreed: { type: "boolean" },
    size: { type: "string", enum: ["small", "large"] },
    colour: {
      oneOf: [
        { const: "r", title: "Red" },
        { const: "g", title: "Green" },
      ],
    },
    extras: { type: "array", items: { type: "string", enum: ["card", "bow", "box"] }, uniqueItems: true },
    version: { const: 3 },
    anything: {},
  },
  required: ["name", "age", "size", "version"],
} as const;

const nests = {
  type: "object",
  properties: {
    home: {
      type: "object",
      properties: { street: { type: "string" }, door: { $ref: "#/$defs/door" } },
      required: ["street"],
    },
    numbers: { type: "array", items: { type: "number" }, minItems: 1, maxItems: 3 },
    people: {
      type: "array",
      items: { type: "object", properties: { first: { type: "string" } }, required: ["first"] },
    },
    place: { type: "array", prefixItems: [{ type: "number" }, { type: "string" }], items: false },
    shape: {
      oneOf: [
        {
          title: "Circle",
          type: "object",
          properties: { kind: { const: "circle" }, radius: { type: "number" } },
          required: ["kind", "radius"],
        },
        {
          title: "Square",
          type: "object",
          properties: { kind: { const: "square" }, side: { type: "number" } },
          required: ["kind", "side"],
        },
      ],
    },
    limit: { anyOf: [{ type: "integer" }, { type: "string" }] },
    labels: { type: "object", additionalProperties: { type: "string" } },
    tree: { $ref: "#/$defs/tree" },
    pays: { type: "string", enum: ["card", "cash"] },
  },
  required: ["home", "numbers", "shape"],
  allOf: [{ properties: { reason: { type: "string" } }, required: ["reason"] }],
  if: { properties: { pays: { const: "card" } }, required: ["pays"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { digits: { type: "string" } }, required: ["digits"] },
  $defs: {
    door: { type: "object", properties: { number: { type: "integer" } } },
    tree: {
      type: "object",
      properties: { value: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/tree" } } },
    },
  },
} as const;

/** More suggestions than are in sight at once. */
export const WORDS = Array.from({ length: 40 }, (_, index) => `word ${index + 1}`);

/** Makes it. The tools answer with the arguments that they got. */
export function shapesServer(): ShapesServer {
  const received: unknown[] = [];
  const note = (args: unknown) => {
    received.push(args);
    return "noted";
  };
  const server = new Server({ name: "shapes", version: "1" })
    .tool("words", { description: "Takes values of every simple kind", input: words }, note)
    .tool("nests", { description: "Takes values inside values", input: nests }, note)
    .tool("nothing", { description: "Takes nothing" }, note)
    .prompt("pick", { arguments: { word: { complete: WORDS } } }, ({ word = "nothing" }) => `picked ${word}`);
  return { server, received };
}
