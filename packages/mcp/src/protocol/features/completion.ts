import type { RequestParams, Result } from "../message.js";

/** Names a prompt. */
export interface PromptReference {
  type: "ref/prompt";
  name: string;
  /** From 2025-06-18 on. */
  title?: string;
}

/** Names a resource or a resource template. */
export interface ResourceTemplateReference {
  type: "ref/resource";
  uri: string;
}

/** The prompt or resource template whose argument is completed. */
export type CompletionReference = PromptReference | ResourceTemplateReference;

/** Parameters of `completion/complete`. */
export interface CompleteRequestParams extends RequestParams {
  ref: CompletionReference;
  /** The input so far. */
  argument: { name: string; value: string };
  /** The arguments that already have a value. From 2025-06-18 on. */
  context?: { arguments?: { [name: string]: string } };
}

/**
 * The maximum number of values in one completion.
 *
 * Spec: Completion, "Completion Results",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#completion-results
 */
export const MAX_COMPLETION_VALUES = 100;

/** Suggestions, best first. */
export interface Completion {
  /** At most 100. */
  values: string[];
  /** The total number of matches. */
  total?: number;
  hasMore?: boolean;
}

/** Result of `completion/complete`. */
export interface CompleteResult extends Result {
  completion: Completion;
}
