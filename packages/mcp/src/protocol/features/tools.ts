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
  /** The tools of this page. */
  tools: Tool[];
}

/** Parameters of `tools/call`. */
export interface CallToolRequestParams extends InputResponseRequestParams {
  /** The name of the tool. */
  name: string;
  /** The arguments, as the tool's input schema describes them. */
  arguments?: { [name: string]: unknown };
  /** Asks the server to run the call as a task. 2025-11-25 only. */
  task?: TaskMetadata;
}

/** Result of `tools/call`. */
export interface CallToolResult extends Result {
  /** Content blocks for the model and the user. */
  content: ContentBlock[];
  /** The output as data. An object in 2025-06-18 and 2025-11-25, any JSON value from 2026-07-28 on. */
  structuredContent?: unknown;
  /** True if the tool failed. `content` then explains the failure to the model. */
  isError?: boolean;
}

/** Parameters of `notifications/tools/list_changed`. */
export interface ToolListChangedNotificationParams extends NotificationParams {}
