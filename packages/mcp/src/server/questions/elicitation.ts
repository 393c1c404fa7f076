import type { Question } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { compileSchema } from "../../protocol/compile-schema.js";
import { McpError } from "../../protocol/error.js";
import type { ElicitRequestedSchema } from "../../protocol/features/elicitation.js";
import { standardFormats } from "../../schema/json-schema/formats.js";
import { describeIssues, type Parser } from "../../schema/parse.js";
import type { AnySchema } from "../../schema/standard.js";
import type { ServerCall } from "../call/server-call.js";
import type { ElicitReply } from "../contract/context.js";
import { toForm } from "./form.js";

/** The client's answer, and the question in the form that the client got. */
export interface Answered {
  readonly answer: unknown;
  readonly shown: Question;
}

/** A compiled schema and the form that asks for it. */
export interface Form {
  readonly parser: Parser;
  readonly requestedSchema: ElicitRequestedSchema;
}

/** Forms by server and schema object, so that a schema at module scope is converted once, by each server as its options say. */
const forms = new WeakMap<object, WeakMap<object, Form>>();

/** The form for a schema. Throws when a form cannot express it. */
export function formOf(call: ServerCall, schema: AnySchema): Form {
  const own = forms.get(call.facts) ?? new WeakMap<object, Form>();
  forms.set(call.facts, own);
  const known = own.get(schema);
  if (known !== undefined) return known;
  const parser = compileSchema(schema, {
    io: "input",
    what: "a question",
    adapter: call.facts.options.toJsonSchema,
    formats: standardFormats,
  });
  const form = { parser, requestedSchema: toForm(parser.jsonSchema) };
  own.set(schema, form);
  return form;
}

/**
 * The user's reply, checked against the schema.
 *
 * Spec: Elicitation, "Response Actions",
 * https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions
 */
export async function readElicitReply({ answer, shown }: Answered, form: Form): Promise<ElicitReply<unknown>> {
  const action = isObject(answer) ? answer["action"] : undefined;
  if (action === "decline" || action === "cancel") return { action };
  if (!isObject(answer) || action !== "accept") {
    throw new McpError("invalid_params", "the `action` of an answer must be accept, decline or cancel");
  }
  const parsed = await form.parser.parse(answer["content"] ?? {});
  if (parsed.ok) return { action, content: parsed.value };
  throw new McpError(
    "invalid_params",
    `an answer does not fit the requested schema: ${describeIssues(parsed.issues)}`,
    {
      data: { requestedSchema: shown.params?.["requestedSchema"] },
    },
  );
}
