import { isObject } from "../../jsonrpc/message.js";
import { lowerObject } from "./lower-object.js";
import { acceptedBy, alternatives, jsonText, type Lowered, orNull, unchanged } from "./lowered.js";
import { CONTAINERS, findReference, mergeSchemas, plainSchema, type SchemaNode } from "./merge-schemas.js";
import type { SchemaDialect } from "./schema-dialect.js";
import type { Place, SchemaLowering } from "./schema-lowering.js";

/** Parts of one schema; what comes after them becomes JSON text. */
const MOST_NODES = 2000;
const LONGEST_NOTE = 400;
const ANY = "Any JSON value, as JSON text.";

/** Turns one schema into the form of a provider. */
export class Lowering implements SchemaLowering {
  readonly dialect: SchemaDialect;
  readonly lost: string[] = [];
  readonly root: SchemaNode;
  /** The beginnings of schemas as text: many places may refer to one. */
  readonly #texts = new Map<unknown, string>();
  #nodes = 0;

  constructor(dialect: SchemaDialect, root: SchemaNode) {
    this.dialect = dialect;
    this.root = root;
  }

  lower(schema: unknown, place: Place): Lowered {
    if (!isObject(schema) || ++this.#nodes > MOST_NODES) return this.text(schema, place, "is any JSON value");
    const within = new Set(place.within);
    const node = plainSchema(this.root, schema, within);
    if (node === undefined) return this.text(schema, place, "refers to itself or combines schemas");
    const here = { ...place, within };
    const choices = node["anyOf"] ?? node["oneOf"];
    if (Array.isArray(choices)) return this.#choices(node, choices, here);
    if (node["const"] !== undefined || Array.isArray(node["enum"])) {
      const lowered = lowerEnum(node, this.dialect);
      if (lowered === undefined) return this.text(schema, place, "has values that are objects or lists, or none");
      return this.described(lowered, node, ["enum", "const", "type"], here);
    }
    const types = typesOf(node);
    if (types.length === 0) return this.text(schema, place, "is any JSON value");
    const [type = "", ...others] = types.filter((name) => name !== "null");
    if (others.length > 0)
      return this.#choices(
        node,
        types.map((name) => ({ type: name })),
        here,
      );
    if (type === "") return this.described(unchanged({ type: "null" }), node, ["type"], here);
    const lowered = this.#typed(type, node, here);
    return types.includes("null") ? nullable(lowered) : lowered;
  }

  text(schema: unknown, { path }: Place, why: string): Lowered {
    this.lost.push(`${path || "the arguments"}: JSON text, because it ${why}`);
    const purpose = isObject(schema) && typeof schema["description"] === "string" ? `${schema["description"]} ` : "";
    const form = isObject(schema) && Object.keys(schema).length > 0 ? `JSON text of: ${this.#textOf(schema)}` : ANY;
    return jsonText(`${purpose}${form}`, this.accepts(schema));
  }

  #textOf(schema: SchemaNode): string {
    const target = schema["$ref"] === undefined ? schema : (findReference(this.root, schema["$ref"]) ?? schema);
    const text = this.#texts.get(target) ?? short(target);
    this.#texts.set(target, text);
    return text;
  }

  described(lowered: Lowered, node: SchemaNode, used: readonly string[], { path }: Place): Lowered {
    const { title, description } = node;
    const notes: string[] = [];
    for (const [keyword, value] of Object.entries(node)) {
      if (used.includes(keyword) || CONTAINERS.includes(keyword) || SAID.includes(keyword)) continue;
      notes.push(`${keyword}: ${short(value)}`);
      if (!HARMLESS.includes(keyword)) this.lost.push(`${path || "the arguments"}: ${keyword}`);
    }
    const texts = [title, description, lowered.schema["description"]].filter((text) => typeof text === "string");
    const text = [...new Set(texts), ...(notes.length > 0 ? [`(${notes.join("; ")})`] : [])].join(" ");
    return text === "" ? lowered : { ...lowered, schema: { ...lowered.schema, description: text } };
  }

  #typed(type: string, node: SchemaNode, place: Place): Lowered {
    if (type === "object" || type === "array") {
      if (place.depth >= this.dialect.maxDepth) return this.text(node, place, "is nested too deep");
      const inside = { ...place, depth: place.depth + 1 };
      return type === "object" ? lowerObject(this, node, inside) : this.#list(node, inside);
    }
    const kept =
      type === "string" ? this.#keptOfText(node) : this.kept(node, type === "boolean" ? undefined : "number");
    return this.described(unchanged({ type, ...kept }), node, ["type", ...Object.keys(kept)], place);
  }

  #keptOfText(node: SchemaNode): SchemaNode {
    const { pattern, format, ...kept } = this.kept(node, "string");
    return {
      ...kept,
      ...(typeof pattern === "string" && this.dialect.pattern(pattern) ? { pattern } : {}),
      ...(typeof format === "string" && this.dialect.formats.includes(format) ? { format } : {}),
    };
  }

  kept(node: SchemaNode, type: keyof SchemaDialect["keywords"] | undefined): SchemaNode {
    const known = type === undefined ? [] : this.dialect.keywords[type];
    const isFit = (keyword: string, value: unknown) =>
      known.includes(keyword) && typeof value === (keyword === "pattern" || keyword === "format" ? "string" : "number");
    return Object.fromEntries(Object.entries(node).filter(([keyword, value]) => isFit(keyword, value)));
  }

  #list(node: SchemaNode, place: Place): Lowered {
    if (Array.isArray(node["items"]) || node["prefixItems"] !== undefined) {
      return this.text(node, place, "is a list with a schema for each place");
    }
    const items = this.lower(node["items"] ?? true, { ...place, path: `${place.path}[]` });
    const kept = this.kept(node, "array");
    const each = (value: unknown, change: (item: unknown) => unknown) =>
      Array.isArray(value) ? value.map(change) : value;
    const list: Lowered = {
      schema: { type: "array", items: items.schema, ...kept },
      plain: items.plain,
      encode: (value) => each(value, items.encode),
      decode: (value) => each(value, items.decode),
    };
    return this.described(list, node, ["type", "items", ...Object.keys(kept)], place);
  }

  #choices(node: SchemaNode, choices: readonly unknown[], place: Place): Lowered {
    const { anyOf: _anyOf, oneOf: _oneOf, title, description, default: _default, examples: _examples, ...base } = node;
    const used = ["anyOf", ...Object.keys(base)];
    const merged = choices.map((choice) => (Object.keys(base).length === 0 ? choice : mergeSchemas(base, choice)));
    if (merged.includes(undefined) || (node["anyOf"] !== undefined && node["oneOf"] !== undefined)) {
      return this.text(node, place, "combines schemas");
    }
    const branches = merged.map((choice) => this.lower(choice, place));
    const [only, ...more] = branches;
    if (only !== undefined && more.length === 0) return this.described(only, { title, description }, [], place);
    if (only === undefined) return this.text(node, place, "has no alternatives");
    if (!areTold(branches, this.dialect)) return this.text(node, place, "has alternatives that look alike");
    const lowered = flattened(alternatives(branches, this.accepts(node)));
    const own = node["oneOf"] === undefined ? node : { ...node, oneOf: "exactly one" };
    return this.described(lowered, own, used, place);
  }

  accepts(node: unknown): (value: unknown) => boolean {
    const { $schema, $defs, definitions } = this.root;
    return acceptedBy(() => ({ $schema, $defs, definitions, allOf: [node] }));
  }
}

