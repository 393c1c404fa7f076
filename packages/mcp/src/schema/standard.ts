import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { isThenable, neverUnhandled } from "../encoding/maybe-promise.js";
import type { JsonSchemaObject } from "./json-schema/json-schema.js";
import { SchemaError } from "./json-schema/schema-error.js";
import { isSchemaObject } from "./json-schema/schema-resources.js";
import { snapshot } from "./json-schema/snapshot.js";
import { type SchemaLimits, schemaSize } from "./json-schema/validate.js";

/** A schema as users write it: from any Standard Schema library, or plain JSON Schema. */
export type AnySchema = StandardSchemaV1 | JsonSchemaObject;

/** The type of the values that a schema accepts. */
export type InferInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : FromJsonSchema<S>;

/** The type of the values that parsing with a schema returns. */
export type InferOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : FromJsonSchema<S>;

/**
 * The type that a literal JSON Schema describes with `const`, `enum`, `type`, `properties`, `required` and `items`,
 * otherwise `unknown`. Ignores combinators and references to keep type checking fast.
 */
export type FromJsonSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: infer T }
      ? FromType<T extends readonly (infer U)[] ? U : T, S>
      : unknown;

type FromType<T, S> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? S extends { readonly items: infer I }
            ? FromJsonSchema<I>[]
            : unknown[]
          : T extends "object"
            ? FromProperties<S>
            : unknown;

type FromProperties<S> = S extends { readonly properties: infer P }
  ? S extends { readonly required: readonly (infer R)[] }
    ? { [K in keyof P as K extends R ? K : never]: FromJsonSchema<P[K]> } & {
        [K in keyof P as K extends R ? never : K]?: FromJsonSchema<P[K]>;
      } extends infer V
      ? { [K in keyof V]: V[K] }
      : never
    : { [K in keyof P]?: FromJsonSchema<P[K]> }
  : Record<string, unknown>;

/** The side of a schema: the values it accepts (`input`) or the values that parsing returns (`output`). */
export type SchemaSide = "input" | "output";

/**
 * Converts a library's schema to JSON Schema, for libraries whose schemas cannot convert themselves.
 *
 * `toJsonSchema` from `@valibot/to-json-schema`, `zodToJsonSchema` from `zod-to-json-schema` and `z.toJSONSchema` can be
 * passed directly: each reads the side from the option that it knows (`io` or `typeMode`).
 */
// The parameter is `never`, so that a function with its own library's schema type is assignable.
export type JsonSchemaAdapter = (schema: never, options: { io: SchemaSide; typeMode: SchemaSide }) => unknown;

/** Options of `toJsonSchema`. */
export interface ToJsonSchemaOptions {
  /** The side to convert. */
  readonly io: SchemaSide;
  /** Description of the schema for error messages, such as `tool "forecast" input`. */
  readonly what: string;
  /** The converter for schemas that cannot convert themselves. Default: none. */
  readonly adapter?: JsonSchemaAdapter | undefined;
  /** Limits on the converted schema. Each has a default. */
  readonly limits?: SchemaLimits | undefined;
}

/** True for a Standard Schema, false for plain JSON Schema. */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return false;
  const standard: unknown = Reflect.get(schema, "~standard");
  return typeof standard === "object" && standard !== null && typeof Reflect.get(standard, "validate") === "function";
}

/**
 * Converts any schema to JSON Schema, as a frozen plain object.
 *
 * Uses the schema's own `~standard.jsonSchema`, then its `toJSONSchema` or `toJsonSchema` method, then the adapter.
 * Throws `SchemaError` with code `conversion_unavailable`, naming the adapter to pass, if none of them exists.
 */
export function toJsonSchema(schema: AnySchema, options: ToJsonSchemaOptions): JsonSchemaObject {
  const { what } = options;
  let converted: unknown = schema;
  if (isStandardSchema(schema)) {
    const convert = converterOf(schema, options);
    if (convert === undefined) throw unavailable(schema, what);
    try {
      converted = convert();
      if (isThenable(converted)) {
        neverUnhandled(Promise.resolve(converted));
        throw new TypeError("the conversion returned a promise");
      }
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const path = failingPath(schema, options);
      const where = path === "" ? "" : ` (at ${path})`;
      throw new SchemaError(
        "conversion_failed",
        `The schema of ${what} cannot be converted to JSON Schema: ${reason}${where}`,
        { path, cause },
      );
    }
  }
  if (typeof converted !== "object" || converted === null || Array.isArray(converted)) {
    throw new SchemaError("conversion_failed", `The schema of ${what} must be a JSON Schema object.`);
  }
  const copy = snapshot(converted, schemaSize(options.limits));
  if (isSchemaObject(copy)) return copy;
  throw new SchemaError("conversion_failed", `The schema of ${what} must be a JSON Schema object.`);
}

/**
 * Returns the JSON pointer to the part of a schema that cannot be converted, because schema libraries do not report
 * that part. Converts the parts one by one, by the names that zod uses. Returns an empty pointer for other libraries.
 */
