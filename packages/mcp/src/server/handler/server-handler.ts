import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { CompleteRequestParams, CompleteResult } from "../../protocol/features/completion.js";
import type { GetPromptResult, ListPromptsResult, Prompt } from "../../protocol/features/prompts.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "../../protocol/features/resources.js";
import type { CallToolResult, ListToolsResult, Tool } from "../../protocol/features/tools.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { EndReason } from "../../transport/transport.js";
import type { HandlerContext, RequestContext } from "../contract/context.js";
import type { Completions } from "../contract/offer-options.js";
import type { ServerOptions } from "../contract/options.js";
import type { PromptReturn } from "../contract/prompt.js";
import type { ReadReturn } from "../contract/resource.js";
import type { SessionInfo } from "../contract/session-info.js";
import type { LooseResult } from "../contract/tool.js";

type MaybePromise<T> = T | Promise<T>;

/**
 * A server as one object. Every method is optional, and the existing methods determine the capabilities of the server.
 * A list method returns the whole list, or one page with a `nextCursor`, which it receives as `cursor` for the next
 * page.
 */
export interface ServerHandler<O = unknown> {
  /**
   * Called once, before the first request. All requests wait for `init`. If `init` fails, the waiting requests fail,
   * and the next request calls it again. With `perSession`, `init` is called when a session begins, and a failure
   * refuses the handshake.
   *
   * `options` are the `handlerOptions`. `session` is the new session. It is absent for an object that serves all sessions
   * or a single request.
   */
  init?(options: O, session?: SessionInfo): MaybePromise<void>;
  /**
   * Called once, if `init` has succeeded or does not exist: by `server.close()`, or with `perSession` when the session
   * ends for any reason. The signals of the requests that are still running are already aborted. If `terminate` throws,
   * `server.close()` rejects with the error. With `perSession`, the server logs the error instead, and continues.
   */
  terminate?(reason: EndReason): MaybePromise<void>;
  /** Overrides single capabilities that are otherwise derived from the methods. */
  readonly capabilities?: ServerCapabilities | undefined;
  /** Serves `tools/list`. `cursor` is undefined for the first page. */
  listTools?(cursor: string | undefined, ctx: RequestContext): MaybePromise<readonly Tool[] | ListToolsResult>;
  /** Serves `tools/call`. Throw `ToolError` to return an error to the model. */
  callTool?(
    name: string,
    args: Record<string, unknown>,
    ctx: HandlerContext,
  ): MaybePromise<LooseResult | CallToolResult>;
  /** Serves `resources/list`. `cursor` is undefined for the first page. */
  listResources?(
    cursor: string | undefined,
    ctx: RequestContext,
  ): MaybePromise<readonly Resource[] | ListResourcesResult>;
  /** Serves `resources/templates/list`. `cursor` is undefined for the first page. */
  listResourceTemplates?(
    cursor: string | undefined,
    ctx: RequestContext,
  ): MaybePromise<readonly ResourceTemplate[] | ListResourceTemplatesResult>;
  /** Serves `resources/read`. Return `null` or `undefined` if the resource does not exist. */
  readResource?(uri: string, ctx: HandlerContext): MaybePromise<ReadReturn | ReadResourceResult>;
  /**
   * Called before a URI gets its first subscriber, or with `perSession` for every subscription of the session. If
   * `subscribe` fails, the server refuses the subscription. Publish changes with `server.resourceUpdated(uri)`.
   */
  subscribe?(uri: string): MaybePromise<void>;
  /**
   * Called when a URI has lost its last subscriber, or with `perSession` when the session unsubscribes or a
   * `subscriptions/listen` request ends.
   */
  unsubscribe?(uri: string): MaybePromise<void>;
  /** Serves `prompts/list`. `cursor` is undefined for the first page. */
  listPrompts?(cursor: string | undefined, ctx: RequestContext): MaybePromise<readonly Prompt[] | ListPromptsResult>;
  /** Serves `prompts/get`. All arguments are strings. */
  getPrompt?(
    name: string,
    args: Record<string, string>,
    ctx: HandlerContext,
  ): MaybePromise<PromptReturn | GetPromptResult>;
  /** Serves `completion/complete`. Returns suggested values, best first, or a complete result. */
  complete?(request: CompleteRequestParams, ctx: RequestContext): MaybePromise<Completions | CompleteResult>;
  /** Called when a client has set its log level. */
  setLogLevel?(level: LoggingLevel, ctx: RequestContext): void;
}

/**
 * A class of handler objects. The server creates one instance, or one for each session. The constructor receives
 * `handlerOptions`.
 */
export type ServerHandlerClass<O = unknown> = new (options: O) => ServerHandler<O>;

/** Options of `Server.from`. */
export interface HandlerServerOptions<O = unknown> extends ServerOptions {
  /** Passed to the constructor of a handler class, and to `init`. Default: undefined. */
  handlerOptions?: O | undefined;
  /**
   * True if the server creates an object of the class for each session, so that clients share no state. In revisions
   * without sessions (2026-07-28), the server creates an object for each connection of a pipe or socket, and for each
   * HTTP request. The server reads the capabilities from the class: methods must not be fields, and `capabilities` must
   * be static. Default: false.
   */
  perSession?: boolean | undefined;
}

/** True if the object or its class has the method. */
export function has(handler: ServerHandler<never>, method: keyof ServerHandler): boolean {
  return typeof handler[method] === "function";
}
