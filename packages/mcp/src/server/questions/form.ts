import { thrownMessage } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ElicitRequestedSchema } from "../../protocol/features/elicitation.js";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";
import { compileSnapshot } from "../../schema/json-schema/validate.js";

type Members = Readonly<Record<string, unknown>>;

const FORMATS: readonly unknown[] = ["email", "uri", "date", "date-time"];

/**
 * Converts a schema to a form: a flat object of strings, numbers, booleans and enums.
 *
 * Omits constraints that forms do not have (patterns, other formats, exclusive bounds). They are checked in the answer.
 * Throws `invalid_schema` if a form cannot express the schema.
 *
 * Spec: Elicitation, "Requested Schema",
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function toForm(schema: JsonSchemaObject): ElicitRequestedSchema {
  const { properties } = schema;
  if (schema.type !== "object" || !isObject(properties)) throw notAForm("must be an object with properties");
  const fields = Object.entries(properties).map(([name, field]) => [name, toField(name, field)]);
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const stranger = required.find((name) => !(isText(name) && Object.hasOwn(properties, name)));
  if (stranger !== undefined) throw notAForm(`"required" names ${JSON.stringify(stranger)}, which is not a property`);
  const form = {
    type: "object",
    // `fromEntries` loses the type of the values that `toField` returned.
    properties: Object.fromEntries(fields) as ElicitRequestedSchema["properties"],
    // Safe: every item is the name of a property, as checked above.
    ...(Array.isArray(schema.required) ? { required: [...(required as string[])] } : {}),
  } as const;
  // Safe: a form is a JSON Schema. Only its interface is narrower and has no index signature.
  checkKeywords(form as unknown as JsonSchemaObject);
  return form;
}

/** Throws if a keyword has a value of the wrong type, which some schema libraries produce. */
function checkKeywords(form: JsonSchemaObject): void {
  try {
    compileSnapshot(form, {});
  } catch (error) {
    throw notAForm(thrownMessage(error));
  }
}

function notAForm(problem: string): McpError {
  return new McpError("invalid_schema", `a form cannot express the schema of a question: ${problem}`, {
    fix: "Ask with a flat object of strings, numbers, booleans and enums.",
  });
}

function toField(name: string, field: unknown): Members {
  const refuse = (problem: string) => notAForm(`property ${JSON.stringify(name)} ${problem}`);
  if (!isObject(field)) throw refuse("must be an object");
  const labels = pick(field, ["title", "description", "default"]);
  const choices = choicesOf(field);
  if (choices !== undefined) return { type: "string", ...labels, ...choices, ...pick(field, ["enumNames"]) };
  const { type } = field;
  switch (type) {
    case "string":
      if (Array.isArray(field["enum"]) && field["enum"].length === 0) throw refuse('must have strings in "enum"');
      return { type, ...labels, ...pick(field, ["minLength", "maxLength"]), ...formatOf(field) };
    case "number":
      return { type, ...labels, ...pick(field, ["minimum", "maximum"]) };
    case "integer":
      return { type, ...labels, ...integerBounds(field) };
    case "boolean":
      return { type, ...labels };
    case "array": {
      const items = isObject(field["items"]) ? choicesOf(field["items"]) : undefined;
      if (items === undefined) throw refuse("must list its choices in `items`, as an enum of strings");
      const listed = "oneOf" in items ? { anyOf: items.oneOf } : { type: "string", ...items };
      return { type, ...labels, ...pick(field, ["minItems", "maxItems"]), items: listed };
    }
    default: {
      const given = type === undefined ? "" : `, not ${JSON.stringify(type)}`;
      throw refuse(`must be a string, number, integer, boolean or list of choices${given}`);
    }
  }
}

type Choices = { oneOf: { const: string; title: string }[] } | { enum: string[] };

/**
 * Reads a choice of strings in any of the forms that schema libraries write: `enum`, `const`, or `oneOf`/`anyOf` of
 * `const`.
 */
function choicesOf(field: Members): Choices | undefined {
  const values = field["enum"];
  if (Array.isArray(values) && values.length > 0 && values.every(isText)) return { enum: values };
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

/**
 * Omits the bounds of safe integers, which libraries add and users do not need, and makes exclusive bounds inclusive.
 */
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
