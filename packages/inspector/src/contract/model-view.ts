import type { Finding } from "@parley/mcp/lint";

/** The providers that receive tools. Each has its own rules for schemas. */
export const PROVIDERS = ["anthropic", "openai", "openai-strict", "gemini", "mcp"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** A tool as one provider receives it. */
export interface ModelTool {
  /** The name of the tool on the server. */
  readonly name: string;
  /** The tool as it is part of the request to the provider. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly tokens: number;
  /** The parts of the schema that the provider does not receive. */
  readonly lost: readonly string[];
  readonly findings: readonly Finding[];
}

/** The tools of a server as a model receives them. */
export interface ModelView {
  readonly provider: Provider;
  readonly tools: readonly ModelTool[];
  /** Tokens of all tools together. */
  readonly tokens: number;
  /** Tokens of the server's instructions, which a host may add. */
  readonly instructionTokens: number;
  /** `exactly`: counted by a tokenizer. `estimated`: derived from the length of the text. */
  readonly counted: "exactly" | "estimated";
  /** Findings about all tools together. */
  readonly findings: readonly Finding[];
  readonly cut: boolean;
}
