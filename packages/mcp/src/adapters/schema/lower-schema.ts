import { isObject } from "../../jsonrpc/message.js";
import {
  acceptedBy,
  acceptsNull,
  alternatives,
  jsonText,
  type LoweredSchema,
  orNull,
  unchanged,
} from "./lowered-schema.js";
import { CONTAINERS, findReference, mergeSchemas, plainSchema, type SchemaNode } from "./merge-schemas.js";
import { legalName, type SchemaDialect } from "./schema-dialect.js";

/** Maximum number of subschemas that are converted. Values of further subschemas are passed as JSON text. */
const MAX_NODES = 2000;
const MAX_NOTE_LENGTH = 400;
const ANY_JSON = "Any JSON value, as JSON text.";

/** A position in a schema. */
interface SchemaPosition {
  /** Number of enclosing objects and lists. */
  readonly depth: number;
  /** References followed on the path to this position. */
  readonly within: ReadonlySet<string>;
  /** Path for messages, such as `city.name`. */
  readonly path: string;
}

/** Converts one schema to a provider's dialect. */
export class SchemaLowerer {
  readonly dialect: SchemaDialect;
  /** Descriptions of the constraints that the converted schema cannot express. */
  readonly lost: string[] = [];
  readonly root: SchemaNode;
  /** Shortened JSON of schemas, cached because many positions may refer to one schema. */
  readonly #texts = new Map<unknown, string>();
  #nodes = 0;

  constructor(dialect: SchemaDialect, root: SchemaNode) {
    this.dialect = dialect;
    this.root = root;
  }

  lower(schema: unknown, place: SchemaPosition): LoweredSchema {
    if (!isObject(schema) || ++this.#nodes > MAX_NODES) return this.asJsonText(schema, place, "is any JSON value");
    const within = new Set(place.within);
    const node = plainSchema(this.root, schema, within);
    if (node === undefined) return this.asJsonText(schema, place, "is recursive or combines schemas");
    const here = { ...place, within };
    const choices = node["anyOf"] ?? node["oneOf"];
    if (Array.isArray(choices)) return this.#choices(node, choices, here);
    if (node["const"] !== undefined || Array.isArray(node["enum"])) {
      const lowered = lowerEnum(node, this.dialect);
      if (lowered === undefined)
        return this.asJsonText(schema, place, "has an empty enum, or one with objects or lists");
      return this.withDescription(lowered, node, ["enum", "const", "type"], here);
    }
    const types = typesOf(node);
    if (types.length === 0) return this.asJsonText(schema, place, "is any JSON value");
    const [type = "", ...others] = types.filter((name) => name !== "null");
    if (others.length > 0)
      return this.#choices(
        node,
        types.map((name) => ({ type: name })),
        here,
      );
    if (type === "") return this.withDescription(unchanged({ type: "null" }), node, ["type"], here);
    const lowered = this.#typed(type, node, here);
    return types.includes("null") ? nullable(lowered) : lowered;
  }

  /** Represents the whole value as JSON text. */
  asJsonText(schema: unknown, { path }: SchemaPosition, why: string): LoweredSchema {
    this.lost.push(`${path || "the arguments"}: JSON text, because it ${why}`);
    const purpose = isObject(schema) && typeof schema["description"] === "string" ? `${schema["description"]} ` : "";
    const form =
      isObject(schema) && Object.keys(schema).length > 0 ? `JSON text of: ${this.#schemaJson(schema)}` : ANY_JSON;
    return jsonText(`${purpose}${form}`, this.accepts(schema));
  }

