import { thrownMessage } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import { snapshot } from "../../schema/json-schema/snapshot.js";
import { lowerRoot, SchemaLowerer } from "./lower-schema.js";
import { mergeSchemas, plainSchema, type SchemaNode } from "./merge-schemas.js";
import { legalName, type SchemaDialect } from "./schema-dialect.js";

/** A tool's arguments in the form that a provider accepts. */
export interface LoweredArguments {
  readonly schema: Record<string, unknown>;
  /** The constraints that the provider's schema cannot express, by argument. The server still enforces them. */
  readonly lost: readonly string[];
  /** Converts arguments of the tool to the provider's form. */
  encode(args: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Converts arguments from a model to the form that the tool expects. */
  decode(args: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/**
 * Converts the schema of a tool's arguments to a provider's dialect. Never throws; `lost` lists dropped constraints.
 */
export function lowerArguments(schema: SchemaNode, dialect: SchemaDialect): LoweredArguments {
  const lost: string[] = [];
  const root = boundedSchema(schema, lost);
  const lowering = new SchemaLowerer(dialect, root);
  const lowered = lowerRoot(lowering, plainRoot(root, lost));
  // Safe: `lowerRoot` maps objects to objects.
  return {
    schema: { ...lowered.schema },
    lost: [...new Set([...lost, ...lowering.lost])],
    encode: (args) => lowered.encode(args) as Record<string, unknown>,
    decode: (args) => lowered.decode(args) as Record<string, unknown>,
  };
}

/** Maximum size of a tool's schema. A larger schema is replaced by one without arguments. */
const MAX_SIZE = { schemaNodes: 10_000, schemaDepth: 128 };

/** Copies a schema. A schema that is too large becomes one without arguments. */
function boundedSchema(schema: SchemaNode, lost: string[]): SchemaNode {
  try {
    // Safe: the copy of an object is an object.
    return snapshot(schema, MAX_SIZE) as SchemaNode;
  } catch (error) {
    lost.push(`the arguments: all, because ${thrownMessage(error)}`);
    return { type: "object" };
  }
}

/** Removes `$ref`, `allOf`, `anyOf` and `oneOf` from the top level, where providers reject them. */
function plainRoot(schema: SchemaNode, lost: string[]): SchemaNode {
  const { allOf: _allOf, $ref: _$ref, ...own } = schema;
  const merged = plainSchema(schema, schema, new Set());
  if (merged === undefined) lost.push("the arguments: allOf");
  const { anyOf, oneOf, ...rest } = merged ?? own;
  let root: SchemaNode = rest;
  for (const [keyword, list] of Object.entries({ anyOf, oneOf })) {
    if (!Array.isArray(list)) continue;
    lost.push(`the arguments: ${keyword}`);
    root = withAlternatives(schema, root, list, keyword);
  }
  return root;
}

/** Merges the properties of all alternatives. Requires only the properties that every alternative requires. */
function withAlternatives(whole: SchemaNode, root: SchemaNode, list: readonly unknown[], keyword: string): SchemaNode {
  const branches = list.flatMap((one) => {
    const plain = isObject(one) ? plainSchema(whole, one, new Set()) : undefined;
    return plain === undefined ? [] : [plain];
  });
  const properties = new Map<string, unknown>(Object.entries(Object(root["properties"])));
  for (const name of new Set(branches.flatMap((branch) => Object.keys(Object(branch["properties"]))))) {
    const own = branches.flatMap(({ properties: some }) =>
      Object.hasOwn(Object(some), name) ? [Object(some)[name]] : [],
    );
    const before = properties.get(name);
    const either = own.length === 1 ? own[0] : { anyOf: own };
    properties.set(name, before === undefined ? either : (mergeSchemas(before, either) ?? before));
  }
  const requiredBy = (branch: SchemaNode): unknown[] => (Array.isArray(branch["required"]) ? branch["required"] : []);
  const all = branches.length < list.length ? [] : requiredBy(branches[0] ?? {});
  const common = all.filter((name) => branches.every((branch) => requiredBy(branch).includes(name)));
  const needs = branches.map((branch) => requiredBy(branch).join(" and ") || "nothing more").join("; or ");
  const note = `(${keyword === "anyOf" ? "At least one" : "Exactly one"} of: ${needs}.)`.slice(0, 400);
  const described = typeof root["description"] === "string" ? `${root["description"]} ${note}` : note;
  return {
    ...root,
    properties: Object.fromEntries(properties),
    required: [...new Set([...requiredBy(root), ...common])],
    description: described,
  };
}

const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/**
 * Adapts a schema for providers that accept JSON Schema except for top-level alternatives and some property names.
 * Everything below the top level is unchanged.
 */
export function openArguments(schema: SchemaNode): LoweredArguments {
  const lost: string[] = [];
  const root = plainRoot(boundedSchema(schema, lost), lost);
  const properties = isObject(root["properties"]) ? root["properties"] : {};
  const names = Object.keys(properties);
  const taken = new Set(names.filter((name) => PROPERTY_NAME.test(name)));
  const outer = new Map<string, string>();
  for (const name of names) {
    const legal = taken.has(name) ? name : legalName(name, taken);
    taken.add(legal);
    outer.set(name, legal);
  }
  const inner = new Map([...outer].map(([name, legal]) => [legal, name]));
  const required: readonly unknown[] = Array.isArray(root["required"]) ? root["required"] : [];
  return {
    schema: {
      ...root,
      type: "object",
      properties: renamed(properties, outer),
      ...(required.length === 0 ? {} : { required: required.map((name) => outer.get(String(name)) ?? name) }),
    },
    lost,
    encode: (args) => renamed(args, outer),
    decode: (args) => renamed(args, inner),
  };
}

function renamed(
  members: Readonly<Record<string, unknown>>,
  names: ReadonlyMap<string, string>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [names.get(name) ?? name, value]));
}

/** Returns the schema as the server wrote it. */
export function sameArguments(schema: SchemaNode): LoweredArguments {
  return { schema: { ...schema }, lost: [], encode: (args) => ({ ...args }), decode: (args) => ({ ...args }) };
}
