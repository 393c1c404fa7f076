import type { Provider } from "../../src/contract/model-view.js";

/** The display names of the providers. */
export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  "openai-strict": "OpenAI (strict)",
  gemini: "Gemini",
  mcp: "MCP",
};
