import type { RequestParams, Result, TaskMetadata } from "../message.js";

/** A text field of a form. */
export interface StringSchema {
  /** The JSON Schema type. */
  type: "string";
  /** The label of the field. */
  title?: string;
  /** An explanation for the user. */
  description?: string;
  /** The minimum number of characters. */
  minLength?: number;
  /** The maximum number of characters. */
  maxLength?: number;
  /** The required format of the text. Default: any text. */
  format?: "email" | "uri" | "date" | "date-time";
  /** The initial value. From 2025-11-25 on. */
  default?: string;
}

/** A number field of a form. */
export interface NumberSchema {
  /** The JSON Schema type: any number, or integers only. */
  type: "number" | "integer";
  /** The label of the field. */
  title?: string;
  /** An explanation for the user. */
  description?: string;
  /** The smallest allowed number. */
  minimum?: number;
  /** The largest allowed number. */
  maximum?: number;
  /** The initial value. From 2025-11-25 on. */
  default?: number;
}

/** A boolean field of a form. */
export interface BooleanSchema {
  /** The JSON Schema type. */
  type: "boolean";
  /** The label of the field. */
  title?: string;
  /** An explanation for the user. */
  description?: string;
  /** The initial value. */
  default?: boolean;
}

/** A choice of one value among plain strings. */
export interface UntitledSingleSelectEnumSchema {
  /** The JSON Schema type of the value. */
  type: "string";
  /** The label of the field. */
  title?: string;
  /** An explanation for the user. */
  description?: string;
  /** The values to choose from. */
  enum: string[];
  /** The initial value. From 2025-11-25 on. */
  default?: string;
}

/** One value of a choice, with a label. From 2025-11-25 on. */
export interface TitledEnumOption {
  /** The value that the answer contains. */
  const: string;
  /** The label that the user sees. */
  title: string;
}

/** A choice of one value among labelled values. From 2025-11-25 on. */
export interface TitledSingleSelectEnumSchema {
  /** The JSON Schema type of the value. */
  type: "string";
  /** The label of the field. */
  title?: string;
  /** An explanation for the user. */
  description?: string;
  /** The values to choose from, with their labels. */
  oneOf: TitledEnumOption[];
  /** The initial value. */
  default?: string;
}

/** A choice of several values among plain strings. From 2025-11-25 on. */
export interface UntitledMultiSelectEnumSchema {
  /** The JSON Schema type of the answer, a list of values. */
  type: "array";
  /** The label of the field. */
  title?: string;
  /** An explanation for the user. */
  description?: string;
  /** The minimum number of chosen values. */
  minItems?: number;
  /** The maximum number of chosen values. */
  maxItems?: number;
  /** The values to choose from. */
  items: { type: "string"; enum: string[] };
  /** The values chosen initially. */
  default?: string[];
}

/** A choice of several values among labelled values. From 2025-11-25 on. */
export interface TitledMultiSelectEnumSchema {
  /** The JSON Schema type of the answer, a list of values. */
  type: "array";
  /** The label of the field. */
  title?: string;
  /** An explanation for the user. */
  description?: string;
  /** The minimum number of chosen values. */
  minItems?: number;
  /** The maximum number of chosen values. */
  maxItems?: number;
  /** The values to choose from, with their labels. */
  items: { anyOf: TitledEnumOption[] };
  /** The values chosen initially. */
  default?: string[];
}

/**
 * A choice of one value with labels in `enumNames`, as in 2025-06-18. Later revisions use
 * `TitledSingleSelectEnumSchema`.
 */
export interface LegacyTitledEnumSchema {
  /** The JSON Schema type of the value. */
  type: "string";
  /** The label of the field. */
  title?: string;
  /** An explanation for the user. */
  description?: string;
  /** The values to choose from. */
  enum: string[];
  /** The labels of the values, in the order of `enum`. */
  enumNames?: string[];
  /** The initial value. From 2025-11-25 on. */
  default?: string;
}

/** A field whose answer is one value of a list. */
export type SingleSelectEnumSchema = UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema;

/** A field whose answer is several values of a list. From 2025-11-25 on. */
export type MultiSelectEnumSchema = UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema;

/** A field whose answer is chosen from a list. */
export type EnumSchema = SingleSelectEnumSchema | MultiSelectEnumSchema | LegacyTitledEnumSchema;

/** A field of a form. Forms are flat, so a field is never an object. */
export type PrimitiveSchemaDefinition = StringSchema | NumberSchema | BooleanSchema | EnumSchema;

/** The JSON Schema of a form. */
export interface ElicitRequestedSchema {
  /** The URI of the schema's dialect. Default: JSON Schema 2020-12. */
  $schema?: string;
  /** Always `object`: each field is a property. */
  type: "object";
  /** The fields, by name. */
  properties: { [name: string]: PrimitiveSchemaDefinition };
  /** The names of the fields that the user must fill in. */
  required?: string[];
}

/**
 * Parameters of `elicitation/create` in form mode. From 2025-06-18 on. From 2026-07-28 on, the request is part of an
 * interim result.
 */
export interface ElicitRequestFormParams extends RequestParams {
  /** On the wire from 2025-11-25 on; absent means `form`. */
  mode?: "form";
  /** The text that explains to the user what is requested. */
  message: string;
  /** The fields of the form. */
  requestedSchema: ElicitRequestedSchema;
  /** Asks the client to answer with a task. 2025-11-25 only. */
  task?: TaskMetadata;
}

/**
 * Parameters of `elicitation/create` in URL mode: the user completes the interaction on a web page. From 2025-11-25 on.
 */
export interface ElicitRequestURLParams extends RequestParams {
  /** Selects URL mode. */
  mode: "url";
  /** The text that explains to the user why the page must be opened. */
  message: string;
  /** The address of the page. The client opens it only with the user's consent. */
  url: string;
  /** The id that `notifications/elicitation/complete` repeats. Required in 2025-11-25, removed later. */
  elicitationId?: string;
  /** Asks the client to answer with a task. 2025-11-25 only. */
  task?: TaskMetadata;
}

/** Parameters of `elicitation/create`. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** The user's action: submitted, explicitly declined, or dismissed without a choice. */
export type ElicitAction = "accept" | "decline" | "cancel";

/** The answer to one field. */
export type ElicitValue = string | number | boolean | string[];

/**
 * True if a value is a possible answer to one field.
 *
 * @example
 * ```ts
 * import { isElicitValue } from "@parley/mcp/protocol";
 *
 * isElicitValue("blue"); // true
 * isElicitValue({ color: "blue" }); // false: forms are flat
 * ```
 */
export function isElicitValue(value: unknown): value is ElicitValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === "string");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Result of `elicitation/create`. */
export interface ElicitResult extends Result {
  /** The user's action. */
  action: ElicitAction;
  /** The answers by field name. Present only with `accept` in form mode. */
  content?: { [name: string]: ElicitValue };
}

/** Parameters of `notifications/elicitation/complete`. 2025-11-25 only. */
export interface ElicitationCompleteNotificationParams {
  /** The `elicitationId` of the completed elicitation. */
  elicitationId: string;
}

/** The `data` of error -32042: the URLs that the user must visit before the request can succeed. 2025-11-25 only. */
export interface URLElicitationRequiredErrorData {
  /** The pages that the user must complete. */
  elicitations: ElicitRequestURLParams[];
}
