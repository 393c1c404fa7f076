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
import { DISABLED, type HostEvents, HostListeners, type ServerStatus } from "./host-events.js";
import type { HostedServer } from "./hosted-server.js";
import { HostedServers } from "./hosted-servers.js";
import { checkHostOptions, type HostEntry, type HostOptions } from "./options.js";
import { APPLICATION } from "./server-entry.js";
import type { SupervisorTree } from "./supervision/supervisor-tree.js";

/**
 * Many servers, supervised, as one: their tools, prompts and resources under names that do not collide, whatever the servers do.
 *
 * A server that is broken or slow affects nobody else; it is started again by the rules of supervision, and `status` says what
 * is wrong with it. Usable with `await using`.
 */
export class Host implements AsyncDisposable {
  readonly #platform: Platform;
  readonly #listeners: HostListeners;
  readonly #catalogue: HostCatalogue;
  readonly #servers: HostedServers;
  readonly #search = new ToolSearch();
  #indexed: readonly Tool[] | undefined;

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
   * Starts all servers at once. Resolves when each is ready, has failed its first attempt or is known from an earlier run, or after
   * `startWaitMs`; those that are not ready then go on starting. Rejects if a server with `required` does not start.
   */
  start(): Promise<void> {
    return this.#servers.start();
  }

  /** Resolves when a server is ready for calls, and rejects when it is not within `waitMs`, with the reason if it is known. */
  async ready(server: string): Promise<void> {
    await this.#servers.get(server).remote.standing();
  }

  /** All tools, under the names to call them by; the same list until something changes. */
  tools(): readonly Tool[] {
    return this.#catalogue.all("tools");
  }

  prompts(): readonly Prompt[] {
    return this.#catalogue.all("prompts");
  }

  resources(): readonly Resource[] {
    return this.#catalogue.all("resources");
  }

  resourceTemplates(): readonly ResourceTemplate[] {
    return this.#catalogue.all("resourceTemplates");
  }

  /** The tools that fit the words best, found without a model. */
  search(query: string, options?: SearchOptions): ToolHit[] {
    return this.#index().search(query, options);
  }

  /** The servers with their number of tools and their subjects, to choose words for a search by. */
  categories(): ToolCategory[] {
    return this.#index().categories();
  }

  /** Calls a tool by its name in `tools()`, and gives its full result. */
  async callTool(name: string, args?: object, options: CallOptions = {}): Promise<CallToolResult> {
    checkCallOptions(options);
    const found = this.#catalogue.find("tools", name);
    if (found === undefined) throw this.#refused(name) ?? unknown("tool", name);
    const server = this.#servers.get(found.server);
    const inner = server.tools.innerCall(found.inner, args as Record<string, unknown> | undefined);
    const { idempotent, readOnly } = this.hints(name);
    const repeatable = mayResend(options, idempotent || readOnly);
    const sent = server.remote.timed(options);
    const result = await server.remote.run(this.#run(server, options, repeatable), (connection) =>
      connection.callTool(inner.name, inner.args, server.parts.application, sent, { idempotent: false }),
    );
    return this.#named(server, "tools/call", result) as CallToolResult;
  }

  /** Calls a tool and gives its value: structured content, or text. A failed tool throws `McpError` of kind `tool_error`. */
  async call(name: string, args?: object, options: CallOptions = {}): Promise<unknown> {
    const result = await this.callTool(name, args, options);
    return toolValue(name, result, () => {});
  }

