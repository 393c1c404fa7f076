import type { Prior } from "../era/negotiate/prior.js";
import type { Params } from "../jsonrpc/message.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Completion } from "../protocol/features/completion.js";
import type { LoggingLevel } from "../protocol/features/logging.js";
import type { GetPromptResult, ListPromptsResult, Prompt } from "../protocol/features/prompts.js";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
} from "../protocol/features/resources.js";
import type { Root } from "../protocol/features/roots.js";
import type { CallToolResult, ListToolsResult, Tool } from "../protocol/features/tools.js";
import type { Implementation } from "../protocol/implementation.js";
import type { ParamsOf, RequestMethod, ResultOf } from "../protocol/method-types.js";
import type { Revision } from "../protocol/revisions.js";
import type { ClientEvents, Unlisten } from "./changes/notifications.js";
import type { SubscriptionTarget } from "./changes/subscription-filter.js";
import type { Subscription } from "./changes/subscriptions.js";
import type { ClientParts } from "./connection/assemble.js";
import type { ConnectionState } from "./connection/connection-state.js";
import { setLogLevel } from "./features/log-level.js";
import { collect, DEFAULT_CONCURRENCY, settleMany } from "./features/pages.js";
import { type CompletionTarget, complete, getPrompt, listPrompts, walkPrompts } from "./features/prompts.js";
import {
  listResources,
  listResourceTemplates,
  readResource,
  walkResources,
  walkResourceTemplates,
} from "./features/resources.js";
import { listTools, requestTool, requestToolValue, walkTools } from "./features/tools.js";
import type { ClientMiddleware } from "./middleware.js";
import type { CallOptions } from "./options.js";

/** Tools of a server that is known only at run time. */
export type LooseTools = { [name: string]: { args: Record<string, unknown>; result: unknown } };

/** Prompts of a server that is known only at run time. */
export type LoosePrompts = { [name: string]: { [name: string]: string } };

/** The arguments of a call; may be left out when the tool needs none. */
// biome-ignore lint/complexity/noBannedTypes: `{} extends A` asks whether every member of A is optional
export type CallArguments<A> = {} extends A ? [args?: A, options?: CallOptions] : [args: A, options?: CallOptions];

type ArgsOf<T, N extends keyof T> = T[N] extends { args: infer A } ? A : never;
type ValueOf<T, N extends keyof T> = T[N] extends { result: infer R } ? R : never;

/** Options of several requests at once. */
export interface ManyOptions extends CallOptions {
  /** Requests that run at the same time. Default 8. */
  concurrency?: number | undefined;
}

/** One connection to one server. Made by `connect`; usable with `await using`. */
export class Client<T = LooseTools, P = LoosePrompts> {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** Where the connection stands; `on("state", …)` tells of changes. */
  get state(): ConnectionState {
    return this.#parts.connection.state;
  }

  /** Who the server says it is; unverified. */
  get serverInfo(): Implementation | undefined {
    return this.#parts.connection.established.serverInfo;
  }

  /** What the server says it offers. */
  get serverCapabilities(): ServerCapabilities {
    return this.#parts.connection.established.capabilities;
  }

  /** What the server says about its use, for the model. */
  get instructions(): string | undefined {
    return this.#parts.connection.established.instructions;
  }

  /** The revision that both sides speak. */
  get protocolVersion(): Revision {
    return this.#parts.connection.established.era.revision;
  }

  /** What was learnt of the server, as JSON: given to a later `connect` as `prior` it saves asking again. */
  get prior(): Prior {
    const { era, capabilities, serverInfo, instructions } = this.#parts.connection.established;
    return {
      revision: era.revision,
      capabilities,
      ...(serverInfo === undefined ? {} : { serverInfo }),
      ...(instructions === undefined ? {} : { instructions }),
    };
  }

