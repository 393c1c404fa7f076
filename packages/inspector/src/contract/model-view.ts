import type { Finding } from "@parley/mcp/lint";

/**
 * The formats in which tools can be shown: those of the providers, each with its own rules for schemas, and `mcp`, the
 * tools as the server lists them.
 */
export const PROVIDERS = ["anthropic", "openai", "openai-strict", "gemini", "mcp"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** A tool as one provider receives it. */
export interface ModelTool {
  /** The name of the tool on the server. */
  readonly name: string;
  /** The tool as the request to the provider contains it. Empty if the tool cannot be converted. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly tokens: number;
  /** The parts of the schema that the provider does not receive, or the reason why the tool cannot be converted. */
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
