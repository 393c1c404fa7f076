import type { Params } from "../jsonrpc/message.js";
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
import type { ParamsOf, RequestMethod, ResultOf } from "../protocol/method-types.js";
import type { ClientParts } from "./assemble.js";
import { type Tried, tried } from "./call/tried.js";
import type { ArgsOf, CallArguments, LoosePrompts, LooseTools, ManyOptions, ValueOf } from "./call-arguments.js";
import type { SubscriptionTarget } from "./changes/subscription-filter.js";
import type { Subscription } from "./changes/subscriptions.js";
import { ConnectedClient } from "./connected-client.js";
import type { CallOptions } from "./contract/options.js";
import type { SavedTask, TaskHandle } from "./contract/task-handle.js";
import { type CallEvent, streamCall } from "./features/call-stream.js";
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

/** One connection to one server. Made by `connect`; usable with `await using`. */
export class Client<T = LooseTools, P = LoosePrompts> extends ConnectedClient {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    super(parts);
    this.#parts = parts;
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
}
