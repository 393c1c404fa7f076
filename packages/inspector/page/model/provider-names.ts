import type { Provider } from "../../src/contract/model-view.js";

/** What providers are called in the page. */
export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  "openai-strict": "OpenAI (strict)",
  gemini: "Gemini",
  mcp: "MCP",
};