  #schemaJson(schema: SchemaNode): string {
    const target = schema["$ref"] === undefined ? schema : (findReference(this.root, schema["$ref"]) ?? schema);
    const text = this.#texts.get(target) ?? shortJson(target);
    this.#texts.set(target, text);
    return text;
  }

  /** Adds title and description, and a note for each keyword that the provider's schema cannot express. */
  withDescription(
    lowered: LoweredSchema,
    node: SchemaNode,
    used: readonly string[],
    { path }: SchemaPosition,
  ): LoweredSchema {
    const { title, description } = node;
    const notes: string[] = [];
    for (const [keyword, value] of Object.entries(node)) {
      if (used.includes(keyword) || CONTAINERS.includes(keyword) || DESCRIPTIVE.includes(keyword)) continue;
      notes.push(`${keyword}: ${shortJson(value)}`);
      if (!ANNOTATIVE.includes(keyword)) this.lost.push(`${path || "the arguments"}: ${keyword}`);
    }
    const texts = [title, description, lowered.schema["description"]].filter((text) => typeof text === "string");
    const text = [...new Set(texts), ...(notes.length > 0 ? [`(${notes.join("; ")})`] : [])].join(" ");
    return text === "" ? lowered : { ...lowered, schema: { ...lowered.schema, description: text } };
  }

  #typed(type: string, node: SchemaNode, place: SchemaPosition): LoweredSchema {
    if (type === "object" || type === "array") {
      if (place.depth >= this.dialect.maxDepth) return this.asJsonText(node, place, "is nested too deeply");
      const inside = { ...place, depth: place.depth + 1 };
      return type === "object" ? lowerObject(this, node, inside) : this.#list(node, inside);
    }
    const supportedKeywords =
      type === "string"
        ? this.#stringKeywords(node)
        : this.supportedKeywords(node, type === "boolean" ? undefined : "number");
    return this.withDescription(
      unchanged({ type, ...supportedKeywords }),
      node,
      ["type", ...Object.keys(supportedKeywords)],
      place,
    );
  }

  #stringKeywords(node: SchemaNode): SchemaNode {
    const { pattern, format, ...kept } = this.supportedKeywords(node, "string");
    return {
      ...kept,
      ...(typeof pattern === "string" && this.dialect.pattern(pattern) ? { pattern } : {}),
      ...(typeof format === "string" && this.dialect.formats.includes(format) ? { format } : {}),
    };
  }

  /** Returns the keywords of a schema that the provider supports. */
  supportedKeywords(node: SchemaNode, type: keyof SchemaDialect["keywords"] | undefined): SchemaNode {
    const known = type === undefined ? [] : this.dialect.keywords[type];
    const isFit = (keyword: string, value: unknown) =>
      known.includes(keyword) && typeof value === (keyword === "pattern" || keyword === "format" ? "string" : "number");
    return Object.fromEntries(Object.entries(node).filter(([keyword, value]) => isFit(keyword, value)));
  }

  #list(node: SchemaNode, place: SchemaPosition): LoweredSchema {
    if (Array.isArray(node["items"]) || node["prefixItems"] !== undefined) {
      return this.asJsonText(node, place, "is a list with a schema per position");
    }
    const items = this.lower(node["items"] ?? true, { ...place, path: `${place.path}[]` });
    const kept = this.supportedKeywords(node, "array");
    const each = (value: unknown, change: (item: unknown) => unknown) =>
      Array.isArray(value) ? value.map(change) : value;
    const list: LoweredSchema = {
      schema: { type: "array", items: items.schema, ...kept },
      plain: items.plain,
      encode: (value) => each(value, items.encode),
      decode: (value) => each(value, items.decode),
    };
    return this.withDescription(list, node, ["type", "items", ...Object.keys(kept)], place);
  }

  #choices(node: SchemaNode, choices: readonly unknown[], place: SchemaPosition): LoweredSchema {
    const { anyOf: _anyOf, oneOf: _oneOf, title, description, default: _default, examples: _examples, ...base } = node;
    const used = ["anyOf", ...Object.keys(base)];
    const merged = choices.map((choice) => (Object.keys(base).length === 0 ? choice : mergeSchemas(base, choice)));
    if (merged.includes(undefined) || (node["anyOf"] !== undefined && node["oneOf"] !== undefined)) {
      return this.asJsonText(node, place, "combines schemas");
    }
    const branches = merged.map((choice) => this.lower(choice, place));
    const [only, ...more] = branches;
    if (only !== undefined && more.length === 0) return this.withDescription(only, { title, description }, [], place);
    if (only === undefined) return this.asJsonText(node, place, "has no alternatives");
    if (!areDistinguishable(branches, this.dialect))
      return this.asJsonText(node, place, "has alternatives that cannot be told apart");
    const lowered = flattened(alternatives(branches, this.accepts(node)));
    const own = node["oneOf"] === undefined ? node : { ...node, oneOf: "exactly one" };
    return this.withDescription(lowered, own, used, place);
  }

  /**
   * Returns a validator for a part of the tool's own schema. It accepts every value if that part cannot be validated.
   */
  accepts(node: unknown): (value: unknown) => boolean {
    const { $schema, $defs, definitions } = this.root;
    return acceptedBy(() => ({ $schema, $defs, definitions, allOf: [node] }));
  }
}

