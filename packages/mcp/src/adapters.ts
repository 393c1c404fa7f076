export type { LostParts, SchemaRules, ToolCallOptions, ToolSource } from "./adapters/adapted-tools.js";
export {
  type AiSdkOutput,
  type AiSdkSchema,
  type AiSdkTool,
  type FrameworkToolsOptions,
  toAiSdkTools,
} from "./adapters/ai-sdk-tools.js";
export {
  type AnthropicCall,
  type AnthropicContent,
  type AnthropicImage,
  type AnthropicResult,
  type AnthropicTool,
  type AnthropicTools,
  toAnthropicTools,
} from "./adapters/anthropic-tools.js";
export {
  type AdkToolsOptions,
  type GeminiCall,
  type GeminiFunction,
  type GeminiResult,
  type GeminiTools,
  toAdkTools,
  toGeminiTools,
} from "./adapters/gemini-tools.js";
export { type LangChainToolsOptions, toLangChainTools } from "./adapters/langchain-tools.js";
export {
  type OpenAIChatCall,
  type OpenAIChatOutput,
  type OpenAIChatTool,
  type OpenAIResponsesCall,
  type OpenAIResponsesOutput,
  type OpenAIResponsesTool,
  type OpenAITools,
  type OpenAIToolsOptions,
  toOpenAITools,
} from "./adapters/openai-tools.js";
