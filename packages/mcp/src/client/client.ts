import { type Prior, priorOf } from "../era/negotiate/negotiation.js";
import { checkedNotificationMiddleware, type NotificationMiddleware } from "../era/notification-middleware.js";
import type { Params } from "../jsonrpc/message.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Completion } from "../protocol/features/completion.js";
import type { ParamsOf, RequestMethod, ResultOf } from "../protocol/features/method-types.js";
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
import type { LoggingLevel } from "../protocol/logging.js";
import type { Revision } from "../protocol/revisions.js";
import { type ClientParts, type CloseOptions, closeClient } from "./assemble.js";
import { type Tried, tried } from "./call/read-result.js";
import { type CallEvent, type ReceivedNotification, streamCall, streamNotifications } from "./changes/streams.js";
import type { SubscriptionTarget } from "./changes/subscription-filter.js";
import type { Subscription } from "./changes/subscriptions.js";
import type { ClientEvents, ConnectionState, SessionMode, Unlisten } from "./contract/events.js";
import { extensionFeature } from "./contract/extension.js";
import { type ClientMiddleware, tapNotices } from "./contract/middleware.js";
import type { CallOptions } from "./contract/options.js";
import type { SavedTask, TaskHandle } from "./contract/task-handle.js";
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
import type { ClientRoots } from "./features/roots.js";
import { findTask, startTask } from "./features/tasks.js";
import { listTools, requestTool, requestToolValue, walkTools } from "./features/tools.js";

/** Tools of a server that is known only at run time. */
export type LooseTools = { [name: string]: { args: Record<string, unknown>; result: unknown } };

/** Prompts of a server that is known only at run time. */
export type LoosePrompts = { [name: string]: { [name: string]: string } };

/** The arguments of a call; may be left out when the tool needs none. */
// biome-ignore lint/complexity/noBannedTypes: `{} extends A` asks whether every member of A is optional
export type CallArguments<A> = {} extends A ? [args?: A, options?: CallOptions] : [args: A, options?: CallOptions];

/** The arguments of one tool. */
export type ArgsOf<T, N extends keyof T> = T[N] extends { args: infer A } ? A : never;

