import { isObject } from "../../jsonrpc/message.js";
import { legalName } from "../legal-name.js";
import { acceptsNull, type Lowered, orNull } from "./lowered.js";
import type { SchemaNode } from "./merge-schemas.js";
import type { Place, SchemaLowering } from "./schema-lowering.js";

interface Property {
  readonly inner: string;
  readonly outer: string;
  readonly lowered: Lowered;
  readonly required: boolean;
  /** `null` stands for a property that is absent. */
  readonly absentIsNull: boolean;
}

/** Objects with named properties; one with names of any kind becomes JSON text. */
export function lowerObject(lowering: SchemaLowering, node: SchemaNode, place: Place): Lowered {
  const { additionalProperties: more, patternProperties } = node;
  const isMap = (isObject(more) && Object.keys(more).length > 0) || patternProperties !== undefined;
  const names = namesOf(node);
  const { filledObjects } = lowering.dialect;
  const isFree = names.length === 0 && (more !== false || filledObjects);
  if (isMap || isFree) return lowering.text(node, place, "has properties with names of any kind");
  return objectOf(lowering, node, names, place);
}

/** Properties that a schema names, also those that it only requires. */
function namesOf({ properties, required }: SchemaNode): string[] {
  const listed = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return [...new Set([...Object.keys(Object(properties)), ...listed])];
}

/** The arguments as a whole, which are an object whatever they hold. */
export function lowerRoot(lowering: SchemaLowering, node: SchemaNode): Lowered {
  const { additionalProperties: more, patternProperties } = node;
  if ((more !== undefined && more !== false) || patternProperties !== undefined) {
    lowering.lost.push("the arguments: those that the schema does not name");
  }
  return objectOf(lowering, node, namesOf(node), { depth: 1, within: new Set(), path: "" });
}

function objectOf(lowering: SchemaLowering, node: SchemaNode, names: readonly string[], place: Place): Lowered {
  const properties = propertiesOf(lowering, node, names, place);
  const { allRequired, closed } = lowering.dialect;
  const kept = lowering.kept(node, "object");
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
  const object: Lowered = {
    schema,
    plain: plain && !closed,
    encode: (value) => (isObject(value) ? encoded(properties, value, allRequired) : value),
    decode: (value) => (isObject(value) ? decodedBy(byOuter, value) : value),
  };
  const used = ["type", "properties", "required", ...Object.keys(kept)];
  // Whoever fills in a form adds nothing that is not on it, so an open schema loses nothing.
  return lowering.described(object, node, [...used, "additionalProperties", "patternProperties"], place);
}

function propertiesOf(lowering: SchemaLowering, node: SchemaNode, names: readonly string[], place: Place): Property[] {
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

/** Whether `null` may be a value of its own. Alternatives that both have it may refuse it as a whole. */
function canBeNull(lowering: SchemaLowering, schema: unknown, lowered: Lowered): boolean {
  return acceptsNull(lowered.schema) && lowering.accepts(schema)(null);
}

function encoded(properties: readonly Property[], value: Record<string, unknown>, allRequired: boolean): unknown {
  const entries = properties.flatMap(({ inner, outer, lowered }): [string, unknown][] => {
    if (Object.hasOwn(value, inner)) return [[outer, lowered.encode(value[inner])]];
    return allRequired ? [[outer, null]] : [];
  });
  return Object.fromEntries(entries);
}

function decodedBy(byOuter: ReadonlyMap<string, Property>, value: Record<string, unknown>): unknown {
  const entries = Object.entries(value).flatMap(([name, inside]): [string, unknown][] => {
    const property = byOuter.get(name);
    // Left for the server to judge.
    if (property === undefined) return [[name, inside]];
    return inside === null && property.absentIsNull ? [] : [[property.inner, property.lowered.decode(inside)]];
  });
  return Object.fromEntries(entries);
}