const DESCRIPTIVE = ["title", "description", "$comment"];
const ANNOTATIVE = ["default", "examples", "deprecated", "readOnly", "writeOnly"];

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > MAX_NOTE_LENGTH ? `${text.slice(0, MAX_NOTE_LENGTH)}…` : text;
}

function typesOf({ type, properties, required, items, pattern, format }: SchemaNode): string[] {
  if (type !== undefined) return [type].flat().filter((name): name is string => typeof name === "string");
  if (properties !== undefined || required !== undefined) return ["object"];
  if (items !== undefined) return ["array"];
  return pattern !== undefined || format !== undefined ? ["string"] : [];
}

function nullable(lowered: LoweredSchema): LoweredSchema {
  const passNull = (change: (value: unknown) => unknown) => (value: unknown) => (value === null ? null : change(value));
  return {
    ...lowered,
    schema: orNull(lowered.schema),
    encode: passNull(lowered.encode),
    decode: passNull(lowered.decode),
  };
}

/** Flattens nested alternatives into one list. */
function flattened(lowered: LoweredSchema): LoweredSchema {
  const branches = lowered.schema["anyOf"] as readonly SchemaNode[];
  const flat = branches.flatMap((branch) =>
    Array.isArray(branch["anyOf"]) ? (branch["anyOf"] as SchemaNode[]) : [branch],
  );
  return { ...lowered, schema: { anyOf: flat } };
}

/**
 * True if a value shows which alternative it belongs to. JSON text cannot be distinguished from other strings. Some
 * dialects also require that objects differ in their first property.
 */
