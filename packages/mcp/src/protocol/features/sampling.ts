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
  /** Distinguishes the types of content. */
  type: "tool_use";
  /** The id of the call, which its result repeats as `toolUseId`. */
  id: string;
  /** The name of the called tool. */
  name: string;
  /** The arguments, as the tool's input schema describes them. */
  input: { [key: string]: unknown };
  /** Metadata of the call. */
  _meta?: MetaObject;
}

/** The result of a tool call by the model. From 2025-11-25 on. */
export interface ToolResultContent {
  /** Distinguishes the types of content. */
  type: "tool_result";
  /** The `id` of the call. */
  toolUseId: string;
  /** The content of the result. */
  content: ContentBlock[];
  /** An object in 2025-11-25, any JSON value from 2026-07-28 on. */
  structuredContent?: unknown;
  /** True if the tool failed. Default: false. */
  isError?: boolean;
  /** Metadata of the result. */
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
  /** The author of the message. */
  role: Role;
  /** One block; a list of blocks from 2025-11-25 on. */
  content: SamplingMessageContentBlock | SamplingMessageContentBlock[];
  /** Metadata of the message. */
  _meta?: MetaObject;
}

/** A preferred model. */
export interface ModelHint {
  /** A part of the model's name, for example `sonnet`. Clients may map it to a similar model. */
  name?: string;
}

/**
 * The server's preferences for the choice of a model. Each priority is a number from 0 (unimportant) to 1 (most
 * important). The client decides.
 */
export interface ModelPreferences {
  /** Preferred models. The first match wins. */
  hints?: ModelHint[];
  /** Importance of low cost. */
  costPriority?: number;
  /** Importance of low latency. */
  speedPriority?: number;
  /** Importance of the model's abilities. */
  intelligencePriority?: number;
}

/** Controls the model's use of tools. From 2025-11-25 on. */
export interface ToolChoice {
  /** `auto`: the model decides; `required`: it must use a tool; `none`: it must not. Default: `auto`. */
  mode?: "auto" | "required" | "none";
}

/**
 * Parameters of `sampling/createMessage`, a request to the client's model. Deprecated in 2026-07-28, where the request
 * is part of an interim result.
 */
export interface CreateMessageRequestParams extends RequestParams {
  /** The conversation so far, in order. */
  messages: SamplingMessage[];
  /** The maximum number of tokens to generate. */
  maxTokens: number;
  /** The preferences for the choice of a model. */
  modelPreferences?: ModelPreferences;
  /** The system prompt. The client may change or omit it. */
  systemPrompt?: string;
  /**
   * The MCP context that the client should add to the prompt. Values other than `none` require the client capability
   * `sampling.context`. Default: `none`.
   *
   * @deprecated The protocol deprecates all values but `none`. Put all necessary context into `messages`.
   */
  includeContext?: "none" | "thisServer" | "allServers";
  /** The randomness of the answer, in the scale of the model's provider. */
  temperature?: number;
  /** Texts at which the model stops. */
  stopSequences?: string[];
  /** Provider-specific settings, passed to the model's provider unchanged. */
  metadata?: { [key: string]: unknown };
  /** Tools that the model may use. Requires the client's `sampling.tools`. From 2025-11-25 on. */
  tools?: Tool[];
  /** Controls the use of `tools`. Requires the client's `sampling.tools`. From 2025-11-25 on. */
  toolChoice?: ToolChoice;
  /** Asks the client to answer with a task. 2025-11-25 only. */
  task?: TaskMetadata;
}

/** The reason why the model stopped. Providers may define other reasons. */
export type StopReason = "endTurn" | "stopSequence" | "maxTokens" | "toolUse" | (string & {});

/** Result of `sampling/createMessage`. */
export interface CreateMessageResult extends Result {
  /** The author of the message, normally `assistant`. */
  role: Role;
  /** The generated content. A list of blocks is allowed from 2025-11-25 on. */
  content: SamplingMessageContentBlock | SamplingMessageContentBlock[];
  /** The name of the model that answered. */
  model: string;
  /** The reason why the model stopped, if known. */
  stopReason?: StopReason;
}

/**
 * True if a value has the members that its type of sampling content requires.
 *
 * @example
 * ```ts
 * import { isSamplingContent } from "@parley/mcp/protocol";
 *
 * isSamplingContent({ type: "text", text: "Hello" }); // true
 * ```
 */
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
