import type { Finding } from "@parley/mcp/lint";

/** Those who receive tools, each with rules of its own for schemas. */
export const PROVIDERS = ["anthropic", "openai", "openai-strict", "gemini", "mcp"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** A tool as one provider receives it. */
export interface ModelTool {
  /** The name that the server gave. */
  readonly name: string;
  /** The tool as it goes into the request. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly tokens: number;
  /** What the provider does not get to know of the schema. */
  readonly lost: readonly string[];
  readonly findings: readonly Finding[];
}

/** The tools of a server as a model sees them. */
export interface ModelView {
  readonly provider: Provider;
  readonly tools: readonly ModelTool[];
  /** Of all tools together. */
  readonly tokens: number;
  /** Of the instructions of the server, which a host may add. */
  readonly instructionTokens: number;
  /** Whether a tokenizer counted, or the length of texts was taken. */
  readonly counted: "exactly" | "estimated";
  /** Findings about all tools together. */
  readonly findings: readonly Finding[];
  readonly cut: boolean;
}
