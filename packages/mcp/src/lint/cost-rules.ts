import type { Tool } from "../protocol/features/tools.js";
import type { LintRule } from "./lint-rule.js";

/** Some hosts warn of more, for all tools together. */
const MOST_TOKENS = 25_000;

/** Rules about what definitions cost a model with every request. */
export const COST_RULES: readonly LintRule[] = [
  {
    id: "token-cost",
    severity: "warning",
    summary: "The definition of the tool costs more than 400 tokens.",
    *each(tool, { countTokens, maxTokens }) {
      const tokens = countTokens(definitionText(tool));
      if (tokens <= maxTokens) return;
      yield {
        message: `the definition costs about ${tokens} tokens, more than ${maxTokens}`,
        fix: "Shorten descriptions, or split the tool.",
      };
    },
  },
  {
    id: "token-total",
    severity: "warning",
    summary: `All definitions together cost more than ${MOST_TOKENS.toLocaleString("en")} tokens.`,
    *all({ tools, countTokens }) {
      const tokens = tools.reduce((sum, tool) => sum + countTokens(definitionText(tool)), 0);
      if (tokens <= MOST_TOKENS) return;
      yield {
        message: `the definitions of ${tools.length} tools cost about ${tokens} tokens`,
        fix: "Offer fewer tools, or let models search for them.",
      };
    },
  },
];

/** What a provider is sent for a tool. */
function definitionText({ name, description, inputSchema }: Tool): string {
  return JSON.stringify({ name, description, inputSchema });
}

/** Tokens by characters: four of English text or JSON are about one. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
