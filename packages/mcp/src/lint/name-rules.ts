import type { LintRule, Problem } from "./lint-rule.js";

/** The longest name that OpenAI, Anthropic and Gemini accept. */
const MAX_NAME_LENGTH = 64;

/** Rules about the names of tools. */
export const NAME_RULES: readonly LintRule[] = [
  {
    id: "name-characters",
    severity: "error",
    summary: "The name is empty or has characters other than letters, digits, `_`, `-` and `.`, so clients reject it.",
    *each({ name }) {
      if (/^[A-Za-z0-9_.-]+$/.test(name)) return;
      const fix = "Use only letters, digits, `_` and `-`.";
      yield { message: name === "" ? "the name is empty" : "the name has characters that clients reject", fix };
    },
  },
  {
    id: "name-length",
    severity: "error",
    summary: `The name is longer than ${MAX_NAME_LENGTH} characters, so model providers reject it.`,
    *each({ name }) {
      if (name.length <= MAX_NAME_LENGTH) return;
      yield {
        message: `the name has ${name.length} characters; OpenAI, Anthropic and Gemini accept at most ${MAX_NAME_LENGTH}`,
        fix: "Shorten it; hosts also put the server's name in front of it.",
      };
    },
  },
  {
    id: "name-provider",
    severity: "warning",
    summary: "The name has a `.` or does not begin with a letter or `_`, so hosts rename it for some providers.",
    *each({ name }) {
      if (!/^[A-Za-z0-9_.-]+$/.test(name) || /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return;
      yield {
        message: "not every model provider accepts the name, so hosts rename it",
        fix: "Begin with a letter, and use underscores instead of dots.",
      };
    },
  },
  {
    id: "name-duplicate",
    severity: "error",
    summary: "Two tools have the same name.",
    *all({ tools }) {
      for (const [name, count] of countNames(tools.map((tool) => tool.name))) {
        if (count > 1) yield { tool: name, message: `${count} tools have this name`, fix: "Give each its own name." };
      }
    },
  },
  {
    id: "name-similar",
    severity: "warning",
    summary: "Names differ only in case or separators: models confuse them, and renaming can make them equal.",
    *all({ tools }) {
      const groups = new Map<string, Set<string>>();
      for (const { name } of tools) {
        const plain = name.toLowerCase().replace(/[^a-z0-9]/g, "");
        groups.set(plain, (groups.get(plain) ?? new Set()).add(name));
      }
      for (const [first = "", ...others] of groups.values()) {
        if (others.length === 0) continue;
        yield {
          tool: first,
          message: `the name differs only in case or separators from ${others.join(", ")}`,
          fix: "Choose names that differ in their words.",
        };
      }
    },
  },
  {
    id: "name-style",
    severity: "warning",
    summary: "Names mix snake_case, kebab-case and camelCase.",
    all: mixedStyles,
  },
];

function countNames(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The style of a name. Undefined for names of one word, which fit every style, and for names with both separators. */
function styleOf(name: string): string | undefined {
  if (/_/.test(name) && !/-/.test(name)) return "snake_case";
  if (/-/.test(name) && !/_/.test(name)) return "kebab-case";
  if (/[a-z0-9][A-Z]/.test(name) && !/[_-]/.test(name)) return "camelCase";
  return undefined;
}

function* mixedStyles({ tools }: { readonly tools: readonly { readonly name: string }[] }): Iterable<Problem> {
  const styles = tools.map(({ name }) => styleOf(name));
  const counts = [...countNames(styles.filter((style) => style !== undefined))].sort(([, a], [, b]) => b - a);
  const [usual] = counts[0] ?? [];
  if (counts.length < 2 || usual === undefined) return;
  for (const [at, { name }] of tools.entries()) {
    const style = styles[at];
    if (style === undefined || style === usual) continue;
    yield { tool: name, message: `the name is in ${style}, most others are in ${usual}`, fix: `Write it in ${usual}.` };
  }
}
