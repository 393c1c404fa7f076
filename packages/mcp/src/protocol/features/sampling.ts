import { isObject } from "../../jsonrpc/message.js";
import type { MetaObject } from "../json.js";
import type { RequestParams, Result, TaskMetadata } from "../message.js";
import {
  type AudioContent,
  type ContentBlock,
  type ImageContent,
  isContentBlock,
  type Role,
  type TextContent,
} from "./content.js";
import type { Tool } from "./tool-definition.js";

/** A tool call by the model. From 2025-11-25 on. */
export interface ToolUseContent {
  type: "tool_use";
  id: string;
  name: string;
  input: { [key: string]: unknown };
  _meta?: MetaObject;
}

/** The result of a tool call by the model. From 2025-11-25 on. */
export interface ToolResultContent {
  type: "tool_result";
  /** The `id` of the tool call. */
  toolUseId: string;
  content: ContentBlock[];
  /** An object in 2025-11-25, any JSON value from 2026-07-28 on. */
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: MetaObject;
}

/** One content block of a sampling message. */
export type SamplingMessageContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ToolUseContent
  | ToolResultContent;

/** One message to or from the model. */
export interface SamplingMessage {
  role: Role;
  /** One block; a list of blocks from 2025-11-25 on. */
  content: SamplingMessageContentBlock | SamplingMessageContentBlock[];
  _meta?: MetaObject;
}

/** A preferred model, by a part of its name. */
export interface ModelHint {
  name?: string;
}

/** The server's priorities for choosing a model, each from 0 to 1; the client decides. */
export interface ModelPreferences {
  /** In order of preference. */
  hints?: ModelHint[];
  costPriority?: number;
  speedPriority?: number;
  intelligencePriority?: number;
}

/** Whether the model may, must or must not use tools; `auto` when absent. From 2025-11-25 on. */
export interface ToolChoice {
  mode?: "auto" | "required" | "none";
}

/**
 * Parameters of `sampling/createMessage`, a request to the client's model. Deprecated in 2026-07-28, where it is inside
 * an interim result.
 */
export interface CreateMessageRequestParams extends RequestParams {
  messages: SamplingMessage[];
  maxTokens: number;
  modelPreferences?: ModelPreferences;
  systemPrompt?: string;
  /**
   * Values other than `none` require the client capability `sampling.context`.
   *
   * @deprecated The protocol deprecates all values but `none`; put what the model needs into `messages`.
   */
  includeContext?: "none" | "thisServer" | "allServers";
  temperature?: number;
  stopSequences?: string[];
  /** Passed to the model's provider. */
  metadata?: { [key: string]: unknown };
  /** Needs the client's `sampling.tools`. From 2025-11-25 on. */
  tools?: Tool[];
  /** Needs the client's `sampling.tools`. From 2025-11-25 on. */
  toolChoice?: ToolChoice;
  /** 2025-11-25 only. */
  task?: TaskMetadata;
}

/** Why the model stopped; providers may define other reasons. */
export type StopReason = "endTurn" | "stopSequence" | "maxTokens" | "toolUse" | (string & {});

/** Result of `sampling/createMessage`. */
export interface CreateMessageResult extends Result {
  role: Role;
  content: SamplingMessageContentBlock | SamplingMessageContentBlock[];
  /** The model that answered. */
  model: string;
  stopReason?: StopReason;
}

/** Whether a value has the members that its type of sampling content requires. */
export function isSamplingContent(value: unknown): value is SamplingMessageContentBlock {
  if (!isObject(value)) return false;
  switch (value.type) {
    case "tool_use":
      return typeof value.id === "string" && typeof value.name === "string" && isObject(value.input);
    case "tool_result":
      return typeof value.toolUseId === "string" && Array.isArray(value.content) && value.content.every(isContentBlock);
    case "text":
    case "image":
    case "audio":
      return isContentBlock(value);
    default:
      return false;
  }
}