  /** Calls a tool and gives its value: structured content, or text. A failed tool throws `McpError` of kind `tool_error`. */
  call<N extends keyof T & string>(name: N, ...rest: CallArguments<ArgsOf<T, N>>): Promise<ValueOf<T, N>> {
    const [args, options] = rest;
    const value = requestToolValue(this.#parts.tools, name, args as object | undefined, options);
    // The server's own types say what the tool gives; the value was checked against its schema there.
    return value as Promise<ValueOf<T, N>>;
  }

  /** Calls a tool and gives its full result, also when the tool failed. */
  callTool(name: keyof T & string, args?: object, options?: CallOptions): Promise<CallToolResult> {
    return requestTool(this.#parts.tools, name, args, options);
  }

  /** Calls many tools, some at a time, and returns the outcome of each in the same order. Never rejects because one fails. */
  callMany(
    calls: readonly { name: keyof T & string; args?: object | undefined }[],
    { concurrency = DEFAULT_CONCURRENCY, ...options }: ManyOptions = {},
  ): Promise<PromiseSettledResult<CallToolResult>[]> {
    return settleMany(calls, concurrency, ({ name, args }) => this.callTool(name, args, options));
  }

  /** One page of the tools. */
  listTools(cursor?: string, options?: CallOptions): Promise<ListToolsResult> {
    return listTools(this.#parts.tools, cursor, options);
  }

  /** All tools, one by one; pages are fetched as needed. */
  tools(options?: CallOptions): AsyncGenerator<Tool, void, undefined> {
    return walkTools(this.#parts.tools, options);
  }

  /** All tools at once. */
  allTools(options?: CallOptions): Promise<Tool[]> {
    return collect(this.tools(options));
  }

  /** One page of the resources. */
  listResources(cursor?: string, options?: CallOptions): Promise<ListResourcesResult> {
    return listResources(this.#parts.caller, cursor, options);
  }

  /** All resources, one by one; pages are fetched as needed. */
  resources(options?: CallOptions): AsyncGenerator<Resource, void, undefined> {
    return walkResources(this.#parts.caller, options);
  }

  /** All resources at once. */
  allResources(options?: CallOptions): Promise<Resource[]> {
    return collect(this.resources(options));
  }

  /** One page of the resource templates. */
  listResourceTemplates(cursor?: string, options?: CallOptions): Promise<ListResourceTemplatesResult> {
    return listResourceTemplates(this.#parts.caller, cursor, options);
  }

  /** All resource templates, one by one; pages are fetched as needed. */
  resourceTemplates(options?: CallOptions): AsyncGenerator<ResourceTemplate, void, undefined> {
    return walkResourceTemplates(this.#parts.caller, options);
  }

  /** All resource templates at once. */
  allResourceTemplates(options?: CallOptions): Promise<ResourceTemplate[]> {
    return collect(this.resourceTemplates(options));
  }

  /** The contents at one address. */
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult> {
    return readResource(this.#parts.caller, uri, options);
  }

  /** Reads many resources, some at a time, and returns the outcome of each in order. Never rejects because one fails. */
  readMany(
    uris: readonly string[],
    { concurrency = DEFAULT_CONCURRENCY, ...options }: ManyOptions = {},
  ): Promise<PromiseSettledResult<ReadResourceResult>[]> {
    return settleMany(uris, concurrency, (uri) => this.readResource(uri, options));
  }

  /**
   * Subscribes to changes of resources, by URI, or of lists. Resolves when the server has accepted the subscription. Iterate the
   * result to read the changes; it is renewed automatically after a lost connection.
   */
  subscribe(target: string | readonly string[] | SubscriptionTarget, options?: CallOptions): Promise<Subscription> {
    return this.#parts.subscriptions.add(target, options);
  }

  /** One page of the prompts. */
  listPrompts(cursor?: string, options?: CallOptions): Promise<ListPromptsResult> {
    return listPrompts(this.#parts.caller, cursor, options);
  }

  /** All prompts, one by one; pages are fetched as needed. */
  prompts(options?: CallOptions): AsyncGenerator<Prompt, void, undefined> {
    return walkPrompts(this.#parts.caller, options);
  }

  /** All prompts at once. */
  allPrompts(options?: CallOptions): Promise<Prompt[]> {
    return collect(this.prompts(options));
  }

  /** The messages of one prompt. */
  getPrompt<N extends keyof P & string>(name: N, ...rest: CallArguments<P[N]>): Promise<GetPromptResult> {
    const [args, options] = rest;
    // Arguments of prompts are strings, whatever they are called.
    return getPrompt(this.#parts.caller, name, args as Record<string, string> | undefined, options);
  }

  /** Suggestions for an argument of a prompt or a variable of a resource template, best first. */
  complete(
    target: CompletionTarget,
    argument: { name: string; value: string },
    settled?: Record<string, string>,
    options?: CallOptions,
  ): Promise<Completion> {
    return complete(this.#parts.caller, target, argument, settled, options);
  }

  /** Asks for log messages of this level and above, from now on. They reach `onLog` and `on("notifications/message")`. */
  setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    return setLogLevel(this.#parts.connection, this.#parts.caller, level, options);
  }

  /** Replaces the roots and tells the server where it can be told. `connect` must have been given some. */
  async setRoots(roots: readonly Root[]): Promise<void> {
    this.#parts.answerer.setRoots(roots);
    const method = "notifications/roots/list_changed";
    if (this.#parts.connection.last?.era.has(method) === true) await this.notify(method);
  }

  /** Resolves when the server answers; otherwise rejects with the same errors as any other call. */
  async ping(options?: CallOptions): Promise<void> {
    await this.#parts.connection.ready();
    const method = this.#parts.connection.established.era.has("ping") ? "ping" : "server/discover";
    await this.#parts.caller.call(method, undefined, { ...options, cache: false });
  }

  /** Listens to notifications by their method, to those of no known method by `unknown`, and to the connection itself. */
  on<E extends keyof ClientEvents>(event: E, listener: (value: ClientEvents[E]) => void): Unlisten;
  /** Listens to notifications that an extension defines. */
  on(event: `notifications/${string}`, listener: (params: Params) => void): Unlisten;
  on(event: string, listener: (value: never) => void): Unlisten {
    return this.#parts.router.on(event, listener);
  }

  /** Adds middleware around every later call; the first one added is the outermost. */
  use(...middleware: ClientMiddleware[]): this {
    this.#parts.caller.middleware.push(...middleware);
    return this;
  }

  /** Sends any request and gives its complete result. */
  request<M extends RequestMethod>(method: M, params?: ParamsOf<M>, options?: CallOptions): Promise<ResultOf<M>>;
  request(method: string, params?: object, options?: CallOptions): Promise<Record<string, unknown>>;
  request(method: string, params?: object, options?: CallOptions): Promise<Record<string, unknown>> {
    // Any object can be parameters; the server checks its members.
    return this.#parts.caller.call(method, params as Params | undefined, options);
  }

  /** Sends any notification. */
  notify(method: string, params?: object): Promise<void> {
    // As for `request`.
    return this.#parts.caller.notify(method, params as Params | undefined);
  }

  /** Ends the connection; everything pending rejects. */
  async close(): Promise<void> {
    const { connection, caller, requests } = this.#parts;
    requests.cancelAll();
    await connection.close();
    caller.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
