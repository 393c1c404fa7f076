import { McpError } from "../../protocol/error.js";

const MOST_PATTERNS = 1000;
const LONGEST_PATTERN = 256;

/** Names, some with `*` for any characters; a `*` of a name itself is matched by `*` too. */
export class NamePatterns {
  readonly #exact = new Set<string>();
  readonly #wild: { readonly text: string; readonly parts: readonly string[] }[] = [];

  /** Throws `invalid_definition` for what is not a list of patterns; `option` is its name. */
  constructor(option: string, patterns: readonly string[]) {
    if (!Array.isArray(patterns) || patterns.length > MOST_PATTERNS || !patterns.every(isPattern)) {
      throw new McpError(
        "invalid_definition",
        `\`${option}\` is not a list of at most ${MOST_PATTERNS} names of 1 to ${LONGEST_PATTERN} characters`,
        { fix: 'Write names, or names with `*` for any characters, such as ["read_*", "search"].' },
      );
    }
    for (const text of patterns) {
      if (!text.includes("*")) this.#exact.add(text);
      else this.#wild.push({ text, parts: text.split("*") });
    }
  }

  matches(name: string): boolean {
    return this.#exact.has(name) || this.#wild.some(({ parts }) => fits(parts, name));
  }

  /** The patterns that match none of the names; often a misspelt one. */
  unused(names: readonly string[]): string[] {
    const known = new Set(names);
    return [
      ...[...this.#exact].filter((name) => !known.has(name)),
      ...this.#wild.filter(({ parts }) => !names.some((name) => fits(parts, name))).map(({ text }) => text),
    ];
  }
}

function isPattern(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= LONGEST_PATTERN;
}

/** Takes each part at its first place, which never has to be taken back. */
function fits(parts: readonly string[], name: string): boolean {
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  const end = name.length - last.length;
  if (first.length > end || !name.startsWith(first) || !name.endsWith(last)) return false;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= end;
}
