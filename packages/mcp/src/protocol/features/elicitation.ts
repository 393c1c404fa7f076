import type { RequestParams, Result } from "../message.js";
import type { TaskMetadata } from "./task-metadata.js";

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

/** A yes-or-no field of a form. */
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

/** One option that is shown under another name than its value. From 2025-11-25 on. */
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

/** A choice of one whose titles stand beside the values, as 2025-06-18 has it; titled options have replaced it since. */
export interface LegacyTitledEnumSchema {
  type: "string";
  title?: string;
  description?: string;
  enum: string[];
  enumNames?: string[];
  default?: string;
}

/** A field with one answer out of a list. */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/** A field with several answers out of a list. From 2025-11-25 on. */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/** A field with answers out of a list. */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** A field of a form: forms are flat, so there are no objects within. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** The schema of a form. */
export interface ElicitRequestedSchema {
  $schema?: string;
  type: "object";
  properties: { [name: string]: PrimitiveSchemaDefinition };
  required?: string[];
}

/** Parameters of `elicitation/create` for a form. From 2025-06-18 on; in 2026-07-28 asked inside an interim result. */
export interface ElicitRequestFormParams extends RequestParams {
  /** On the wire from 2025-11-25 on; absent means `form`. */
  mode?: "form";
  message: string;
  requestedSchema: ElicitRequestedSchema;
  /** 2025-11-25 only. */
  task?: TaskMetadata;
}

/** Parameters of `elicitation/create` for something the user does at an address. From 2025-11-25 on. */
export interface ElicitRequestURLParams extends RequestParams {
  mode: "url";
  message: string;
  url: string;
  /** Names the elicitation in `notifications/elicitation/complete`. Required in 2025-11-25, gone since. */
  elicitationId?: string;
  /** 2025-11-25 only. */
  task?: TaskMetadata;
}

/** Parameters of `elicitation/create`. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** What the user did: answered, said no, or turned away without a choice. */
export type ElicitAction = "accept" | "decline" | "cancel";

/** The answer to one field. */
export type ElicitValue = string | number | boolean | string[];

/** Tells whether a value can be the answer to one field. */
export function isElicitValue(value: unknown): value is ElicitValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === "string");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Result of `elicitation/create`. */
export interface ElicitResult extends Result {
  action: ElicitAction;
  /** The answers; only with `accept`, and only of a form. */
  content?: { [name: string]: ElicitValue };
}

/** Parameters of `notifications/elicitation/complete`. 2025-11-25 only. */
export interface ElicitationCompleteNotificationParams {
  elicitationId: string;
}

/** The `data` of error -32042, by which a 2025-11-25 server says what the user must do first. */
export interface URLElicitationRequiredErrorData {
  elicitations: ElicitRequestURLParams[];
}
