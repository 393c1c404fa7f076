import type { Tool } from "../protocol/features/tools.js";

/** How bad a finding is: tools that fail or deceive, tools that work worse than they could, and what is good to know. */
export type Severity = "error" | "warning" | "note";

/** What a rule is about. */
export interface RuleInfo {
  readonly id: string;
  readonly severity: Severity;
  /** What it finds, in one line. */
  readonly summary: string;
}

/** Something that a rule found. */
export interface Finding {
  /** The id of the rule. */
  readonly rule: string;
  readonly severity: Severity;
  /** The name of the tool; undefined for findings about all tools together. */
  readonly tool: string | undefined;
  /** Where in the tool, such as `inputSchema.properties.city`; undefined for the tool as a whole. */
  readonly path: string | undefined;
  /** What is wrong. Quotes of a tool are spelled so that a terminal can show them. */
  readonly message: string;
  /** What to change. */
  readonly fix: string;
}

/** A finding as its rule gives it. */
export interface Problem {
  readonly tool?: string;
  readonly path?: string;
  readonly message: string;
  readonly fix: string;
}

/** What rules look at. */
export interface LintedTools {
  readonly tools: readonly Tool[];
  /** Of all tools, in small letters. */
  readonly names: ReadonlySet<string>;
  countTokens(text: string): number;
  /** Tokens that one tool may cost. */
  readonly maxTokens: number;
}

/** A rule that looks at one tool at a time, or at all of them. */
export interface LintRule extends RuleInfo {
  readonly each?: (tool: Tool, all: LintedTools) => Iterable<Problem>;
  readonly all?: (all: LintedTools) => Iterable<Problem>;
}
