import { isObject } from "../../jsonrpc/message.js";
import { legalName } from "../legal-name.js";
import { boundedSchema, type LoweredArguments, plainRoot } from "./lower-arguments.js";
import type { SchemaNode } from "./merge-schemas.js";

const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/**
 * The schema of arguments for a provider that accepts JSON Schema, but neither alternatives at its top nor every name of an
 * argument. Everything below stays as it is.
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

/** The schema as the server wrote it. */
export function sameArguments(schema: SchemaNode): LoweredArguments {
  return { schema: { ...schema }, lost: [], encode: (args) => ({ ...args }), decode: (args) => ({ ...args }) };
}
