import type { OptionReader } from "../commands/option-reader.js";
import { UsageError } from "../terminal/usage-error.js";
import { parseJson } from "./typed-value.js";

/** Answers from the command line by field name: untyped texts of `--answer`, or values of `--answers`. */
export type PreparedAnswers = ReadonlyMap<string, { readonly texts: readonly string[] } | { readonly value: unknown }>;

/** Reads `--answers` and `--answer`. Returns undefined if neither is given. `--answer` takes precedence. */
export function preparedAnswers(options: OptionReader): PreparedAnswers | undefined {
  const json = options.text("answers");
  const pairs = options.many("answer");
  if (json === undefined && pairs.length === 0) return undefined;
  const answers = new Map<string, { texts: readonly string[] } | { value: unknown }>();
  if (json !== undefined) {
    const parsed = parseJson(json);
    const value = "value" in parsed ? parsed.value : undefined;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      const why = "problem" in parsed ? parsed.problem : "not a JSON object";
      throw new UsageError(`--answers is ${why}`, `Write it as --answers '{"name": "value"}'.`);
    }
    for (const [name, one] of Object.entries(value)) answers.set(name, { value: one });
  }
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError("an --answer is not of the form name=value", "Write it as --answer name=value.");
    const [name, text] = [pair.slice(0, at), pair.slice(at + 1)];
    const before = answers.get(name);
    answers.set(name, { texts: [...(before !== undefined && "texts" in before ? before.texts : []), text] });
  }
  return answers;
}
