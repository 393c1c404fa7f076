import type { RequestParams, Result, TaskMetadata } from "../message.js";

/** A text field of a form. */
export interface StringSchema {
  type: "string";
  title?: string;
  description?: string;
  minLength?: number;
  maxLength?: number;
  format?: "email" | "uri" | "date" | "date-time";
  /** From 2025-11-25 on. */
  default?: string;
}

/** A number field of a form. */
export interface NumberSchema {
  type: "number" | "integer";
  title?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  /** From 2025-11-25 on. */
  default?: number;
}

/** A boolean field of a form. */
export interface BooleanSchema {
  type: "boolean";
  title?: string;
  description?: string;
  default?: boolean;
}

/** A choice of one among plain strings. */
export interface UntitledSingleSelectEnumSchema {
  type: "string";
  title?: string;
  description?: string;
  enum: string[];
  /** From 2025-11-25 on. */
  default?: string;
}

/** One option with a display name. From 2025-11-25 on. */
export interface TitledEnumOption {
  const: string;
  title: string;
}

/** A choice of one among titled values. From 2025-11-25 on. */
export interface TitledSingleSelectEnumSchema {
  type: "string";
  title?: string;
  description?: string;
  oneOf: TitledEnumOption[];
  default?: string;
}

/** A choice of several among plain strings. From 2025-11-25 on. */
export interface UntitledMultiSelectEnumSchema {
  type: "array";
  title?: string;
  description?: string;
  minItems?: number;
  maxItems?: number;
  items: { type: "string"; enum: string[] };
  default?: string[];
}

/** A choice of several among titled values. From 2025-11-25 on. */
export interface TitledMultiSelectEnumSchema {
  type: "array";
  title?: string;
  description?: string;
  minItems?: number;
  maxItems?: number;
  items: { anyOf: TitledEnumOption[] };
  default?: string[];
}

/** A choice of one with titles in `enumNames`, as in 2025-06-18; replaced by titled options since. */
export interface LegacyTitledEnumSchema {
  type: "string";
  title?: string;
  description?: string;
  enum: string[];
  enumNames?: string[];
  default?: string;
}

/** A field with one answer from a list. */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/** A field with several answers from a list. From 2025-11-25 on. */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/** A field with answers from a list. */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** A field of a form; forms are flat, so a field is never an object. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** The schema of a form. */
export interface ElicitRequestedSchema {
  $schema?: string;
  type: "object";
  properties: { [name: string]: PrimitiveSchemaDefinition };
  required?: string[];
}

/** Parameters of `elicitation/create` in form mode. From 2025-06-18 on; inside an interim result from 2026-07-28 on. */
export interface ElicitRequestFormParams extends RequestParams {
  /** On the wire from 2025-11-25 on; absent means `form`. */
  mode?: "form";
  message: string;
  requestedSchema: ElicitRequestedSchema;
  /** 2025-11-25 only. */
  task?: TaskMetadata;
}

/** Parameters of `elicitation/create` in URL mode: the user completes the interaction there. From 2025-11-25 on. */
export interface ElicitRequestURLParams extends RequestParams {
  mode: "url";
  message: string;
  url: string;
  /** Identifies the elicitation in `notifications/elicitation/complete`. Required in 2025-11-25, removed since. */
  elicitationId?: string;
  /** 2025-11-25 only. */
  task?: TaskMetadata;
}

/** Parameters of `elicitation/create`. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** The user's action: submitted, explicitly declined, or dismissed without a choice. */
export type ElicitAction = "accept" | "decline" | "cancel";

/** The answer to one field. */
export type ElicitValue = string | number | boolean | string[];

/** Whether a value is a valid answer to one field. */
export function isElicitValue(value: unknown): value is ElicitValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === "string");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Result of `elicitation/create`. */
export interface ElicitResult extends Result {
  action: ElicitAction;
  /** The answers; only with `accept`, and only in form mode. */
  content?: { [name: string]: ElicitValue };
}

/** Parameters of `notifications/elicitation/complete`. 2025-11-25 only. */
export interface ElicitationCompleteNotificationParams {
  elicitationId: string;
}

/** The `data` of error -32042: the URLs that the user must visit before the request can succeed. 2025-11-25 only. */
export interface URLElicitationRequiredErrorData {
  elicitations: ElicitRequestURLParams[];
}
