import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ElicitRequestedSchema } from "../../protocol/features/elicitation.js";
import { checkForm } from "../../schema/form.js";
import type { JsonSchemaObject } from "../../schema/json-schema.js";

type Members = Readonly<Record<string, unknown>>;

const FORMATS: readonly unknown[] = ["email", "uri", "date", "date-time"];

/**
 * Converts a schema to a form: a flat object of strings, numbers, booleans and enums.
 *
 * Constraints that forms do not have (patterns, other formats, exclusive bounds) are left out and checked in the answer.
 * Throws `invalid_schema` when a form cannot express the schema.
 *
 * Spec: Elicitation, "Requested Schema",
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function toForm(schema: JsonSchemaObject): ElicitRequestedSchema {
  const { properties } = schema;
  if (schema.type !== "object" || !isObject(properties)) throw notAForm(["must be an object with properties"]);
  const fields = Object.entries(properties).map(([name, field]) => [name, isObject(field) ? toField(field) : field]);
  const required = Array.isArray(schema.required) ? { required: [...(schema.required as string[])] } : {};
  const form = { type: "object", properties: Object.fromEntries(fields) as object, ...required } as const;
  const problems = checkForm(form);
  if (problems.length > 0) throw notAForm(problems);
  // Sound, because `checkForm` has checked each property.
  return form as unknown as ElicitRequestedSchema;
}

function notAForm(problems: readonly string[]): McpError {
  return new McpError("invalid_schema", `a form cannot express the schema of a question: ${problems.join("; ")}`, {
    fix: "Ask with a flat object of strings, numbers, booleans and enums.",
  });
}

function toField(field: Members): Members {
  const labels = pick(field, ["title", "description", "default"]);
  const choices = choicesOf(field);
  if (choices !== undefined) return { type: "string", ...labels, ...choices, ...pick(field, ["enumNames"]) };
  switch (field["type"]) {
    case "string":
      return { type: "string", ...labels, ...pick(field, ["minLength", "maxLength"]), ...formatOf(field) };
    case "number":
      return { type: "number", ...labels, ...pick(field, ["minimum", "maximum"]) };
    case "integer":
      return { type: "integer", ...labels, ...integerBounds(field) };
    case "boolean":
      return { type: "boolean", ...labels };
    case "array":
      return toListField(field, labels);
    default:
      // Unchanged, so that `checkForm` reports what is wrong with it.
      return field;
  }
}

function toListField(field: Members, labels: Members): Members {
  const items = isObject(field["items"]) ? choicesOf(field["items"]) : undefined;
  if (items === undefined) return field;
  const choices = "oneOf" in items ? { anyOf: items.oneOf } : { type: "string", ...items };
  return { type: "array", ...labels, ...pick(field, ["minItems", "maxItems"]), items: choices };
}

type Choices = { oneOf: { const: string; title: string }[] } | { enum: string[] };

/** A choice of strings in any of the forms that schema libraries write: `enum`, `const`, or `oneOf`/`anyOf` of `const`. */
function choicesOf(field: Members): Choices | undefined {
  const values = field["enum"];
  if (Array.isArray(values) && values.every(isText)) return { enum: values };
  if (isText(field["const"])) return { enum: [field["const"]] };
  const options = field["oneOf"] ?? field["anyOf"];
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const alternatives = options.map((option: unknown) => (isObject(option) ? option : {}));
  if (!alternatives.every((option) => isText(option["const"]))) return undefined;
  const titled = alternatives.map((option) => ({ const: option["const"] as string, title: option["title"] }));
  if (titled.every(({ title }) => title === undefined)) return { enum: titled.map((option) => option.const) };
  return {
    oneOf: titled.map((option) => ({ const: option.const, title: isText(option.title) ? option.title : option.const })),
  };
}

function formatOf({ format }: { format?: unknown }): Members {
  return FORMATS.includes(format) ? { format } : {};
}

/** Leaves out the bounds of safe integers, which libraries add and users do not need, and makes exclusive bounds inclusive. */
function integerBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Record<string, unknown>): Members {
  const least = typeof exclusiveMinimum === "number" ? Math.floor(exclusiveMinimum) + 1 : minimum;
  const most = typeof exclusiveMaximum === "number" ? Math.ceil(exclusiveMaximum) - 1 : maximum;
  return {
    ...(typeof least === "number" && least > Number.MIN_SAFE_INTEGER ? { minimum: least } : {}),
    ...(typeof most === "number" && most < Number.MAX_SAFE_INTEGER ? { maximum: most } : {}),
  };
}

function pick(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(names.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
