import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { CompleteRequestParams, CompleteResult } from "../../protocol/features/completion.js";
import type { LoggingLevel } from "../../protocol/features/logging.js";
import type { GetPromptResult, ListPromptsResult, Prompt } from "../../protocol/features/prompts.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "../../protocol/features/resources.js";
import type { CallToolResult, ListToolsResult, Tool } from "../../protocol/features/tools.js";
import type { HandlerContext, RequestContext } from "../context.js";
import type { Completions } from "../lists/completion.js";
import type { PromptReturn } from "../prompts/prompt.js";
import type { ReadReturn } from "../resources/resource.js";
import type { LooseResult } from "../tools/tool.js";

type MaybePromise<T> = T | Promise<T>;

/**
 * A server as one object. Every method is optional; the ones that exist decide what the server offers. A list method returns
 * the whole list, or a page with a `nextCursor` of its own, which it gets back as `cursor` for the next page.
 */
export interface ServerHandler {
  /** Called once, before the first request; all requests wait for it. If it fails they fail, and the next one calls it again. */
  init?(): MaybePromise<void>;
  /** Called once by `server.close()`, if `init` has run. */
  terminate?(): MaybePromise<void>;
  /** Replaces, capability by capability, what is derived from the methods. */
  readonly capabilities?: ServerCapabilities | undefined;
  listTools?(cursor: string | undefined, ctx: RequestContext): MaybePromise<readonly Tool[] | ListToolsResult>;
  callTool?(
    name: string,
    args: Record<string, unknown>,
    ctx: HandlerContext,
  ): MaybePromise<LooseResult | CallToolResult>;
  listResources?(
    cursor: string | undefined,
    ctx: RequestContext,
  ): MaybePromise<readonly Resource[] | ListResourcesResult>;
  listResourceTemplates?(
    cursor: string | undefined,
    ctx: RequestContext,
  ): MaybePromise<readonly ResourceTemplate[] | ListResourceTemplatesResult>;
  readResource?(uri: string, ctx: HandlerContext): MaybePromise<ReadReturn | ReadResourceResult>;
  /** Called when a URI gets its first subscriber; announce changes with `server.resourceUpdated(uri)`. */
  subscribe?(uri: string): MaybePromise<void>;
  /** Called when a URI has lost its last subscriber. */
  unsubscribe?(uri: string): MaybePromise<void>;
  listPrompts?(cursor: string | undefined, ctx: RequestContext): MaybePromise<readonly Prompt[] | ListPromptsResult>;
  getPrompt?(
    name: string,
    args: Record<string, string>,
    ctx: HandlerContext,
  ): MaybePromise<PromptReturn | GetPromptResult>;
  complete?(request: CompleteRequestParams, ctx: RequestContext): MaybePromise<Completions | CompleteResult>;
  setLogLevel?(level: LoggingLevel, ctx: RequestContext): void;
}

/** A class of handler objects, of which the server creates one. */
export type ServerHandlerClass = new () => ServerHandler;

/** True when the object has the method, of its own or from its class. */
export function has(handler: ServerHandler, method: keyof ServerHandler): boolean {
  return typeof handler[method] === "function";
}
