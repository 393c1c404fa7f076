import { isObject } from "../../jsonrpc/message.js";
import { compileValidator, type Validator } from "../../schema/json-schema/validate.js";
import type { SchemaNode } from "./merge-schemas.js";

/** A schema in the form that a provider accepts, and how values change with it. */
export interface LoweredSchema {
  readonly schema: SchemaNode;
  /** True if values stay as they are. */
  readonly plain: boolean;
  /** A value of the tool's own schema in the provider's form. */
  encode(value: unknown): unknown;
  /** A value in the provider's form as the tool wants it. */
  decode(value: unknown): unknown;
}

const identity = (value: unknown) => value;

/** A schema whose values stay as they are. */
export function unchanged(schema: SchemaNode): LoweredSchema {
  return { schema, plain: true, encode: identity, decode: identity };
}

/**
 * A value that the provider cannot describe, as JSON text. What is no JSON stays the text that it is, and so does what `fits` the
 * tool only as a text: models forget the quotes around a number that is one.
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

/** Whether a lowered schema accepts `null`. */
export function acceptsNull({ type, anyOf }: SchemaNode): boolean {
  if (Array.isArray(anyOf)) return anyOf.some((branch) => isObject(branch) && acceptsNull(branch));
  return [type].flat().includes("null");
}

/** The same schema, and `null`. */
export function orNull(schema: SchemaNode): SchemaNode {
  if (acceptsNull(schema)) return schema;
  const { anyOf, enum: values, type } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  if (Array.isArray(values)) return { ...schema, type: [type, "null"].flat(), enum: [...values, null] };
  return { ...schema, type: [type, "null"].flat() };
}

/**
 * One of several forms. A value of the provider is read by the first one that accepts it and gives what `original` accepts.
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
 * Whether values fit a schema, which is compiled when it is first needed. One that cannot be checked, because it is too complex or
 * refers to places outside of it, accepts all: the server judges the value in any case.
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
