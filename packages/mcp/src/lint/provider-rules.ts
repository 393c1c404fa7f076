import { type LoweredArguments, lowerArguments } from "../adapters/schema/lower-arguments.js";
import { openArguments } from "../adapters/schema/open-arguments.js";
import { GEMINI, OPENAI_STRICT } from "../adapters/schema/schema-dialect.js";
import { isObject } from "../jsonrpc/message.js";
import type { Tool } from "../protocol/features/tools.js";
import type { LintRule } from "./lint-rule.js";

type Lower = (schema: Tool["inputSchema"]) => LoweredArguments;

/** Tools that VS Code and OpenAI take in one request. */
const MOST_TOOLS = 128;
/** Parts that one finding names. */
const MOST_PARTS = 5;

/** Rules about what a provider does not get to know. The adapters of this library lower schemas in the same way. */
export const PROVIDER_RULES: readonly LintRule[] = [
  lost("provider-openai-strict", "OpenAI in strict mode", (schema) => lowerArguments(schema, OPENAI_STRICT)),
  lost("provider-openai", "OpenAI", openArguments),
  lost("provider-anthropic", "Anthropic", openArguments),
  lost("provider-gemini", "Gemini", (schema) => lowerArguments(schema, GEMINI)),
  {
    id: "provider-vscode",
    severity: "warning",
    summary: `The server has more than ${MOST_TOOLS} tools, which VS Code and OpenAI do not take in one request.`,
    *all({ tools }) {
      if (tools.length <= MOST_TOOLS) return;
      yield {
        message: `there are ${tools.length} tools; VS Code and OpenAI take ${MOST_TOOLS} in one request`,
        fix: "Split the server, or let models search for tools.",
      };
    },
  },
];

function lost(id: string, provider: string, lower: Lower): LintRule {
  return {
    id,
    severity: "note",
    summary: `A part of the schema cannot be told to ${provider}: the model does not see it, the server still checks it.`,
    *each({ inputSchema }) {
      if (!isObject(inputSchema)) return;
      const parts = lower(inputSchema).lost;
      if (parts.length === 0) return;
      const more = parts.length > MOST_PARTS ? `; and ${parts.length - MOST_PARTS} more` : "";
      yield {
        path: "inputSchema",
        message: `${provider} does not learn of ${parts.slice(0, MOST_PARTS).join("; ")}${more}`,
        fix: "Say it in the description, or write it with plain types, `enum` and `items`.",
      };
    },
  };
}
