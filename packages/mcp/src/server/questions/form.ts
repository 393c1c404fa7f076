import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ElicitRequestedSchema } from "../../protocol/features/elicitation.js";
import { checkForm } from "../../schema/form.js";
import type { JsonSchemaObject } from "../../schema/json-schema.js";

type Members = Readonly<Record<string, unknown>>;

const FORMATS: readonly unknown[] = ["email", "uri", "date", "date-time"];

/**
 * The form that asks for what a schema describes: a flat object of texts, numbers, yes/no and choices.
 *
 * What forms cannot say (patterns, other formats, exclusive bounds) is left out here and checked in the answer. Throws
 * `invalid_schema` for what a form cannot ask for.
 */
export function toForm(schema: JsonSchemaObject): ElicitRequestedSchema {
  const { properties } = schema;
  if (schema.type !== "object" || !isObject(properties)) throw notAForm(["must be an object with properties"]);
  const fields = Object.entries(properties).map(([name, field]) => [name, isObject(field) ? toField(field) : field]);
  const required = Array.isArray(schema.required) ? { required: [...(schema.required as string[])] } : {};
  const form = { type: "object", properties: Object.fromEntries(fields) as object, ...required } as const;
  const problems = checkForm(form);
  if (problems.length > 0) throw notAForm(problems);
  // The check above has looked at each property.
  return form as unknown as ElicitRequestedSchema;
}

function notAForm(problems: readonly string[]): McpError {
  return new McpError("invalid_schema", `the schema of a question cannot be asked by a form: ${problems.join("; ")}`, {
    fix: "Ask with a flat object of strings, numbers, booleans and enums.",
  });
}

function toField(field: Members): Members {
  const said = pick(field, ["title", "description", "default"]);
  const choices = choicesOf(field);
  if (choices !== undefined) return { type: "string", ...said, ...choices, ...pick(field, ["enumNames"]) };
  switch (field["type"]) {
    case "string":
      return { type: "string", ...said, ...pick(field, ["minLength", "maxLength"]), ...formatOf(field) };
    case "number":
      return { type: "number", ...said, ...pick(field, ["minimum", "maximum"]) };
    case "integer":
      return { type: "integer", ...said, ...integerBounds(field) };
    case "boolean":
      return { type: "boolean", ...said };
    case "array":
      return toListField(field, said);
    default:
      // Left as it is: the check of the form says what is wrong with it.
      return field;
  }
}

function toListField(field: Members, said: Members): Members {
  const items = isObject(field["items"]) ? choicesOf(field["items"]) : undefined;
  if (items === undefined) return field;
  const choices = "oneOf" in items ? { anyOf: items.oneOf } : { type: "string", ...items };
  return { type: "array", ...said, ...pick(field, ["minItems", "maxItems"]), items: choices };
}

type Choices = { oneOf: { const: string; title: string }[] } | { enum: string[] };

/** A choice among texts, however the schema's library says it: `enum`, `const`, or alternatives of which each is one. */
function choicesOf(field: Members): Choices | undefined {
  const values = field["enum"];
  if (Array.isArray(values) && values.every(isText)) return { enum: values };
  if (isText(field["const"])) return { enum: [field["const"]] };
  const options = field["oneOf"] ?? field["anyOf"];
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const found = options.map((option: unknown) => (isObject(option) ? option : {}));
  if (!found.every((option) => isText(option["const"]))) return undefined;
  const titled = found.map((option) => ({ const: option["const"] as string, title: option["title"] }));
  if (titled.every(({ title }) => title === undefined)) return { enum: titled.map((option) => option.const) };
  return {
    oneOf: titled.map((option) => ({ const: option.const, title: isText(option.title) ? option.title : option.const })),
  };
}

function formatOf({ format }: { format?: unknown }): Members {
  return FORMATS.includes(format) ? { format } : {};
}

/** Libraries bound whole numbers by what a double holds, which is of no use to a reader, and often exclusively. */
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
