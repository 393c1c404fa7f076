import type { Icon } from "../implementation.js";
import type { MetaObject } from "../json.js";
import type { CacheHints, NotificationParams, PaginatedRequestParams, PaginatedResult, Result } from "../message.js";
import type { ContentBlock, Role } from "./content.js";
import type { InputResponseRequestParams } from "./input.js";

/** One argument of a prompt. Its value is a string. */
export interface PromptArgument {
  /** The key of the argument in `prompts/get`. */
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  /** A human-readable description of the argument. */
  description?: string;
  /** True if `prompts/get` requires the argument. Default: false. */
  required?: boolean;
}

/** A prompt that users can select. */
export interface Prompt {
  /** The name for `prompts/get`. Shown to users if there is no `title`. */
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  /** A human-readable description of the prompt. */
  description?: string;
  /** The arguments that the prompt accepts. */
  arguments?: PromptArgument[];
  /** Icons for user interfaces. From 2025-11-25 on. */
  icons?: Icon[];
  /** Metadata of the prompt. */
  _meta?: MetaObject;
}

/** One message of a prompt. */
export interface PromptMessage {
  /** The author of the message. */
  role: Role;
  /** The content of the message. */
  content: ContentBlock;
}

/** Parameters of `prompts/list`. */
export interface ListPromptsRequestParams extends PaginatedRequestParams {}

/** Result of `prompts/list`. */
export interface ListPromptsResult extends PaginatedResult, CacheHints {
  /** The prompts of this page. */
  prompts: Prompt[];
}

/** Parameters of `prompts/get`. */
export interface GetPromptRequestParams extends InputResponseRequestParams {
  /** The name of the prompt. */
  name: string;
  /** The values of the arguments, by name. */
  arguments?: { [name: string]: string };
}

/** Result of `prompts/get`. */
export interface GetPromptResult extends Result {
  /** A human-readable description of the prompt. */
  description?: string;
  /** The messages for the model, in order. */
  messages: PromptMessage[];
}

/** Parameters of `notifications/prompts/list_changed`. */
export interface PromptListChangedNotificationParams extends NotificationParams {}
