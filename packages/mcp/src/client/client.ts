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
import { type ClientCore, type CloseOptions, closeClient } from "./assemble.js";
import { type Tried, tried } from "./call/read-result.js";
import { type CallEvent, type ReceivedNotification, streamCall, streamNotifications } from "./changes/streams.js";
import type { SubscriptionTarget } from "./changes/subscription-filter.js";
import type { Subscription } from "./changes/subscriptions.js";
import type { ClientEvents, ConnectionState, RemoveListener, SessionMode } from "./contract/events.js";
import { extensionFeature } from "./contract/extension.js";
import { type ClientMiddleware, tapClientNotifications } from "./contract/middleware.js";
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

/** The tools of a client whose server's types are unknown at compile time: any name, any arguments. */
export type LooseTools = { [name: string]: { args: Record<string, unknown>; result: unknown } };

/** The prompts of a client whose server's types are unknown at compile time: any name, string arguments. */
export type LoosePrompts = { [name: string]: { [name: string]: string } };

/** The parameters of a call after the name: arguments and options. The arguments are optional if every argument is. */
// biome-ignore lint/complexity/noBannedTypes: `{} extends A` asks whether every member of A is optional
export type CallArguments<A> = {} extends A ? [args?: A, options?: CallOptions] : [args: A, options?: CallOptions];

/** The type of a tool's arguments. */
export type ArgsOf<T, N extends keyof T> = T[N] extends { args: infer A } ? A : never;

/** The type of a tool's value, as `client.call` returns it. */
export type ValueOf<T, N extends keyof T> = T[N] extends { result: infer R } ? R : never;

/** Options of `callMany` and `readMany`. The call options apply to each request. */
export interface ManyOptions extends CallOptions {
  /** Maximum number of requests in flight at the same time. Default: 8. */
  concurrency?: number | undefined;
}

/**
 * A connection to one server, created by `connect`. The same methods work with every transport and protocol revision.
 *
 * Methods reject with an `McpError`; its `kind` says what went wrong and its `fix` what to change. A client reopens a lost
 * connection by itself where the transport allows it, and renews subscriptions and the log level. Close it with `close`, or
 * declare it with `await using`.
 *
 * `T` and `P` are the types of the server's tools and prompts; `connect(server)` and `connect<typeof server>(…)` set them.
 */
export class Client<T = LooseTools, P = LoosePrompts> {
  readonly #core: ClientCore;

  /** For the library only: use `connect`. */
  constructor(core: ClientCore) {
    this.#core = core;
  }

  /** The state of the connection. `on("state", …)` reports changes. */
  get state(): ConnectionState {
    return this.#core.connection.state;
  }

  /** The name and version that the server reports. Not verified. Undefined if the server reports none. */
  get serverInfo(): Implementation | undefined {
    return this.#core.connection.established.serverInfo;
  }

  /** The capabilities that the server declared in the last handshake. */
  get serverCapabilities(): ServerCapabilities {
    return this.#core.connection.established.capabilities;
  }

  /** The server's instructions on its use, for the model. Undefined if the server sends none. */
  get instructions(): string | undefined {
    return this.#core.connection.established.instructions;
  }

  /** The protocol revision that client and server agreed on. */
  get protocolVersion(): Revision {
    return this.#core.connection.established.era.revision;
  }

  /**
   * `required` if any tool of the last complete list needs a session, `optional` if none does. Undefined before all
   * tools were listed. `on("session.mode", …)` reports changes.
   */
  get sessionMode(): SessionMode | undefined {
    return this.#core.tools.sessionMode;
  }