function failingPath(schema: StandardSchemaV1, options: ToJsonSchemaOptions, depth = 0): string {
  const { shape, element, innerType, valueType, options: some } = Object(Reflect.get(schema, "def")) as ZodDefinition;
  const parts: [string, unknown][] = [
    ...Object.entries(shape ?? {}).map(([key, part]): [string, unknown] => [`/${key}`, part]),
    ...[element, innerType, valueType, ...(some ?? [])].map((part): [string, unknown] => ["", part]),
  ];
  for (const [path, part] of depth > 16 ? [] : parts) {
    if (!isStandardSchema(part)) continue;
    try {
      converterOf(part, options)?.();
    } catch {
      return path + failingPath(part, options, depth + 1);
    }
  }
  return "";
}

/** The members of a zod definition that contain other schemas. */
interface ZodDefinition {
  readonly shape?: object;
  readonly element?: unknown;
  readonly innerType?: unknown;
  readonly valueType?: unknown;
  readonly options?: readonly unknown[];
}

function converterOf(schema: StandardSchemaV1, options: ToJsonSchemaOptions): (() => unknown) | undefined {
  const { io, adapter } = options;
  const standard = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>; // The optional part of the same interface.
  const { jsonSchema } = standard;
  if (jsonSchema !== undefined) return () => jsonSchema[io]({ target: "draft-2020-12" });
  for (const name of ["toJSONSchema", "toJsonSchema"]) {
    const method: unknown = Reflect.get(schema, name);
    if (typeof method === "function") return () => Reflect.apply(method, schema, [{ io }]);
  }
  // The adapter declares its parameter as `never`, because only its author knows which schemas it accepts.
  return adapter === undefined ? undefined : () => adapter(schema as never, { io, typeMode: io });
}

function unavailable(schema: StandardSchemaV1, what: string): SchemaError {
  const { vendor } = schema["~standard"];
  const adapters: Readonly<Record<string, string>> = {
    valibot: 'toJsonSchema from "@valibot/to-json-schema"',
    zod: "_zod" in schema ? 'z.toJSONSchema from "zod"' : 'zodToJsonSchema from "zod-to-json-schema"',
  };
  const adapter = Object.hasOwn(adapters, vendor) ? adapters[vendor] : "a function (schema, { io }) => JSON Schema";
  return new SchemaError(
    "conversion_unavailable",
    `The schema of ${what} cannot be converted to JSON Schema by ${vendor} itself; pass the option toJsonSchema: ${adapter}.`,
  );
}

/**
 * `unknown` for schemas that a tool can have. Otherwise an object type whose member `input` or `output` has the advice
 * as its type. No schema is assignable to this member, so the compiler's error shows the advice.
 */
// Spreading the lists makes the compiler accept a schema that is itself a type parameter.
export type CheckedTool<I, O> = ([...InputAdvice<I>] extends [string] ? { input: InputAdvice<I>[number] } : unknown) &
  ([...ShapeAdvice<O>] extends [string] ? { output: ShapeAdvice<O>[number] } : unknown);

/** `unknown` for schemas that a form can express. Otherwise a string type with the advice. */
export type CheckedForm<S> = [...FormAdvice<S>] extends [string] ? FormAdvice<S>[number] : unknown;

/**
 * Advice for an object of schemas. Such an object is not a schema, but the JSON Schema type accepts it, because that
 * type allows any keyword.
 */
type ShapeAdvice<S> = S extends StandardSchemaV1
  ? []
  : [Extract<S[keyof S], StandardSchemaV1>] extends [never]
    ? []
    : ["This is an object of schemas, not a schema: write z.object({ … }) around it."];

/** Advice for input schemas of strings, numbers, lists and other values that are not objects. */
type InputAdvice<S> =
  unknown extends InferInput<S>
    ? ShapeAdvice<S>
    : IsScalarOrList<InferInput<S>> extends true
      ? ["Arguments need names: write z.object({ … }) with this schema as a property."]
      : [];

/** Advice for schemas with properties that are objects, or lists of anything but strings. */
type FormAdvice<S> =
  unknown extends InferInput<S>
    ? ShapeAdvice<S>
    : IsScalarOrList<InferInput<S>> extends true
      ? [FlatForm]
      : [NotAField<InferInput<S>[keyof InferInput<S>]>] extends [never]
        ? []
        : [FlatForm];

type FlatForm = "A form is a flat z.object({ … }) of strings, numbers, booleans and enums.";
type Scalar = string | number | boolean | bigint | symbol | null | undefined;

// `never` passes, because authors write it to bypass the type check.
type IsScalarOrList<V> = [V] extends [never] ? false : [V] extends [Scalar | readonly unknown[]] ? true : false;

type NotAField<V> = unknown extends V
  ? never
  : V extends Scalar
    ? never
    : V extends readonly (infer E)[]
      ? unknown extends E
        ? never
        : E extends string
          ? never
          : V
      : V;
