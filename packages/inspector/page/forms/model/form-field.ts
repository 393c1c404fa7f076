import type { SchemaObject } from "./merge-schemas.js";

/** One of the values listed in a schema. */
export interface ChoiceOption {
  readonly value: unknown;
  readonly title: string;
  readonly description?: string | undefined;
}

/** A member named in a schema. */
export interface FieldMember {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

/** A schema for members that the object's schema does not name. */
export interface FieldExtras {
  /** The regular expression of `patternProperties`. It is shown, never run. */
  readonly pattern?: string | undefined;
  readonly schema: unknown;
}

/** One of several shapes of a value. */
export interface FieldBranch {
  readonly title: string;
  readonly schema: unknown;
}

/** The properties common to all fields. */
export interface FieldCommon {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** The constraints of the schema besides its type, in words. */
  readonly hints: readonly string[];
  /** True if null is allowed. */
  readonly nullable: boolean;
  readonly deprecated: boolean;
  readonly schema: SchemaObject;
}

/**
 * A field of a form, one level deep. Members, items and branches are schemas, which become fields when they are
 * rendered.
 */
export type FormField = FieldCommon &
  (
    | { readonly kind: "text"; readonly format?: string | undefined; readonly multiline: boolean }
    | { readonly kind: "number"; readonly integer: boolean }
    | { readonly kind: "boolean" }
    | { readonly kind: "null" }
    | { readonly kind: "choice"; readonly options: readonly ChoiceOption[] }
    | { readonly kind: "choices"; readonly options: readonly ChoiceOption[] }
    | {
        readonly kind: "object";
        readonly members: readonly FieldMember[];
        readonly extras: readonly FieldExtras[];
      }
    | {
        readonly kind: "array";
        readonly prefix: readonly unknown[];
        /** Undefined if no items may follow the prefix. */
        readonly items?: unknown;
        readonly minItems: number;
        readonly maxItems: number;
      }
    | { readonly kind: "branches"; readonly branches: readonly FieldBranch[] }
    /** Any JSON. `problem` explains why the schema could not be used. */
    | { readonly kind: "json"; readonly problem?: string | undefined }
  );

export type FieldKind = FormField["kind"];

/** Maximum number of members, options and branches of one field. Values beyond these limits can be entered as JSON. */
export const MAX_MEMBERS = 5_000;
export const MAX_OPTIONS = 2_000;
export const MAX_BRANCHES = 100;
