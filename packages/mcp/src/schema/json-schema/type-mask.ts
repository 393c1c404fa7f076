import type { JsonSchemaType } from "./json-schema.js";

/** The bit of each JSON type. An integral number has the `integer` bit, and the type `number` accepts it too. */
export const TYPE_BITS: Readonly<Record<JsonSchemaType, number>> = {
  null: 1,
  boolean: 2,
  integer: 4,
  number: 8,
  string: 16,
  array: 32,
  object: 64,
};

/** The mask of all types. */
export const ANY_TYPE = 127;

export function isTypeName(name: unknown): name is JsonSchemaType {
  return typeof name === "string" && Object.hasOwn(TYPE_BITS, name);
}

/**
 * Returns the bit of a value's type, or 0 for a value that JSON cannot represent. An integral number has the `integer`
 * bit.
 */
export function typeBit(value: unknown): number {
  switch (typeof value) {
    case "string":
      return 16;
    case "number":
      return Number.isInteger(value) ? 4 : 8;
    case "boolean":
      return 2;
    case "object":
      return value === null ? 1 : Array.isArray(value) ? 32 : 64;
    default:
      return 0;
  }
}

export function typeName(value: unknown): string {
  const bit = typeBit(value);
  for (const [name, typeBits] of Object.entries(TYPE_BITS)) if (typeBits === bit) return name;
  return typeof value;
}
