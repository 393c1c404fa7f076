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
 * A server as one object. Every method is optional; the ones that exist decide what the server offers. A list method returns
 * the whole list, or a page with a `nextCursor` of its own, which it gets back as `cursor` for the next page.
 */
export interface ServerHandler<O = unknown> {
  /**
   * Called once, before the first request; all requests wait for it. If it fails they fail, and the next one calls it again.
   * With `perSession` it is called when a session begins, and a failure refuses the handshake. `options` are
   * `handlerOptions`; `session` is the one that begins, absent for an object that serves all sessions or a single request.
   */
  init?(options: O, session?: SessionInfo): MaybePromise<void>;
  /**
   * Called once if `init` has run: by `server.close()`, or with `perSession` when the session ends for whatever reason.
   * Requests of the session that still run have an aborted signal. What it throws is reported and has no other effect.
   */
  terminate?(reason: EndReason): MaybePromise<void>;
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

/** A class of handler objects, of which the server creates one, or one for each session. It gets `handlerOptions`. */
export type ServerHandlerClass<O = unknown> = new (options: O) => ServerHandler<O>;

/** Options of `Server.from`. */
export interface HandlerServerOptions<O = unknown> extends ServerOptions {
  /** Passed to the constructor of a handler class, and to `init`. Default: undefined. */
  handlerOptions?: O | undefined;
  /**
   * Creates an object of the class for each session, which begins and ends with it, so that clients share no state. Without
   * a session (2026-07-28) there is one for each connection of a pipe or socket, and one for each HTTP request. What is
   * offered is read from the class, so methods must not be fields, and `capabilities` must be static. Default: false.
   */
  perSession?: boolean | undefined;
}

/** True when the object has the method, of its own or from its class. */
export function has(handler: ServerHandler<never>, method: keyof ServerHandler): boolean {
  return typeof handler[method] === "function";
}
