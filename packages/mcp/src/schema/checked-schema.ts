import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { InferInput } from "./standard.js";

/** Nothing for schemas that a tool can have. Otherwise a member that no schema fits, whose type says what to write. */
// The lists are spread, because the compiler then takes a schema that is itself a type parameter for a good one.
export type CheckedTool<I, O> = ([...InputAdvice<I>] extends [string] ? { input: InputAdvice<I>[number] } : unknown) &
  ([...ShapeAdvice<O>] extends [string] ? { output: ShapeAdvice<O>[number] } : unknown);

/** Nothing for schemas that a form can express. Otherwise a text that says what to write. */
export type CheckedForm<S> = [...FormAdvice<S>] extends [string] ? FormAdvice<S>[number] : unknown;

/** For an object of schemas, which is no schema itself; the type of JSON Schema takes it because it takes any keyword. */
type ShapeAdvice<S> = S extends StandardSchemaV1
  ? []
  : [Extract<S[keyof S], StandardSchemaV1>] extends [never]
    ? []
    : ["These are the members of a schema: write z.object({ … }) around them."];

/** For schemas of text, numbers, lists and the like. */
type InputAdvice<S> =
  unknown extends InferInput<S>
    ? ShapeAdvice<S>
    : IsScalarOrList<InferInput<S>> extends true
      ? ["Arguments have names: write z.object({ … }) with this as a member."]
      : [];

/** For schemas with members that are objects, or lists of anything but text. */
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

// `never` is what authors write who mean to get past the compiler.
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