  /**
   * The result of the handshake as JSON. Pass it to a later `connect` as `prior` to connect without asking the server
   * again.
   */
  get prior(): Prior {
    return priorOf(this.#core.connection.established);
  }

  /**
   * Calls a tool and returns its value: the structured content if the result has any, otherwise the text of all blocks.
   * Rejects with kind `tool_error` if the tool reports a failure. Use `callTool` for images and other blocks.
   */
  call<N extends keyof T & string>(name: N, ...rest: CallArguments<ArgsOf<T, N>>): Promise<ValueOf<T, N>> {
    const [args, options] = rest;
    const value = requestToolValue(this.#core.tools, name, args as object | undefined, options);
    // Safe: the types are those of the server, which validated the value against the tool's schema.
    return value as Promise<ValueOf<T, N>>;
  }

  /** Calls a tool like `call`, but returns `{ ok: true, value }` or `{ ok: false, error }` and never rejects. */
  tryCall<N extends keyof T & string>(name: N, ...rest: CallArguments<ArgsOf<T, N>>): Promise<Tried<ValueOf<T, N>>> {
    return tried(() => this.call(name, ...rest));
  }

  /**
   * Calls a tool and yields its progress reports, then its value. The call starts with the first iteration. Leaving the
   * loop cancels the call.
   */
  stream<N extends keyof T & string>(
    name: N,
    ...[args, options]: CallArguments<ArgsOf<T, N>>
  ): AsyncGenerator<CallEvent<ValueOf<T, N>>, void, undefined> {
    // Same cast as in `call`.
    const start = (own: CallOptions) => requestToolValue(this.#core.tools, name, args as object | undefined, own);
    return streamCall(start as (own: CallOptions) => Promise<ValueOf<T, N>>, options);
  }

  /**
   * Calls a tool as a task and returns a handle that outlives this connection. Resolves as soon as the server has
   * created the task. Aborting `options.signal` later cancels the task. Needs the extension of `@parley/mcp/tasks`.
   */
  startTask<N extends keyof T & string>(
    name: N,
    ...[args, options]: CallArguments<ArgsOf<T, N>>
  ): Promise<TaskHandle<ValueOf<T, N>>> {
    const handle = startTask(this.#core.extensions, this.#core.tools, name, args as object | undefined, options);
    // Same cast as in `call`.
    return handle as Promise<TaskHandle<ValueOf<T, N>>>;
  }

  /**
   * Returns the handle of an existing task, by its id or by the value of an earlier handle's `toJSON`. Sends nothing
   * until the handle is used. Needs the extension of `@parley/mcp/tasks`.
   */
  task(saved: string | SavedTask): TaskHandle {
    return findTask(this.#core.extensions, this.#core.tools, saved);
  }

  /** Calls a tool and returns its full result, even if the tool reports a failure: check `isError`. */
  callTool(name: keyof T & string, args?: object, options?: CallOptions): Promise<CallToolResult> {
    return requestTool(this.#core.tools, name, args, options);
  }

  /**
   * Calls many tools, up to `concurrency` at a time, and returns the outcome of each in the same order. A failed call
   * does not reject the others.
   */
  callMany(
    calls: readonly { name: keyof T & string; args?: object | undefined }[],
    { concurrency = DEFAULT_CONCURRENCY, ...options }: ManyOptions = {},
  ): Promise<PromiseSettledResult<CallToolResult>[]> {
    return settleMany(calls, concurrency, ({ name, args }) => this.callTool(name, args, options));
  }

  /** Returns one page of the tools: the first, or the one after `cursor`. Omits malformed tools with a warning. */
  listTools(cursor?: string, options?: CallOptions): Promise<ListToolsResult> {
    return listTools(this.#core.tools, cursor, options);
  }

  /** Iterates over all tools. Fetches pages as needed. */
  tools(options?: CallOptions): AsyncGenerator<Tool, void, undefined> {
    return walkTools(this.#core.tools, options);
  }

  /** Returns all tools, from all pages. */
  allTools(options?: CallOptions): Promise<Tool[]> {
    return collect(this.tools(options));
  }

  /**
   * Returns one page of the resources: the first, or the one after `cursor`. Omits malformed resources with a warning.
   */
  listResources(cursor?: string, options?: CallOptions): Promise<ListResourcesResult> {
    return listResources(this.#core.caller, cursor, options);
  }

  /** Iterates over all resources. Fetches pages as needed. */
  resources(options?: CallOptions): AsyncGenerator<Resource, void, undefined> {
    return walkResources(this.#core.caller, options);
  }

  /** Returns all resources, from all pages. */
  allResources(options?: CallOptions): Promise<Resource[]> {
    return collect(this.resources(options));
  }

  /**
   * Returns one page of the resource templates: the first, or the one after `cursor`. Omits malformed templates with a
   * warning.
   */
  listResourceTemplates(cursor?: string, options?: CallOptions): Promise<ListResourceTemplatesResult> {
    return listResourceTemplates(this.#core.caller, cursor, options);
  }

  /** Iterates over all resource templates. Fetches pages as needed. */
  resourceTemplates(options?: CallOptions): AsyncGenerator<ResourceTemplate, void, undefined> {
    return walkResourceTemplates(this.#core.caller, options);
  }

  /** Returns all resource templates, from all pages. */
  allResourceTemplates(options?: CallOptions): Promise<ResourceTemplate[]> {
    return collect(this.resourceTemplates(options));
  }

  /** Reads a resource. Rejects with kind `resource_not_found` if the server has none at this URI. */
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult> {
    return readResource(this.#core.caller, uri, options);
  }

  /**
   * Reads a resource like `readResource`, but returns `{ ok: true, value }` or `{ ok: false, error }` and never
   * rejects.
   */
  tryReadResource(uri: string, options?: CallOptions): Promise<Tried<ReadResourceResult>> {
    return tried(() => this.readResource(uri, options));
  }

  /**
   * Reads many resources, up to `concurrency` at a time, and returns the outcome of each in the same order. A failed
   * read does not reject the others.
   */
  readMany(
    uris: readonly string[],
    { concurrency = DEFAULT_CONCURRENCY, ...options }: ManyOptions = {},
  ): Promise<PromiseSettledResult<ReadResourceResult>[]> {
    return settleMany(uris, concurrency, (uri) => this.readResource(uri, options));
  }

  /**
   * Subscribes to changes of resources, by URI, or of lists. Resolves when the server has accepted the subscription.
   * Iterate the result to receive the changes. The client renews the subscription after a lost connection. Rejects with
   * kind `capability_missing` if the server supports none of the requested subscriptions.
   */
  subscribe(target: string | readonly string[] | SubscriptionTarget, options?: CallOptions): Promise<Subscription> {
    return this.#core.subscriptions.add(target, options);
  }

  /** Returns one page of the prompts: the first, or the one after `cursor`. Omits malformed prompts with a warning. */
  listPrompts(cursor?: string, options?: CallOptions): Promise<ListPromptsResult> {
    return listPrompts(this.#core.caller, cursor, options);
  }

  /** Iterates over all prompts. Fetches pages as needed. */
  prompts(options?: CallOptions): AsyncGenerator<Prompt, void, undefined> {
    return walkPrompts(this.#core.caller, options);
  }

  /** Returns all prompts, from all pages. */
  allPrompts(options?: CallOptions): Promise<Prompt[]> {
    return collect(this.prompts(options));
  }

  /** Returns the messages of a prompt, filled in with the arguments. */
  getPrompt<N extends keyof P & string>(name: N, ...rest: CallArguments<P[N]>): Promise<GetPromptResult> {
    const [args, options] = rest;
    // The protocol has only string arguments for prompts.
    return getPrompt(this.#core.caller, name, args as Record<string, string> | undefined, options);
  }

  /** Gets a prompt like `getPrompt`, but returns `{ ok: true, value }` or `{ ok: false, error }` and never rejects. */
  tryGetPrompt<N extends keyof P & string>(name: N, ...rest: CallArguments<P[N]>): Promise<Tried<GetPromptResult>> {
    return tried(() => this.getPrompt(name, ...rest));
  }

  /**
   * Returns suggestions for an argument of a prompt or a variable of a resource template, best first. `argument.value`
   * is the text typed so far, and `settled` the other arguments already chosen.
   */
  complete(
    target: CompletionTarget,
    argument: { name: string; value: string },
    settled?: Record<string, string>,
    options?: CallOptions,
  ): Promise<Completion> {
    return complete(this.#core.caller, target, argument, settled, options);
  }

  /**
   * Requests log messages of this level and above. They arrive at `onLog` and `on("notifications/message")`.
   *
   * @deprecated The protocol deprecates logging; write to stderr, or use OpenTelemetry.
   */
  setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    return setLogLevel(this.#core.connection, this.#core.caller, level, options);
  }

  /**
   * The folders that the server may work in: `list`, `set`, `add` and `remove`. Only for a client whose `connect` got
   * `roots`.
   *
   * @deprecated The protocol deprecates roots; pass folders as arguments of tools, as resources or in the server's configuration.
   */
  get roots(): ClientRoots {
    return this.#core.roots;
  }

  /**
   * Replaces the folders that the server may work in, like `roots.set`.
   *
   * @deprecated The protocol deprecates roots; pass folders as arguments of tools, as resources or in the server's configuration.
   */
  setRoots(roots: readonly Root[]): Promise<void> {
    return this.roots.set(roots);
  }

  /**
   * Resolves when the server answers a `ping`, or `server/discover` in revisions without `ping`. Rejects with the same
   * errors as any other call.
   */
  async ping(options?: CallOptions): Promise<void> {
    await this.#core.connection.ready();
    const method = this.#core.connection.established.era.has("ping") ? "ping" : "server/discover";
    await this.#core.caller.call(method, undefined, { ...options, cache: false });
  }

  /** Sends a request of any method, including those of extensions, and returns its complete result. */
  request<M extends RequestMethod>(method: M, params?: ParamsOf<M>, options?: CallOptions): Promise<ResultOf<M>>;
  request(method: string, params?: object, options?: CallOptions): Promise<Record<string, unknown>>;
  request(method: string, params?: object, options?: CallOptions): Promise<Record<string, unknown>> {
    // Any object can be parameters; the server checks its members.
    return this.#core.caller.call(method, params as Params | undefined, options);
  }

  /** Sends a request like `request`, but returns `{ ok: true, value }` or `{ ok: false, error }` and never rejects. */
  tryRequest<M extends RequestMethod>(
    method: M,
    params?: ParamsOf<M>,
    options?: CallOptions,
  ): Promise<Tried<ResultOf<M>>>;
  tryRequest(method: string, params?: object, options?: CallOptions): Promise<Tried<Record<string, unknown>>>;
  tryRequest(method: string, params?: object, options?: CallOptions): Promise<Tried<Record<string, unknown>>> {
    return tried(() => this.request(method, params, options));
  }

  /**
   * Adds a listener for a notification method, or for an event of the client: see `ClientEvents`. Call the returned
   * function to remove the listener.
   */
  on<E extends keyof ClientEvents>(event: E, listener: (value: ClientEvents[E]) => void): RemoveListener;
  /** Adds a listener for notifications of another method, such as those of an extension. */
  on(event: `notifications/${string}`, listener: (params: Params) => void): RemoveListener;
  on(event: string, listener: (value: never) => void): RemoveListener {
    return this.#core.router.on(event, listener);
  }

  /**
   * Iterates over all notifications from now on, in order of arrival. Ends with the connection, or when the loop is
   * left.
   */
  notifications(): AsyncIterableIterator<ReceivedNotification> {
    return streamNotifications(this.#core.router, this.#core.connection);
  }

  /** Adds middleware around all later calls. The first one added is the outermost. */
  use(...middleware: ClientMiddleware[]): this {
    this.#core.caller.middleware.push(...middleware);
    return this;
  }

  /**
   * Adds middleware around all later notifications, in both directions. The first one added is the outermost. It sees
   * notifications of the server before listeners, subscriptions and the cache do.
   */
  useNotifications(...middleware: NotificationMiddleware[]): this {
    const { notifications, connection, caller } = this.#core;
    notifications.push(...checkedNotificationMiddleware(middleware));
    tapClientNotifications(connection.current?.transport, notifications, (message) => caller.warn(message));
    return this;
  }

  /**
   * Returns the interface that an extension adds to this client. Throws `misuse` if `connect` did not get the
   * extension.
   */
  extension<F>(extension: { readonly id: string; readonly feature?: F }): F {
    return extensionFeature(this.#core.extensions, extension.id) as F;
  }

  /** Sends a notification of any method. */
  notify(method: string, params?: object): Promise<void> {
    // Same cast as in `request`.
    return this.#core.caller.notify(method, params as Params | undefined);
  }

  /**
   * Closes the connection. Calls in flight have `drainMs` to end (default: 0), then reject with kind
   * `connection_closed`.
   */
  close(options?: CloseOptions): Promise<void> {
    return closeClient(this.#core, options);
  }

  /** Closes the connection like `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