/** What one tool gives. */
export type ValueOf<T, N extends keyof T> = T[N] extends { result: infer R } ? R : never;

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

  /** Whether the tools that were listed last need a session; `on("session.mode", …)` tells of changes. Undefined before a list. */
  get sessionMode(): SessionMode | undefined {
    return this.#parts.tools.sessionMode;
  }

  /** What was learnt of the server, as JSON: given to a later `connect` as `prior` it saves asking again. */
  get prior(): Prior {
    return priorOf(this.#parts.connection.established);
  }

  /** Calls a tool and gives its value: structured content, or text. A failed tool throws `McpError` of kind `tool_error`. */
  call<N extends keyof T & string>(name: N, ...rest: CallArguments<ArgsOf<T, N>>): Promise<ValueOf<T, N>> {
    const [args, options] = rest;
    const value = requestToolValue(this.#parts.tools, name, args as object | undefined, options);
    // The server's own types say what the tool gives; the value was checked against its schema there.
    return value as Promise<ValueOf<T, N>>;
  }

  /** As `call`, but gives `{ ok: true, value }` or `{ ok: false, error }` and never throws. */
  tryCall<N extends keyof T & string>(name: N, ...rest: CallArguments<ArgsOf<T, N>>): Promise<Tried<ValueOf<T, N>>> {
    return tried(() => this.call(name, ...rest));
  }

  /** Calls a tool and gives its progress as it comes, then its result. Begins with the loop; leaving the loop cancels the call. */
  stream<N extends keyof T & string>(
    name: N,
    ...[args, options]: CallArguments<ArgsOf<T, N>>
  ): AsyncGenerator<CallEvent<ValueOf<T, N>>, void, undefined> {
    // As for `call`.
    const start = (own: CallOptions) => requestToolValue(this.#parts.tools, name, args as object | undefined, own);
    return streamCall(start as (own: CallOptions) => Promise<ValueOf<T, N>>, options);
  }

  /**
   * Calls a tool as a task and gives a handle that outlives this connection. Resolves when the server has created the task. Needs
   * the extension of `@parley/mcp/tasks`.
   */
  startTask<N extends keyof T & string>(
    name: N,
    ...[args, options]: CallArguments<ArgsOf<T, N>>
  ): Promise<TaskHandle<ValueOf<T, N>>> {
    const handle = startTask(this.#parts.extensions, this.#parts.tools, name, args as object | undefined, options);
    // As for `call`.
    return handle as Promise<TaskHandle<ValueOf<T, N>>>;
  }

  /** Finds a task again, by its id or by what `toJSON` of its handle gave. Nothing is sent before the handle is used. */
  task(saved: string | SavedTask): TaskHandle {
    return findTask(this.#parts.extensions, this.#parts.tools, saved);
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

  /** As `readResource`, but never throws. */
  tryReadResource(uri: string, options?: CallOptions): Promise<Tried<ReadResourceResult>> {
    return tried(() => this.readResource(uri, options));
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

  /** As `getPrompt`, but never throws. */
  tryGetPrompt<N extends keyof P & string>(name: N, ...rest: CallArguments<P[N]>): Promise<Tried<GetPromptResult>> {
    return tried(() => this.getPrompt(name, ...rest));
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

  /** Asks for log messages of this level and above, from now on. They reach `onLog` and `on("notifications/message")`.
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry. */
  setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    return setLogLevel(this.#parts.connection, this.#parts.caller, level, options);
  }

  /** @deprecated The protocol deprecates roots; folders of the server: `list`, `set`, `add`, `remove`, if `connect` got `roots`. */
  get roots(): ClientRoots {
    return this.#parts.roots;
  }

  /** @deprecated The protocol deprecates roots; this is the same as `roots.set`. */
  setRoots(roots: readonly Root[]): Promise<void> {
    return this.roots.set(roots);
  }

  /** Resolves when the server answers; otherwise rejects with the same errors as any other call. */
  async ping(options?: CallOptions): Promise<void> {
    await this.#parts.connection.ready();
    const method = this.#parts.connection.established.era.has("ping") ? "ping" : "server/discover";
    await this.#parts.caller.call(method, undefined, { ...options, cache: false });
  }

  /** Sends any request and gives its complete result. */
  request<M extends RequestMethod>(method: M, params?: ParamsOf<M>, options?: CallOptions): Promise<ResultOf<M>>;
  request(method: string, params?: object, options?: CallOptions): Promise<Record<string, unknown>>;
  request(method: string, params?: object, options?: CallOptions): Promise<Record<string, unknown>> {
    // Any object can be parameters; the server checks its members.
    return this.#parts.caller.call(method, params as Params | undefined, options);
  }

  /** As `request`, but never throws. */
  tryRequest<M extends RequestMethod>(
    method: M,
    params?: ParamsOf<M>,
    options?: CallOptions,
  ): Promise<Tried<ResultOf<M>>>;
  tryRequest(method: string, params?: object, options?: CallOptions): Promise<Tried<Record<string, unknown>>>;
  tryRequest(method: string, params?: object, options?: CallOptions): Promise<Tried<Record<string, unknown>>> {
    return tried(() => this.request(method, params, options));
  }

  /** Listens to notifications by method, to all by `notification`, to unknown ones by `unknown`, and to the connection itself. */
  on<E extends keyof ClientEvents>(event: E, listener: (value: ClientEvents[E]) => void): Unlisten;
  /** Listens to notifications of any other method: those of extensions, and a server's own. */
  on(event: `notifications/${string}`, listener: (params: Params) => void): Unlisten;
  on(event: string, listener: (value: never) => void): Unlisten {
    return this.#parts.router.on(event, listener);
  }

  /** All notifications from now on, in order, for `for await`. Ends with the connection, or when the loop is left. */
  notifications(): AsyncIterableIterator<ReceivedNotification, undefined> {
    return streamNotifications(this.#parts.router, this.#parts.connection);
  }

  /** Adds middleware around every later call; the first one added is the outermost. */
  use(...middleware: ClientMiddleware[]): this {
    this.#parts.caller.middleware.push(...middleware);
    return this;
  }

  /**
   * Adds middleware around every later notification, in both directions; the first one added is the outermost. It sees notifications
   * of the server before listeners, subscriptions and the cache do.
   */
  useNotifications(...middleware: NotificationMiddleware[]): this {
    const { notifications, connection, caller } = this.#parts;
    notifications.push(...checkedNotificationMiddleware(middleware));
    tapNotices(connection.current?.transport, notifications, (message) => caller.warn(message));
    return this;
  }

  /** What an extension that was given to `connect` adds to this client. Throws `misuse` if it was not given. */
  extension<F>(extension: { readonly id: string; readonly feature?: F }): F {
    return extensionFeature(this.#parts.extensions, extension.id) as F;
  }

  /** Sends any notification. */
  notify(method: string, params?: object): Promise<void> {
    // As for `request`.
    return this.#parts.caller.notify(method, params as Params | undefined);
  }

  /** Ends the connection. Calls in flight may end within `drainMs`, default 0; what is still pending then rejects. */
  close(options?: CloseOptions): Promise<void> {
    return closeClient(this.#parts, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
