import type { Icon } from "../implementation.js";
import type { MetaObject } from "../json.js";
import type { CacheHints, NotificationParams, PaginatedRequestParams, PaginatedResult, Result } from "../message.js";
import type { ContentBlock, Role } from "./content.js";
import type { InputResponseRequestParams } from "./input.js";

/** One argument of a prompt; its value is a string. */
export interface PromptArgument {
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  description?: string;
  required?: boolean;
}

/** A prompt that the user can choose. */
export interface Prompt {
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  /** From 2025-11-25 on. */
  icons?: Icon[];
  _meta?: MetaObject;
}

/** One message of a prompt. */
export interface PromptMessage {
  role: Role;
  content: ContentBlock;
}

/** Parameters of `prompts/list`. */
export interface ListPromptsRequestParams extends PaginatedRequestParams {}

/** Result of `prompts/list`. */
export interface ListPromptsResult extends PaginatedResult, CacheHints {
  prompts: Prompt[];
}

/** Parameters of `prompts/get`. */
export interface GetPromptRequestParams extends InputResponseRequestParams {
  name: string;
  arguments?: { [name: string]: string };
}

/** Result of `prompts/get`. */
export interface GetPromptResult extends Result {
  description?: string;
  messages: PromptMessage[];
}

/** Parameters of `notifications/prompts/list_changed`. */
export interface PromptListChangedNotificationParams extends NotificationParams {}
