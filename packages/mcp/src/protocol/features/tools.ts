import type {
  CacheHints,
  NotificationParams,
  PaginatedRequestParams,
  PaginatedResult,
  Result,
  TaskMetadata,
} from "../message.js";
import type { ContentBlock } from "./content.js";
import type { InputResponseRequestParams } from "./input.js";
import type { Tool } from "./tool-definition.js";

export type { Tool, ToolAnnotations, ToolExecution, ToolInputSchema } from "./tool-definition.js";

/** Parameters of `tools/list`. */
export interface ListToolsRequestParams extends PaginatedRequestParams {}

/** Result of `tools/list`. */
export interface ListToolsResult extends PaginatedResult, CacheHints {
  tools: Tool[];
}

/** Parameters of `tools/call`. */
export interface CallToolRequestParams extends InputResponseRequestParams {
  name: string;
  arguments?: { [name: string]: unknown };
  /** 2025-11-25 only. */
  task?: TaskMetadata;
}

/** Result of `tools/call`. */
export interface CallToolResult extends Result {
  content: ContentBlock[];
  /** An object in 2025-06-18 and 2025-11-25, any JSON value from 2026-07-28 on. */
  structuredContent?: unknown;
  /** True if the tool failed; the content tells the model why. */
  isError?: boolean;
}

/** Parameters of `notifications/tools/list_changed`. */
export interface ToolListChangedNotificationParams extends NotificationParams {}
