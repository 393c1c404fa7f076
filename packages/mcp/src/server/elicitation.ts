import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { JsonSchemaObject } from "../schema/json-schema.js";
import { compileParser, describeIssues, type Parser } from "../schema/parse.js";
import type { AnySchema } from "../schema/standard.js";
import type { ElicitReply } from "./context.js";
import type { Run } from "./run.js";

interface Form {
  parser: Parser;
  form: JsonSchemaObject;
}

/** Forms by the schema object they were made from; a schema at module scope is converted once. */
const forms = new WeakMap<object, Form>();

/** The schema that a question asks by: a flat object of primitive fields. */
export function requestedSchema(run: Run, schema: AnySchema): Form {
  const known = forms.get(schema);
  if (known !== undefined) return known;
  const parser = compileParser(schema, { io: "input", what: "question", adapter: run.core.toJsonSchema });
  const form = flat(parser.jsonSchema);
  const made = { parser, form };
  forms.set(schema, made);
  return made;
}

/** Leaves out what forms do not have; refuses what a form cannot ask. */
function flat(schema: JsonSchemaObject): JsonSchemaObject {
  const properties = schema["properties"];
  if (schema["type"] !== "object" || !isObject(properties)) throw notFlat("is not an object with properties");
  for (const [name, field] of Object.entries(properties)) {
    const type = isObject(field) ? field["type"] : undefined;
    const primitive = type === "string" || type === "number" || type === "integer" || type === "boolean";
    if (!primitive && !(type === "array" && isObject(field) && isEnumList(field["items"]))) {
      throw notFlat(`has the field "${name}", which is no text, number, yes/no or choice`);
    }
  }
  const required = schema["required"];
  return { type: "object", properties, ...(Array.isArray(required) ? { required } : {}) } as JsonSchemaObject;
}

function isEnumList(items: unknown): boolean {
  return isObject(items) && (Array.isArray(items["enum"]) || Array.isArray(items["anyOf"]));
}

function notFlat(what: string): McpError {
  return new McpError("invalid_schema", `the schema of a question ${what}`, {
    fix: "Ask with a flat object of strings, numbers, booleans and enums.",
  });
}

/** What the client answered, checked against what was asked. */
export async function readElicitReply(
  answer: unknown,
  parser: Parser,
  form: JsonSchemaObject,
): Promise<ElicitReply<unknown>> {
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action === "decline" || action === "cancel") return { action };
  if (!isObject(answer) || action !== "accept") {
    throw new McpError("invalid_params", "the answer to a question has no `action` of accept, decline or cancel");
  }
  const parsed = await parser.parse(answer["content"] ?? {});
  if (parsed.ok) return { action, content: parsed.value };
  throw new McpError("invalid_params", `the answer to a question does not fit: ${describeIssues(parsed.issues)}`, {
    data: { requestedSchema: form },
  });
}