function areDistinguishable(branches: readonly LoweredSchema[], dialect: SchemaDialect): boolean {
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

/**
 * Converts `enum` or `const`, and adds the type that providers require. Undefined if there are no values, or if a value
 * is an object or a list.
 */
function lowerEnum(node: SchemaNode, dialect: SchemaDialect): LoweredSchema | undefined {
  const all: readonly unknown[] = node["const"] !== undefined ? [node["const"]] : (node["enum"] as readonly unknown[]);
  if (all.length === 0 || all.some((value) => typeof value === "object" && value !== null)) return undefined;
  const byType = new Map<string, unknown[]>();
  for (const value of all.filter((one) => one !== null)) {
    const type = typeof value === "number" ? (all.every(isWhole) ? "integer" : "number") : typeof value;
    byType.set(type, [...(byType.get(type) ?? []), value]);
  }
  const branches = [...byType].map(([type, values]) => unchanged(enumOfType(type, values, dialect)));
  const [only] = branches;
  const lowered = branches.length === 1 && only !== undefined ? only : alternatives(branches, () => true);
  if (!all.includes(null)) return lowered;
  return branches.length === 0 ? unchanged({ type: "null" }) : { ...lowered, schema: orNull(lowered.schema) };
}

const isWhole = (value: unknown) => typeof value !== "number" || Number.isInteger(value);

function enumOfType(type: string, values: readonly unknown[], { stringEnums }: SchemaDialect): SchemaNode {
  if (type === "boolean" && values.length > 1) return { type };
  if (!stringEnums || (type === "string" && !values.includes(""))) return { type, enum: values };
  return { type, description: `One of ${values.map((value) => JSON.stringify(value)).join(", ")}.` };
}

interface LoweredProperty {
  readonly inner: string;
  readonly outer: string;
  readonly lowered: LoweredSchema;
  readonly required: boolean;
  /** True if `null` represents an absent property. */
  readonly absentIsNull: boolean;
}

/** Converts an object with named properties. An object with arbitrary names becomes JSON text. */
function lowerObject(lowering: SchemaLowerer, node: SchemaNode, place: SchemaPosition): LoweredSchema {
  const { additionalProperties: more, patternProperties } = node;
  const isMap = (isObject(more) && Object.keys(more).length > 0) || patternProperties !== undefined;
  const names = namesOf(node);
  const { filledObjects } = lowering.dialect;
  const isFree = names.length === 0 && (more !== false || filledObjects);
  if (isMap || isFree) return lowering.asJsonText(node, place, "has properties with arbitrary names");
  return objectOf(lowering, node, names, place);
}

/** Returns the property names in `properties` and `required`. */
function namesOf({ properties, required }: SchemaNode): string[] {
  const listed = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return [...new Set([...Object.keys(Object(properties)), ...listed])];
}

/** Converts the arguments as a whole. The result is always an object, because providers require one. */
export function lowerRoot(lowering: SchemaLowerer, node: SchemaNode): LoweredSchema {
  const { additionalProperties: more, patternProperties } = node;
  if ((more !== undefined && more !== false) || patternProperties !== undefined) {
    lowering.lost.push("the arguments: additional properties");
  }
  return objectOf(lowering, node, namesOf(node), { depth: 1, within: new Set(), path: "" });
}

function objectOf(
  lowering: SchemaLowerer,
  node: SchemaNode,
  names: readonly string[],
  place: SchemaPosition,
): LoweredSchema {
  const properties = propertiesOf(lowering, node, names, place);
  const { allRequired, closed } = lowering.dialect;
  const kept = lowering.supportedKeywords(node, "object");
  const required = properties.filter((property) => allRequired || property.required).map(({ outer }) => outer);
  const schema = {
    type: "object",
    properties: Object.fromEntries(properties.map(({ outer, lowered }) => [outer, lowered.schema])),
    ...(required.length > 0 || allRequired ? { required } : {}),
    ...(closed ? { additionalProperties: false } : {}),
    ...kept,
  };
  const plain = properties.every((one) => one.lowered.plain && one.inner === one.outer && !one.absentIsNull);
  const byOuter = new Map(properties.map((property) => [property.outer, property]));
  const object: LoweredSchema = {
    schema,
    plain: plain && !closed,
    encode: (value) => (isObject(value) ? encodeProperties(properties, value, allRequired) : value),
    decode: (value) => (isObject(value) ? decodeProperties(byOuter, value) : value),
  };
  const used = ["type", "properties", "required", ...Object.keys(kept)];
  // `additionalProperties` gets no note: models fill in only the listed properties, so they do not need to know whether
  // other properties are allowed.
  return lowering.withDescription(object, node, [...used, "additionalProperties", "patternProperties"], place);
}

function propertiesOf(
  lowering: SchemaLowerer,
  node: SchemaNode,
  names: readonly string[],
  place: SchemaPosition,
): LoweredProperty[] {
  const { allRequired, propertyName } = lowering.dialect;
  const schemas = Object(node["properties"]) as SchemaNode;
  const required: readonly unknown[] = Array.isArray(node["required"]) ? node["required"] : [];
  const taken = new Set(names.filter((name) => propertyName?.test(name) !== false));
  return names.map((inner) => {
    const schema = Object.hasOwn(schemas, inner) ? schemas[inner] : true;
    const lowered = lowering.lower(schema, { ...place, path: place.path === "" ? inner : `${place.path}.${inner}` });
    const isRequired = required.includes(inner);
    const absentIsNull = allRequired && !isRequired && !canBeNull(lowering, schema, lowered);
    const outer = taken.has(inner) ? inner : legalName(inner, taken);
    taken.add(outer);
    return {
      inner,
      outer,
      lowered: absentIsNull ? { ...lowered, schema: orNull(lowered.schema) } : lowered,
      required: isRequired,
      absentIsNull,
    };
  });
}

/**
 * True if `null` is a valid value of the property. The converted schema alone does not prove this: a `oneOf` rejects
 * `null` if two of its alternatives accept it.
 */
function canBeNull(lowering: SchemaLowerer, schema: unknown, lowered: LoweredSchema): boolean {
  return acceptsNull(lowered.schema) && lowering.accepts(schema)(null);
}

function encodeProperties(
  properties: readonly LoweredProperty[],
  value: Record<string, unknown>,
  allRequired: boolean,
): unknown {
  const entries = properties.flatMap(({ inner, outer, lowered }): [string, unknown][] => {
    if (Object.hasOwn(value, inner)) return [[outer, lowered.encode(value[inner])]];
    return allRequired ? [[outer, null]] : [];
  });
  return Object.fromEntries(entries);
}

function decodeProperties(byOuter: ReadonlyMap<string, LoweredProperty>, value: Record<string, unknown>): unknown {
  const entries = Object.entries(value).flatMap(([name, inside]): [string, unknown][] => {
    const property = byOuter.get(name);
    // Pass unknown properties on: the server validates them.
    if (property === undefined) return [[name, inside]];
    return inside === null && property.absentIsNull ? [] : [[property.inner, property.lowered.decode(inside)]];
  });
  return Object.fromEntries(entries);
}