  /** A prompt by its name in `prompts()`. */
  async getPrompt(name: string, args?: Record<string, string>, options: CallOptions = {}): Promise<GetPromptResult> {
    const found = this.#catalogue.find("prompts", name);
    if (found === undefined) throw unknown("prompt", name);
    const server = this.#servers.get(found.server);
    const result = await this.#request(server, options, (requester, sent) =>
      getPrompt(requester, found.inner, args, sent),
    );
    return this.#named(server, "prompts/get", result) as GetPromptResult;
  }

  /** A resource by its address in `resources()`, or by one that a result of a server gave. */
  async readResource(uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    const found = this.#catalogue.ownerOf(uri);
    if (found === undefined) throw unknown("resource", uri);
    const server = this.#servers.get(found.server);
    const result = await this.#request(server, options, (requester, sent) =>
      readResource(requester, found.inner, sent),
    );
    return this.#named(server, "resources/read", result) as ReadResourceResult;
  }

  /**
   * What a tool says of itself, as far as it may decide anything: the annotations of a server that is not trusted are left out,
   * and what is left out counts as the worst case.
   */
  hints(tool: string): { readOnly: boolean; destructive: boolean; idempotent: boolean; openWorld: boolean } {
    const found = this.#catalogue.find("tools", tool);
    if (found === undefined) throw unknown("tool", tool);
    const { trusted } = this.#servers.get(found.server).parts;
    const annotations = trusted ? (found.item.annotations ?? {}) : {};
    const readOnly = annotations.readOnlyHint === true;
    return {
      readOnly,
      destructive: !readOnly && annotations.destructiveHint !== false,
      idempotent: annotations.idempotentHint === true,
      openWorld: annotations.openWorldHint !== false,
    };
  }

  /** What is known of each server, by name. */
  status(): Record<string, ServerStatus> {
    const disabled = [...this.#servers.disabled].map((name) => [name, DISABLED] as const);
    return Object.fromEntries([...this.#servers.all().map(({ name, status }) => [name, status] as const), ...disabled]);
  }

  /** The client of a server's connection, for all that the host has no method for; undefined while none stands. */
  client(server: string): Client | undefined {
    return this.#servers.get(server).remote.leastBusy?.client;
  }

  /** Adds a server and starts it. Resolves when it is ready; rejects with why its first attempt failed, and goes on trying. */
  add(name: string, entry: HostEntry): Promise<void> {
    return this.#servers.addStarted(name, entry);
  }

  /** Ends a server and forgets it. */
  remove(name: string): Promise<void> {
    return this.#servers.remove(name);
  }

  /** Ends a server's connections and opens them again at once, whatever its state. */
  restart(name: string): Promise<void> {
    return this.#servers.restart(name);
  }

  /**
   * Lists again what a server offers, for servers that do not tell of changes. If none is named, all that are ready; rejects
   * with the first failure when it is done with the others.
   */
  async refresh(server?: string): Promise<void> {
    if (server !== undefined) await this.ready(server);
    const servers = server === undefined ? this.#servers.all() : [this.#servers.get(server)];
    // One that fails keeps nobody from hearing of the others.
    const outcomes = await Promise.allSettled(servers.map((one) => one.refresh()));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw McpError.from(failed.reason);
  }

  /** The supervision of the servers as plain data; `printTree` makes text of it. */
  tree(): SupervisorTree {
    return this.#servers.tree();
  }

  /** Listens to events: of servers, of the catalogue, of supervision, or `any`. */
  on<E extends keyof HostEvents>(event: E, listener: (event: HostEvents[E]) => void): () => void {
    return this.#listeners.add(event, listener);
  }

  /**
   * A server that offers all that the host's servers offer, for any transport and any number of clients, in every revision:
   * calls, progress, cancellation, questions and changes pass through. It may be given tools of its own as well.
   */
  asServer(options: GatewayOptions = {}): Server {
    this.#servers.forwards();
    return gatewayServer(this.#servers, options);
  }

  /** Ends all servers. Calls in flight may end within `drainMs`, default 0. */
  async close({ drainMs = 0 }: { drainMs?: number } = {}): Promise<void> {
    await this.#servers.close(drainMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Why a tool is not in the catalogue, if a lock keeps it out. */
  #refused(outer: string): McpError | undefined {
    for (const { name, parts } of this.#servers.all()) {
      const prefix = parts.prefix === false ? "" : parts.prefix;
      const isIt = (tool: string) => outer.startsWith(prefix) && outer.endsWith(tool);
      const drifted = parts.lock?.drift.find(({ kind, name: tool }) => kind === "tool" && isIt(tool));
      if (drifted === undefined) continue;
      const { kind, message, fix, data } = driftRefusal(drifted);
      return new McpError(kind, `of the server "${name}", a tool was ${message}`, { fix, data });
    }
    return undefined;
  }

  #request<T>(
    server: HostedServer,
    options: CallOptions,
    send: (requester: Requester, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    checkCallOptions(options);
    const sent = server.remote.timed(options);
    return server.remote.run(this.#run(server, options, mayResend(options, true)), (connection) =>
      send(connection.requester(server.parts.application), sent),
    );
  }

  #run({ remote }: HostedServer, { signal }: CallOptions, repeatable: boolean) {
    return { caller: APPLICATION, signal, repeatable, pick: () => remote.standing(signal) };
  }

  #named(server: HostedServer, method: string, result: object): object {
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

/** Makes a host and starts it. */
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
    fix: "Use a name that the catalogue lists; `status()` says which servers are missing.",
  });
}
