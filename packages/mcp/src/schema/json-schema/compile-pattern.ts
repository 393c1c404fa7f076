import { compileAutomaton } from "./pattern/automaton.js";
import { proveLinear } from "./pattern/linear-proof.js";
import { parsePattern, UnsupportedPattern } from "./pattern/pattern-tree.js";
import { SchemaError } from "./schema-error.js";
import { spend, type Validation } from "./validation.js";

/** Returns true if the pattern occurs in the text. Charges the work to the validation's budget. */
export type PatternTest = (text: string, run: Validation) => boolean;

/** Maximum length of a pattern, in UTF-16 units. Longer patterns are refused. */
const MAX_LENGTH = 20_000;

/**
 * Compiles the regular expression of a schema so that matching takes linear time on any text.
 *
 * Uses the platform's backtracking engine for patterns that it provably matches in linear time, and an automaton for
 * all others. Throws `SchemaError`: `invalid_schema` for an invalid regular expression, `unsupported_pattern` for a
 * backreference or a pattern that needs too many states.
 */
export function compilePattern(source: string, path: string): PatternTest {
  if (source.length > MAX_LENGTH) throw unsupported(source, path, `is longer than ${MAX_LENGTH} characters`);
  const { regex, flags } = compileNative(source, path);
  try {
    const tree = parsePattern(source, flags);
    const proof = proveLinear(tree);
    if (proof === undefined) return compileAutomaton(tree, flags, spend);
    const shift = proof === "anchored" ? 3 : 0;
    return (text, run) => {
      spend(run, text.length >> shift);
      return regex.test(text);
    };
  } catch (error) {
    if (error instanceof UnsupportedPattern) throw unsupported(source, path, error.message);
    throw error;
  }
}

/**
 * Compiles with the platform's engine. Prefers Unicode mode, as JSON Schema recommends. Falls back to the older mode,
 * because patterns that are valid only in that mode are common.
 */
function compileNative(source: string, path: string): { regex: RegExp; flags: "u" | "" } {
  try {
    return { regex: new RegExp(source, "u"), flags: "u" };
  } catch {
    try {
      return { regex: new RegExp(source), flags: "" };
    } catch (cause) {
      const message = `The pattern ${shorten(source)} at ${path} is not a valid regular expression.`;
      throw new SchemaError("invalid_schema", message, { path, cause });
    }
  }
}

function unsupported(source: string, path: string, why: string): SchemaError {
  return new SchemaError(
    "unsupported_pattern",
    `The pattern ${shorten(source)} at ${path} ${why}, so it cannot be matched in linear time; rewrite it.`,
    { path },
  );
}

function shorten(source: string): string {
  return source.length > 80 ? `${source.slice(0, 77)}...` : source;
}
