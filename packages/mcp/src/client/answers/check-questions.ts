import { isWebAddress } from "../../encoding/web-address.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import {
  type ElicitRequestParams,
  type ElicitResult,
  type ElicitValue,
  isElicitValue,
} from "../../protocol/features/elicitation.js";
import { standardFormats } from "../../schema/json-schema/formats.js";
import type { JsonSchemaObject } from "../../schema/json-schema/json-schema.js";
import { SchemaError } from "../../schema/json-schema/schema-error.js";
import { compileValidator } from "../../schema/json-schema/validate.js";

/** Throws `invalid_params` for a question that must not reach the application: no page is shown whose address may deceive. */
export function checkElicitation({ mode = "form", message, url, requestedSchema }: Params): void {
  if (typeof message !== "string") throw refuse("the question has no message");
  if (mode === "form") {
    if (!isObject(requestedSchema)) throw refuse("the form has no requestedSchema");
  } else if (mode !== "url") throw refuse(`there is no mode ${JSON.stringify(mode)}`);
  else if (!isWebAddress(url))
    throw refuse("the page has no https address that can be shown, free of credentials and hidden characters");
}

function refuse(message: string): McpError {
  return new McpError("invalid_params", message, {
    fix: "The server has to send a question that the protocol allows.",
  });
}

/**
 * Makes the application's answer to a form or a page fit for the wire: defaults fill what was left out, the content is checked
 * against the form, and only an accepted form has content. A page is never opened here.
 *
 * Spec: Elicitation, "Safe URL Handling", https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling
 */
export function elicitResult(question: ElicitRequestParams, answer: object): ElicitResult {
  // The application may be written without types.
  const { action, content = {} } = answer as ElicitResult;
  if (action !== "accept" && action !== "decline" && action !== "cancel") {
    throw new McpError("misuse", `\`onElicit\` gave the action ${JSON.stringify(action)}`, {
      fix: "Return `accept`, `decline` or `cancel` from `onElicit`.",
    });
  }
  if (action !== "accept" || question.mode === "url") return { action };
  const schema: unknown = question.requestedSchema;
  // Any object may be a schema; `formIssues` refuses one that cannot be used.
  const filled = isObject(schema) ? applyDefaults(schema as JsonSchemaObject, content) : { ...content };
  const issues = formIssues(schema, filled);
  // Safe: without issues every value is an `ElicitValue`.
  if (issues.length === 0) return { action, content: filled as Record<string, ElicitValue> };
  throw new McpError("invalid_params", `the answer does not fit the form: ${issues.join("; ")}`, {
    data: { issues },
    fix: "Return content that fits `requestedSchema` from `onElicit`.",
  });
}

/**
 * What keeps an answer from fitting the schema of a form, one sentence each; nothing if it fits. A form that asks with it can tell
 * the user before the answer is sent, where `connect` refuses the same. Throws `invalid_params` for a schema that cannot be used.
 */
export function formIssues(schema: unknown, content: Readonly<Record<string, unknown>>): string[] {
  const unfit = Object.entries(content).filter(([, value]) => !isElicitValue(value));
  if (unfit.length > 0) return unfit.map(([name]) => `/${name} is not a string, number, boolean or list of strings`);
  try {
    const verdict = compileValidator(schema ?? true, { formats: standardFormats }).validate(content);
    return verdict.valid ? [] : verdict.errors.map(({ path, message }) => `${path} ${message}`.trim());
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw new McpError("invalid_params", `the form cannot be used: ${error.message}`, {
      cause: error,
      fix: "Tell the server's authors: a form is a flat JSON Schema of primitive values.",
    });
  }
}

/** Returns a copy of an answer with the form's defaults for the properties that it leaves out. */
export function applyDefaults(
  schema: JsonSchemaObject,
  content: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const filled: [string, unknown][] = Object.entries(content);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (Object.hasOwn(content, name) || !isObject(property) || property["default"] === undefined) continue;
    filled.push([name, property["default"]]);
  }
  // fromEntries defines members, so "__proto__" stays an ordinary member.
  return Object.fromEntries(filled);
}

/** The error without the pages that must not be opened: an application may hand them to a browser. */
export function withSafePages(error: McpError): McpError {
  const { kind, message, code, data, remote } = error;
  if (kind !== "url_elicitation_required" || !isObject(data) || !Array.isArray(data["elicitations"])) return error;
  const all: unknown[] = data["elicitations"];
  const elicitations = all.filter((one) => isObject(one) && isWebAddress(one["url"]));
  if (elicitations.length === all.length) return error;
  return new McpError(kind, message, { code, remote, data: { ...data, elicitations } });
}

/** Throws when a sampling request breaks a rule that the client must watch over. */
export function checkSampling(params: Params, toolsDeclared: boolean): void {
  if (!toolsDeclared && (params["tools"] !== undefined || params["toolChoice"] !== undefined)) {
    throw refuse('the request has tools, and this client did not declare "sampling.tools"');
  }
  if (typeof params["maxTokens"] !== "number") throw refuse("the request has no maxTokens");
  const { messages } = params;
  if (!Array.isArray(messages)) throw refuse("the request has no messages");
  checkToolTurns(messages);
}

/**
 * Every use of a tool is answered in the very next message, and a message with answers contains nothing else.
 *
 * Spec: Sampling, "Tool Use and Result Balance", https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#tool-use-and-result-balance
 */
function checkToolTurns(messages: readonly unknown[]): void {
  let open = new Set<unknown>();
  messages.forEach((message, index) => {
    const blocks = blocksOf(message);
    const answers = blocks.filter((block) => block["type"] === "tool_result");
    if (answers.length > 0 && answers.length < blocks.length) {
      throw refuse(`messages[${index}] mixes tool results with other content`);
    }
    for (const { toolUseId } of answers) {
      if (!open.delete(toolUseId)) throw refuse(`messages[${index}] answers the unknown tool use ${say(toolUseId)}`);
    }
    if (open.size > 0) throw refuse(`messages[${index}] leaves the tool use ${say([...open][0])} without a result`);
    open = new Set(blocks.filter((block) => block["type"] === "tool_use").map((block) => block["id"]));
  });
  if (open.size > 0) throw refuse(`the tool use ${say([...open][0])} has no result`);
}

function blocksOf(message: unknown): Record<string, unknown>[] {
  const content = isObject(message) ? message["content"] : undefined;
  return (Array.isArray(content) ? content : [content]).filter(isObject);
}

function say(id: unknown): string {
  return JSON.stringify(id) ?? "without an id";
}
