import type { RequestParams, Result } from "../message.js";

/** Refers to a prompt. */
export interface PromptReference {
  /** Distinguishes a prompt from a resource template. */
  type: "ref/prompt";
  /** The name of the prompt. */
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
}

/** Refers to a resource or a resource template. */
export interface ResourceTemplateReference {
  /** Distinguishes a resource template from a prompt. */
  type: "ref/resource";
  /** The URI or the URI template, as listed. */
  uri: string;
}

/** The prompt or resource template whose argument is being completed. */
export type CompletionReference = PromptReference | ResourceTemplateReference;

/** Parameters of `completion/complete`. */
export interface CompleteRequestParams extends RequestParams {
  /** The prompt or resource template that has the argument. */
  ref: CompletionReference;
  /** The argument being completed, with the text entered so far. */
  argument: { name: string; value: string };
  /** The values of arguments that are already complete. From 2025-06-18 on. */
  context?: { arguments?: { [name: string]: string } };
}

/**
 * The maximum number of values in one completion.
 *
 * Spec: Completion, "Completion Results",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#completion-results
 */
export const MAX_COMPLETION_VALUES = 100;

/** Suggested values, best first. */
export interface Completion {
  /** The suggestions; at most 100. */
  values: string[];
  /** The total number of matches, which may exceed the number of `values`. */
  total?: number;
  /** True if there are more matches than `values` contains. */
  hasMore?: boolean;
}

/** Result of `completion/complete`. */
export interface CompleteResult extends Result {
  /** The suggestions. */
  completion: Completion;
}
