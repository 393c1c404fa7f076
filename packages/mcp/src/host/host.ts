import { platform as runtimePlatform } from "#platform";
import { checkCallOptions } from "../client/call/caller.js";
import type { Requester } from "../client/call/requester.js";
import type { Client } from "../client/client.js";
import type { CallOptions } from "../client/contract/options.js";
import { getPrompt } from "../client/features/prompts.js";
import { readResource } from "../client/features/resources.js";
import { toolValue } from "../client/features/tool-value.js";
import { printableLine } from "../encoding/printable.js";
import { driftRefusal } from "../lock/drift-policy.js";
import { type Platform, replacedPlatform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import type { GetPromptResult, Prompt } from "../protocol/features/prompts.js";
import type { ReadResourceResult, Resource, ResourceTemplate } from "../protocol/features/resources.js";
import type { CallToolResult, Tool } from "../protocol/features/tools.js";
import type { Server } from "../server/server.js";
import { outerResult } from "../server/sources/offer-names.js";
import { HostCatalogue } from "./catalogue/host-catalogue.js";
import { type SearchOptions, type ToolCategory, type ToolHit, ToolSearch } from "./catalogue/tool-search.js";
import { type GatewayOptions, gatewayServer } from "./gateway/gateway-server.js";
import { DISABLED_STATUS, type HostEvents, HostListeners, type ServerStatus } from "./host-events.js";
import type { HostedServer } from "./hosted-server.js";
import { HostedServers } from "./hosted-servers.js";
import { checkHostOptions, type HostEntry, type HostOptions } from "./options.js";
import { APPLICATION } from "./server-entry.js";
import type { SupervisorTree } from "./supervision/supervisor-tree.js";

/**
 * Supervises many servers and presents them as one. Their tools, prompts and resources have names that do not collide.
 *
 * A broken or slow server does not affect the others: the host restarts it, and `status` reports what is wrong. A host
 * can be used with `await using`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/host.md | The host: many servers as one}
 */
export class Host implements AsyncDisposable {
  readonly #platform: Platform;
  readonly #listeners: HostListeners;
  readonly #catalogue: HostCatalogue;
  readonly #servers: HostedServers;
  readonly #search = new ToolSearch();
  #indexed: readonly Tool[] | undefined;

  /**
   * Creates a host and adds the servers of `options`, without starting them. Throws `invalid_definition` for invalid
   * options.
   */
  constructor(options: HostOptions = {}) {
    checkHostOptions(options);
    this.#platform = replacedPlatform(runtimePlatform, options.platform);
    this.#listeners = new HostListeners(this.#platform);
    if (options.onEvent !== undefined) this.#listeners.add("any", options.onEvent);
    this.#catalogue = new HostCatalogue(options.names);
    this.#servers = new HostedServers(options, this.#platform, this.#catalogue, this.#listeners);
    for (const [name, entry] of Object.entries(options.servers ?? {})) this.#servers.add(name, entry);
  }

  /**
   * Starts all servers at the same time. Resolves when every server is ready, has failed its first attempt, or has
   * lists from an earlier run, but after `startWaitMs` at the latest. Servers that are not ready by then continue to
   * start. Rejects if a server with `required` does not start.
   */
  start(): Promise<void> {
    return this.#servers.start();
  }

  /**
   * Resolves when a server is ready for calls. Rejects after `waitMs`, or immediately if the server is known to be
   * unavailable.
   */
  async ready(server: string): Promise<void> {
    await this.#servers.get(server).remote.ownConnection();
  }

  /** All tools, under the names to call them by. Returns the same array until something changes. */
  tools(): readonly Tool[] {
    return this.#catalogue.all("tools");
  }

  /** All prompts, under the names to get them by. Returns the same array until something changes. */
  prompts(): readonly Prompt[] {
    return this.#catalogue.all("prompts");
  }

  /** All resources, under the URIs to read them by. Returns the same array until something changes. */
  resources(): readonly Resource[] {
    return this.#catalogue.all("resources");
  }

  /**
   * All templates of resources, for URIs that `readResource` accepts. Returns the same array until something changes.
   */
  resourceTemplates(): readonly ResourceTemplate[] {
    return this.#catalogue.all("resourceTemplates");
  }

  /** Returns the tools that match the words of a query best. Works without a model. */
  search(query: string, options?: SearchOptions): ToolHit[] {
    return this.#index().search(query, options);
  }

  /** The servers with the number and the topics of their tools, as an aid for choosing search words. */
  categories(): ToolCategory[] {
    return this.#index().categories();
  }

  /** Calls a tool by its name in `tools()` and returns its full result. */
  async callTool(name: string, args?: object, options: CallOptions = {}): Promise<CallToolResult> {
    checkCallOptions(options);
    const found = this.#catalogue.find("tools", name);
    if (found === undefined) throw this.#driftError(name) ?? unknown("tool", name);
    const server = this.#servers.get(found.server);
    const inner = server.tools.innerCall(found.inner, args as Record<string, unknown> | undefined);
    const { idempotent, readOnly } = this.hints(name);
    const repeatable = mayResend(options, idempotent || readOnly);
    const sent = server.remote.withDeadline(options);
    const result = await server.remote.run(this.#runOptions(server, options, repeatable), (connection) =>
      connection.callTool(inner.name, inner.args, server.config.application, sent, { idempotent: false }),
    );
    return this.#withOuterNames(server, "tools/call", result) as CallToolResult;
  }

  /**
   * Calls a tool and returns its value: structured content, or text. Rejects with `tool_error` if the tool reports a
   * failure.
   */
  async call(name: string, args?: object, options: CallOptions = {}): Promise<unknown> {
    const result = await this.callTool(name, args, options);
    return toolValue(name, result, () => {});
  }

  /** Gets a prompt by its name in `prompts()`. */
  async getPrompt(name: string, args?: Record<string, string>, options: CallOptions = {}): Promise<GetPromptResult> {
    const found = this.#catalogue.find("prompts", name);
    if (found === undefined) throw unknown("prompt", name);
    const server = this.#servers.get(found.server);
    const result = await this.#request(server, options, (requester, sent) =>
      getPrompt(requester, found.inner, args, sent),
    );
    return this.#withOuterNames(server, "prompts/get", result) as GetPromptResult;
  }

  /** Reads a resource by its URI in `resources()`, or by a URI from a result of one of the servers. */
  async readResource(uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    const found = this.#catalogue.ownerOf(uri);
    if (found === undefined) throw unknown("resource", uri);
    const server = this.#servers.get(found.server);
    const result = await this.#request(server, options, (requester, sent) =>
      readResource(requester, found.inner, sent),
    );
    return this.#withOuterNames(server, "resources/read", result) as ReadResourceResult;
  }

  /**
   * The annotations of a tool, with the worst case for every absent one: not read-only, destructive, not idempotent,
   * open world. Annotations of servers that are not `trusted` count as absent.
   */
  hints(tool: string): { readOnly: boolean; destructive: boolean; idempotent: boolean; openWorld: boolean } {
    const found = this.#catalogue.find("tools", tool);
    if (found === undefined) throw unknown("tool", tool);
    const { trusted } = this.#servers.get(found.server).config;
    const annotations = trusted ? (found.item.annotations ?? {}) : {};
    const readOnly = annotations.readOnlyHint === true;
    return {
      readOnly,
      destructive: !readOnly && annotations.destructiveHint !== false,
      idempotent: annotations.idempotentHint === true,
      openWorld: annotations.openWorldHint !== false,
    };
  }

  /** The status of each server, by name. */
  status(): Record<string, ServerStatus> {
    const disabled = [...this.#servers.disabled].map((name) => [name, DISABLED_STATUS] as const);
    return Object.fromEntries([...this.#servers.all().map(({ name, status }) => [name, status] as const), ...disabled]);
  }

  /**
   * The client of a server's least busy connection, for requests that the host has no method for. Undefined while
   * disconnected.
   */
  client(server: string): Client | undefined {
    return this.#servers.get(server).remote.leastBusy?.client;
  }

  /**
   * Adds a server, and starts it if the host is started. Resolves when the server is ready, or at once if the host is
   * not started or the entry is disabled. Rejects if its first attempt to start fails; the host continues to retry.
   */
  add(name: string, entry: HostEntry): Promise<void> {
    return this.#servers.addStarted(name, entry);
  }

  /** Stops a server and removes it from the host. */
  remove(name: string): Promise<void> {
    return this.#servers.remove(name);
  }

  /** Closes the connections of a server and opens them again at once, whatever its state. */
  restart(name: string): Promise<void> {
    return this.#servers.restart(name);
  }

  /**
   * Fetches the lists of a server again, for servers that do not announce changes. Without a name, refreshes all
   * servers that are ready, and then rejects with the first failure, if there was one.
   */
  async refresh(server?: string): Promise<void> {
    if (server !== undefined) await this.ready(server);
    const servers = server === undefined ? this.#servers.all() : [this.#servers.get(server)];
    // A failure of one server must not prevent the others from being refreshed.
    const outcomes = await Promise.allSettled(servers.map((one) => one.refresh()));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw McpError.from(failed.reason);
  }

  /** The supervision tree as plain data. `printTree` renders it as text. */
  tree(): SupervisorTree {
    return this.#servers.tree();
  }

  /**
   * Subscribes to the events of servers, of the catalogue, of supervision, or to `any` of them. Returns a function that
   * unsubscribes.
   */
  on<E extends keyof HostEvents>(event: E, listener: (event: HostEvents[E]) => void): () => void {
    return this.#listeners.add(event, listener);
  }

  /**
   * Creates a server that offers everything the host's servers offer, for any transport, any number of clients and
   * every revision. Forwards calls, progress, cancellation, changes, and questions of servers (elicitation, sampling,
   * roots). The application can add its own tools to the created server.
   */
  asServer(options: GatewayOptions = {}): Server {
    this.#servers.enableForwarding();
    return gatewayServer(this.#servers, options);
  }

  /**
   * Stops all servers. Waits up to `drainMs` milliseconds for running calls. Default: 0, which ends running calls
   * immediately.
   */
  async close({ drainMs = 0 }: { drainMs?: number } = {}): Promise<void> {
    await this.#servers.close(drainMs);
  }

  /** Same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The error for a tool that a lock excludes from the catalogue. Undefined for other tools. */
  #driftError(outer: string): McpError | undefined {
    for (const { name, config } of this.#servers.all()) {
      const prefix = config.prefix === false ? "" : config.prefix;
      const isIt = (tool: string) => outer.startsWith(prefix) && outer.endsWith(tool);
      const drifted = config.lock?.drift.find(({ kind, name: tool }) => kind === "tool" && isIt(tool));
      if (drifted === undefined) continue;
      const { kind, message, fix, data } = driftRefusal(drifted);
      return new McpError(kind, `a tool of the server "${name}" was ${message}`, { fix, data });
    }
    return undefined;
  }

  #request<T>(
    server: HostedServer,
    options: CallOptions,
    send: (requester: Requester, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    checkCallOptions(options);
    const sent = server.remote.withDeadline(options);
    return server.remote.run(this.#runOptions(server, options, mayResend(options, true)), (connection) =>
      send(connection.requester(server.config.application), sent),
    );
  }

  #runOptions({ remote }: HostedServer, { signal }: CallOptions, repeatable: boolean) {
    return { caller: APPLICATION, signal, repeatable, pick: () => remote.ownConnection(signal) };
  }

  #withOuterNames(server: HostedServer, method: string, result: object): object {
    const names = this.#catalogue.names(server.name);
    return names === undefined ? result : outerResult(names, method, result);
  }

  #index(): ToolSearch {
    const tools = this.tools();
    if (tools !== this.#indexed) {
      this.#search.update(tools, (tool) => this.#catalogue.find("tools", tool.name)?.server ?? "");
      this.#indexed = tools;
    }
    return this.#search;
  }
}

/**
 * Creates a host and starts it. Closes the host and rejects if a `required` server does not start.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/host.md | The host: many servers as one}
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const host = new Host(options);
  try {
    await host.start();
  } catch (error) {
    await host.close();
    throw McpError.from(error);
  }
  return host;
}

function mayResend({ resend = "idempotent" }: CallOptions, harmless: boolean): boolean {
  return resend === "always" || (resend === "idempotent" && harmless);
}

function unknown(kind: string, name: string): McpError {
  return new McpError("invalid_params", `no server of the host has a ${kind} ${printableLine(JSON.stringify(name))}`, {
    fix: "Use a name from the catalogue. `status()` shows which servers are not ready.",
  });
}
