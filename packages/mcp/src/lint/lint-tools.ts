import { nearestName } from "../encoding/nearest-name.js";
import { printableLine } from "../encoding/printable.js";
import { isObject } from "../jsonrpc/message.js";
import { checkOptions } from "../protocol/check-options.js";
import { McpError } from "../protocol/error.js";
import type { Tool } from "../protocol/features/tools.js";
import { ANNOTATION_RULES } from "./annotation-rules.js";
import { DESCRIPTION_RULES } from "./description-rules.js";
import { INJECTION_RULES } from "./injection-rules.js";
import type { Finding, LintInput, LintRule, Problem, RuleInfo } from "./lint-rule.js";
import { NAME_RULES } from "./name-rules.js";
import { PROVIDER_RULES, SCHEMA_RULES } from "./schema-rules.js";

/** Options of `lintTools`. */
export interface LintOptions {
  /** Ids of the only rules to apply. Default: all. */
  only?: readonly string[] | undefined;
  /** Ids of rules to skip. Default: none. */
  ignore?: readonly string[] | undefined;
  /** Counts the tokens of a text. Default: an estimate of one token per four characters. */
  countTokens?: ((text: string) => number) | undefined;
  /** Maximum number of tokens for the definition of one tool. Default: 400. */
  maxTokens?: number | undefined;
}

/** Maximum number of tokens for the definitions of all tools together. Some hosts warn above it. */
const MAX_TOTAL_TOKENS = 25_000;

/** Rules about the tokens that definitions cost in every request. */
const COST_RULES: readonly LintRule[] = [
  {
    id: "token-cost",
    severity: "warning",
    summary: "The definition of the tool costs more than 400 tokens.",
    *each(tool, { countTokens, maxTokens }) {
      const tokens = countTokens(definitionText(tool));
      if (tokens <= maxTokens) return;
      yield {
        message: `the definition costs about ${tokens} tokens; the limit is ${maxTokens}`,
        fix: "Shorten descriptions, or split the tool.",
      };
    },
  },
  {
    id: "token-total",
    severity: "warning",
    summary: `All definitions together cost more than ${MAX_TOTAL_TOKENS.toLocaleString("en")} tokens.`,
    *all({ tools, countTokens }) {
      const tokens = tools.reduce((sum, tool) => sum + countTokens(definitionText(tool)), 0);
      if (tokens <= MAX_TOTAL_TOKENS) return;
      yield {
        message: `the definitions of ${tools.length} tools cost about ${tokens} tokens`,
        fix: "Offer fewer tools, or let models search for them.",
      };
    },
  },
];

/** The part of a tool that is sent to a provider. */
function definitionText({ name, description, inputSchema }: Tool): string {
  return JSON.stringify({ name, description, inputSchema });
}

/** Estimates the number of tokens: one for about four characters of English text or JSON. */
function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

const RULES: readonly LintRule[] = [
  ...NAME_RULES,
  ...DESCRIPTION_RULES,
  ...SCHEMA_RULES,
  ...PROVIDER_RULES,
  ...ANNOTATION_RULES,
  ...COST_RULES,
  ...INJECTION_RULES,
];

/** Every rule, in the order in which the rules report findings about a tool. */
export const LINT_RULES: readonly RuleInfo[] = RULES.map(({ id, severity, summary }) => ({ id, severity, summary }));

const MAX_TOKENS = 400;
/**
 * Maximum number of findings of one rule for one tool. Further ones are left out, because a schema can repeat a mistake
 * many times.
 */
const MAX_FINDINGS = 20;

/**
 * Checks definitions of tools, as a server lists them, for problems that affect models, hosts and providers, and for
 * deceptive texts. Returns the findings about all tools together first, then those about each tool, in the order of
 * `tools`. A tool without findings is not necessarily harmless. Throws `invalid_definition` for an unknown rule.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/locking-tools.md | Locking tools}
 */
export function lintTools(tools: readonly Tool[], options: LintOptions = {}): Finding[] {
  checkOptions("lintTools", options, "only ignore countTokens maxTokens");
  const { only, ignore = [], countTokens = estimateTokens, maxTokens = MAX_TOKENS } = options;
  for (const id of [...(only ?? []), ...ignore]) checkRule(id);
  const rules = RULES.filter(({ id }) => only?.includes(id) !== false && !ignore.includes(id));
  // Skips entries that are not tools. The client already drops them from its lists.
  const listed = tools.filter((tool) => isObject(tool) && typeof tool.name === "string");
  const names = new Set(listed.map(({ name }) => name.toLowerCase()));
  const all: LintInput = { tools: listed, names, countTokens, maxTokens };
  const forAllTools = rules.flatMap((rule) =>
    collectFindings(rule, rule.all?.(all) ?? [], undefined, Number.POSITIVE_INFINITY),
  );
  const byTool = listed.flatMap((tool) => [
    ...forAllTools.filter(({ tool: name }) => name === tool.name),
    ...rules.flatMap((rule) => collectFindings(rule, rule.each?.(tool, all) ?? [], tool.name, MAX_FINDINGS)),
  ]);
  return [...forAllTools.filter(({ tool }) => tool === undefined), ...new Set(byTool)];
}

function collectFindings(
  rule: LintRule,
  problems: Iterable<Problem>,
  name: string | undefined,
  max: number,
): Finding[] {
  const found: Finding[] = [];
  for (const { tool = name, path, message, fix } of problems) {
    found.push({ rule: rule.id, severity: rule.severity, tool, path, message: printableLine(message), fix });
    if (found.length >= max) break;
  }
  return found;
}

function checkRule(id: string): void {
  const ids = RULES.map((rule) => rule.id);
  if (ids.includes(id)) return;
  const meant = nearestName(id, ids);
  const question = meant === undefined ? "" : `; did you mean "${meant}"?`;
  throw new McpError("invalid_definition", `unknown rule "${printableLine(String(id))}"${question}`, {
    fix: `Use one of: ${ids.join(", ")}.`,
  });
}
