import { formIssues } from "@parley/mcp/host";
import {
  type CreateMessageResult,
  type ElicitValue,
  isElicitValue,
  isSamplingContent,
  McpError,
} from "@parley/mcp/protocol";
import { isRecord, optionalTextOf, textOf } from "../engine/read-input.js";

/** What is wrong with a form, and at which of its fields. */
export interface FormIssue {
  /** A JSON pointer; empty for the form as a whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * The content of a form as it is sent: defaults fill what was left out. Throws `invalid_params` for content that does not fit, with
 * a `FormIssue` for each place in `data.issues`.
 */
export function checkedContent(
  schema: unknown,
  content: Readonly<Record<string, unknown>>,
): Record<string, ElicitValue> {
  const filled = withDefaults(schema, content);
  const issues = formIssues(schema, filled).map((issue) => placed(issue, namesOf(schema, filled)));
  if (issues.length === 0) return filled;
  throw new McpError("invalid_params", `the answer does not fit the form: ${issues.map(sentence).join("; ")}`, {
    data: { issues },
    fix: "Correct the fields that are named, and send the form again.",
  });
}

function withDefaults(schema: unknown, content: Readonly<Record<string, unknown>>): Record<string, ElicitValue> {
  const defaults = Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const value = isRecord(property) ? property["default"] : undefined;
    return Object.hasOwn(content, name) || !isElicitValue(value) ? [] : [[name, value] as const];
  });
  // Without issues, which are looked for next, every value is an `ElicitValue`.
  return Object.fromEntries([...Object.entries(content), ...defaults]) as Record<string, ElicitValue>;
}

function namesOf(schema: unknown, content: object): readonly string[] {
  const names = [...Object.keys(propertiesOf(schema)), ...Object.keys(content)];
  // The longest first: the name of one field may be the beginning of another's.
  return [...new Set(names)].sort((a, b) => b.length - a.length);
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  return isRecord(properties) ? properties : {};
}

/** Names of fields may hold spaces, so that the place is found by them and not by its end. */
function placed(issue: string, names: readonly string[]): FormIssue {
  for (const name of names) {
    const quoted = JSON.stringify(name);
    const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (issue === `must have the property ${quoted}`) return { path, message: "must be given" };
    if (issue === `must not have the property ${quoted}`) return { path, message: "is not asked for" };
    for (const start of [path, `/${name}`]) {
      const rest = issue.startsWith(start) ? issue.slice(start.length) : "";
      if (rest.startsWith(" ")) return { path, message: rest.slice(1) };
      const item = /^(\/\d+) (.*)$/s.exec(rest);
      if (item !== null) return { path: `${path}${item[1]}`, message: item[2] ?? "" };
    }
  }
  return { path: "", message: issue };
}

function sentence({ path, message }: FormIssue): string {
  return `${path} ${message}`.trim();
}

/** What a model answered, as the page or the configured command gave it. Throws `invalid_params` for what is no such answer. */
export function checkedSample(given: object): CreateMessageResult {
  const model = textOf(given, "model");
  const role = textOf(given, "role");
  const stopReason = optionalTextOf(given, "stopReason");
  const { content } = given as { content?: unknown };
  if (role !== "assistant" && role !== "user") throw refusal("`role` is nobody's", 'Send "assistant".');
  if (!isContent(content)) {
    throw refusal("`content` is no content of a message", 'Send a block such as { "type": "text", "text": "…" }.');
  }
  return { model, role, content, ...(stopReason === undefined ? {} : { stopReason }) };
}

function isContent(content: unknown): content is CreateMessageResult["content"] {
  return Array.isArray(content) ? content.length > 0 && content.every(isSamplingContent) : isSamplingContent(content);
}

function refusal(message: string, fix: string): McpError {
  return new McpError("invalid_params", message, { fix });
}
