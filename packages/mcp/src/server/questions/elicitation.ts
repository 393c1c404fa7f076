import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ElicitRequestedSchema } from "../../protocol/features/elicitation.js";
import { standardFormats } from "../../schema/json-schema/formats.js";
import { describeIssues, type Parser } from "../../schema/parse.js";
import type { AnySchema } from "../../schema/standard.js";
import type { ServerCall } from "../call/server-call.js";
import type { ElicitReply } from "../context.js";
import { compileSchema } from "../tools/compile-schema.js";
import { fromFirstAnswer, toFirstForm, toForm } from "./form.js";

/** A schema made ready to be asked. */
export interface Form {
  readonly parser: Parser;
  readonly newest: ElicitRequestedSchema;
  /** As the first revision with forms has it. */
  readonly first: ElicitRequestedSchema;
}

/** Forms by the schema object they were made from; a schema at module scope is converted once. */
const forms = new WeakMap<object, Form>();

/** The form that a schema asks by. Throws when a form cannot ask for it. */
export function formOf(call: ServerCall, schema: AnySchema): Form {
  const known = forms.get(schema);
  if (known !== undefined) return known;
  const parser = compileSchema(schema, {
    io: "input",
    what: "a question",
    adapter: call.facts.options.toJsonSchema,
    formats: standardFormats,
  });
  const newest = toForm(parser.jsonSchema);
  const form = { parser, newest, first: toFirstForm(newest) };
  forms.set(schema, form);
  return form;
}

/** What the client is shown: older clients know fewer kinds of fields. */
export function requestedSchema(call: ServerCall, form: Form): ElicitRequestedSchema {
  return call.request.features.elicitation === "form" ? form.first : form.newest;
}

/** What the client answered, checked against what was asked. */
export async function readElicitReply(call: ServerCall, answer: unknown, form: Form): Promise<ElicitReply<unknown>> {
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action === "decline" || action === "cancel") return { action };
  if (!isObject(answer) || action !== "accept") {
    throw new McpError("invalid_params", "the answer to a question has no `action` of accept, decline or cancel");
  }
  const content = answer["content"] ?? {};
  const given =
    call.request.features.elicitation === "form" && isObject(content) ? fromFirstAnswer(form.newest, content) : content;
  const parsed = await form.parser.parse(given);
  if (parsed.ok) return { action, content: parsed.value };
  throw new McpError("invalid_params", `the answer to a question does not fit: ${describeIssues(parsed.issues)}`, {
    data: { requestedSchema: requestedSchema(call, form) },
  });
}
