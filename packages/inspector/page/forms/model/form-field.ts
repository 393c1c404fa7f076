import type { SchemaObject } from "./merge-schemas.js";

/** One of several values that a schema lists. */
export interface ChoiceOption {
  readonly value: unknown;
  readonly title: string;
  readonly description?: string | undefined;
}

/** A member of an object that a schema names. */
export interface FieldMember {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

/** What members may be that a schema does not name. */
export interface FieldExtras {
  /** The expression of `patternProperties`; it is shown, never run. */
  readonly pattern?: string | undefined;
  readonly schema: unknown;
}

/** One of several shapes that a value may have. */
export interface FieldBranch {
  readonly title: string;
  readonly schema: unknown;
}

/** What every field has. */
export interface FieldCommon {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** What the schema demands besides the type, in words. */
  readonly hints: readonly string[];
  /** Null is a value as well. */
  readonly nullable: boolean;
  readonly deprecated: boolean;
  readonly schema: SchemaObject;
}

/** A field of a form, one level deep: members, items and branches are schemas, which become fields when they are shown. */
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
        /** Undefined where no items may follow the prefix. */
        readonly items?: unknown;
        readonly minItems: number;
        readonly maxItems: number;
      }
    | { readonly kind: "branches"; readonly branches: readonly FieldBranch[] }
    /** Any JSON; `problem` says why the schema is of no help. */
    | { readonly kind: "json"; readonly problem?: string | undefined }
  );

export type FieldKind = FormField["kind"];

/** Members, options and branches that a form shows; those beyond can be written as JSON. */
export const MOST_MEMBERS = 5_000;
export const MOST_OPTIONS = 2_000;
export const MOST_BRANCHES = 100;
