import { UsageError } from "../terminal/usage-error.js";

/** The headers of `--header "Name: value"`. */
export function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) return [name, value] as const;
      // The line is not repeated: it may hold a token.
      throw new UsageError("a --header has no name and value", 'Write it as --header "Name: value".');
    }),
  );
}

/** The variables of `--env NAME=value`. */
export function variablesOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)] as const;
      throw new UsageError("an --env has no name and value", "Write it as --env NAME=value.");
    }),
  );
}
