import { formIssues } from "@parley/mcp/host";
import type { ElicitRequestFormParams } from "@parley/mcp/protocol";
import type { OptionReader } from "../commands/option-reader.js";
import { UsageError } from "../terminal/usage-error.js";
import { listOf, memberOf, parsedJson, resolveSchema, typedValue } from "./typed-value.js";

/** Answers of the command line to forms: by name, as text still to be typed or as values. */
export type PreparedAnswers = ReadonlyMap<string, { readonly text: string } | { readonly value: unknown }>;

/** What the prepared answers make of one form. */
export interface Prepared {
  readonly content: Readonly<Record<string, unknown>>;
  /** Required fields that nobody has answered. */
  readonly missing: readonly string[];
  /** Why an answer does not fit its field. */
  readonly problem?: string;
}

/** Reads `--answers` and `--answer`; undefined if neither is given. The second outweighs the first. */
export function preparedAnswers(options: OptionReader): PreparedAnswers | undefined {
  const json = options.text("answers");
  const pairs = options.many("answer");
  if (json === undefined && pairs.length === 0) return undefined;
  const answers = new Map<string, { text: string } | { value: unknown }>();
  if (json !== undefined) {
    const parsed = parsedJson(json);
    const value = "value" in parsed ? parsed.value : undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new UsageError("--answers is not a JSON object", `Write it as --answers '{"name": "value"}'.`);
    }
    for (const [name, one] of Object.entries(value)) answers.set(name, { value: one });
  }
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError("an --answer has no name and value", "Write it as --answer name=value.");
    answers.set(pair.slice(0, at), { text: pair.slice(at + 1) });
  }
  return answers;
}

/** The fields of this form that the command line has answered. */
export function prepareForm(answers: PreparedAnswers, { requestedSchema }: ElicitRequestFormParams): Prepared {
  const properties = memberOf(requestedSchema, "properties");
  const content: [string, unknown][] = [];
  for (const [name, answer] of answers) {
    const property = memberOf(properties, name);
    if (property === undefined) continue;
    const schema = resolveSchema(property, requestedSchema);
    const typed = "value" in answer ? answer : typedValue(answer.text, schema, requestedSchema);
    if ("problem" in typed) return { content: {}, missing: [], problem: `the answer of "${name}": ${typed.problem}` };
    content.push([name, typed.value]);
  }
  const given = Object.fromEntries(content);
  const missing = listOf(memberOf(requestedSchema, "required")).filter(
    (name): name is string =>
      typeof name === "string" &&
      !Object.hasOwn(given, name) &&
      memberOf(memberOf(properties, name), "default") === undefined,
  );
  // Missing fields are told apart, and a person may still be asked for them.
  const [issue] = missing.length > 0 ? [] : formIssues({ ...requestedSchema, required: [] }, given);
  return { content: given, missing, ...(issue === undefined ? {} : { problem: issue }) };
}
