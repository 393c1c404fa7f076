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

/** What an argument belongs to. */
export type CompletionReference = PromptReference | ResourceTemplateReference;

/** Parameters of `completion/complete`. */
export interface CompleteRequestParams extends RequestParams {
  ref: CompletionReference;
  /** What has been typed so far. */
  argument: { name: string; value: string };
  /** The arguments that are already settled. From 2025-06-18 on. */
  context?: { arguments?: { [name: string]: string } };
}

/** The most values that one completion may hold. */
export const MAX_COMPLETION_VALUES = 100;

/** Suggestions, best first. */
export interface Completion {
  /** At most 100. */
  values: string[];
  /** How many there are in all. */
  total?: number;
  hasMore?: boolean;
}

/** Result of `completion/complete`. */
export interface CompleteResult extends Result {
  completion: Completion;
}