const SAID = ["title", "description", "$comment"];
const HARMLESS = ["default", "examples", "deprecated", "readOnly", "writeOnly"];

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > LONGEST_NOTE ? `${text.slice(0, LONGEST_NOTE)}…` : text;
}

function typesOf({ type, properties, required, items, pattern, format }: SchemaNode): string[] {
  if (type !== undefined) return [type].flat().filter((name): name is string => typeof name === "string");
  if (properties !== undefined || required !== undefined) return ["object"];
  if (items !== undefined) return ["array"];
  return pattern !== undefined || format !== undefined ? ["string"] : [];
}

function nullable(lowered: Lowered): Lowered {
  const keep = (change: (value: unknown) => unknown) => (value: unknown) => (value === null ? null : change(value));
  return { ...lowered, schema: orNull(lowered.schema), encode: keep(lowered.encode), decode: keep(lowered.decode) };
}

/** Alternatives within alternatives as one list. */
function flattened(lowered: Lowered): Lowered {
  const branches = lowered.schema["anyOf"] as readonly SchemaNode[];
  const flat = branches.flatMap((branch) =>
    Array.isArray(branch["anyOf"]) ? (branch["anyOf"] as SchemaNode[]) : [branch],
  );
  return { ...lowered, schema: { anyOf: flat } };
}

/** Whether a value tells which alternative it is: JSON text looks like any other text. */
function areTold(branches: readonly Lowered[], dialect: SchemaDialect): boolean {
  const texts = branches.filter(({ schema }) => [schema["type"]].flat().includes("string"));
  if (texts.length > 1 && texts.some(({ plain }) => !plain)) return false;
  if (!dialect.distinctFirstKeys) return true;
  const firsts = branches.flatMap(({ schema }) => {
    const [first] = Object.entries(Object(schema["properties"]) as Record<string, SchemaNode>);
    return first === undefined ? [] : [first];
  });
  return firsts.every(([name, one], index) =>
    firsts.slice(index + 1).every(([other, two]) => {
      const values = two["enum"];
      if (name !== other) return true;
      return (
        Array.isArray(one["enum"]) && Array.isArray(values) && !one["enum"].some((value) => values.includes(value))
      );
    }),
  );
}

/** `enum` or `const` with the type that providers ask for; undefined without values, or if one is an object or a list. */
function lowerEnum(node: SchemaNode, dialect: SchemaDialect): Lowered | undefined {
  const all: readonly unknown[] = node["const"] !== undefined ? [node["const"]] : (node["enum"] as readonly unknown[]);
  if (all.length === 0 || all.some((value) => typeof value === "object" && value !== null)) return undefined;
  const byType = new Map<string, unknown[]>();
  for (const value of all.filter((one) => one !== null)) {
    const type = typeof value === "number" ? (all.every(isWhole) ? "integer" : "number") : typeof value;
    byType.set(type, [...(byType.get(type) ?? []), value]);
  }
  const branches = [...byType].map(([type, values]) => unchanged(ofType(type, values, dialect)));
  const [only] = branches;
  const lowered = branches.length === 1 && only !== undefined ? only : alternatives(branches, () => true);
  if (!all.includes(null)) return lowered;
  return branches.length === 0 ? unchanged({ type: "null" }) : { ...lowered, schema: orNull(lowered.schema) };
}

const isWhole = (value: unknown) => typeof value !== "number" || Number.isInteger(value);

function ofType(type: string, values: readonly unknown[], { stringEnums }: SchemaDialect): SchemaNode {
  if (type === "boolean" && values.length > 1) return { type };
  if (!stringEnums || (type === "string" && !values.includes(""))) return { type, enum: values };
  return { type, description: `One of ${values.map((value) => JSON.stringify(value)).join(", ")}.` };
}
