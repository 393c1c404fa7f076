import { isObject } from "../../jsonrpc/message.js";
import { compileValidator, type Validator } from "../../schema/json-schema/validate.js";
import type { SchemaNode } from "./merge-schemas.js";

/** A schema in a provider's dialect, with conversions for its values. */
export interface LoweredSchema {
  readonly schema: SchemaNode;
  /** True if values need no conversion. */
  readonly plain: boolean;
  /** Converts a value of the tool's schema to the provider's form. */
  encode(value: unknown): unknown;
  /** Converts a value from the provider's form to the form that the tool expects. */
  decode(value: unknown): unknown;
}

const identity = (value: unknown) => value;

/** A schema whose values need no conversion. */
export function unchanged(schema: SchemaNode): LoweredSchema {
  return { schema, plain: true, encode: identity, decode: identity };
}

/**
 * Represents a value as JSON text, because the provider's dialect cannot describe it. Decoding parses the text. It
 * returns the text itself if the text is not JSON, or if the tool accepts the text but not the parsed value. The second
 * case occurs because models omit the quotes around strings that look like numbers.
 */
export function jsonText(description: string, isAccepted: (value: unknown) => boolean): LoweredSchema {
  return {
    schema: { type: "string", description },
    plain: false,
    encode: (value) => JSON.stringify(value),
    decode: (value) => {
      const read = parsed(value);
      return read === value || isAccepted(read) || !isAccepted(value) ? read : value;
    },
  };
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** True if a converted schema accepts `null`. */
export function acceptsNull({ type, anyOf }: SchemaNode): boolean {
  if (Array.isArray(anyOf)) return anyOf.some((branch) => isObject(branch) && acceptsNull(branch));
  return [type].flat().includes("null");
}

/** Adds `null` to the values that a schema accepts. */
export function orNull(schema: SchemaNode): SchemaNode {
  if (acceptsNull(schema)) return schema;
  const { anyOf, enum: values, type } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  if (Array.isArray(values)) return { ...schema, type: [type, "null"].flat(), enum: [...values, null] };
  return { ...schema, type: [type, "null"].flat() };
}

/**
 * Combines alternatives. Decoding uses the first alternative whose schema accepts the value and for which `original`
 * accepts the decoded value. If no alternative meets both conditions, decoding uses the first alternative whose schema
 * accepts the value.
 */
export function alternatives(branches: readonly LoweredSchema[], original: (value: unknown) => boolean): LoweredSchema {
  const schema = { anyOf: branches.map((branch) => branch.schema) };
  if (branches.every(({ plain }) => plain)) return unchanged(schema);
  const checks = branches.map((branch) => acceptedBy(() => branch.schema));
  const decode = (value: unknown) => {
    const fitting = branches.filter((_branch, index) => checks[index]?.(value));
    const decoded = fitting.map((branch) => branch.decode(value));
    const best = decoded.findIndex(original);
    return decoded.length === 0 ? value : decoded[Math.max(0, best)];
  };
  const encode = (value: unknown) => {
    const encoded = branches
      .map((branch) => branch.encode(value))
      .filter((one, index) => checks[index]?.(one) && original(decode(one)));
    return encoded.find((one) => isSame(decode(one), value)) ?? encoded[0] ?? value;
  };
  return { schema, plain: false, encode, decode };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Returns a validator for a schema, compiled on first use. The validator accepts every value if the schema is too
 * complex or refers to another document, because the server validates the value anyway.
 */
export function acceptedBy(schema: () => SchemaNode): (value: unknown) => boolean {
  let validator: Validator | undefined;
  return (value) => {
    try {
      validator ??= compileValidator(schema());
      return validator.validate(value).valid;
    } catch {
      return true;
    }
  };
}
