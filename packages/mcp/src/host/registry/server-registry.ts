import { platform as runtimePlatform } from "#platform";
import { settleMany } from "../../client/features/pages.js";
import { openClient } from "../../client/open-client.js";
import { nearestName } from "../../encoding/nearest-name.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { ServerInfo, ServerOptions } from "../../server/contract/options.js";
import { Server } from "../../server/server.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import { endpointOf, type Servable } from "../../transport/serve-handle.js";
import type { Endpoint } from "../../transport/transport.js";
import { compileMatcher } from "../../uri-template/match.js";
import { checkNumber } from "../connection/check-number.js";
import { BoundEndpoint } from "./bound-endpoint.js";
import { jointServer } from "./joint-server.js";
import { type HttpHandler, RegistryHttp, type RegistryHttpOptions } from "./registry-http.js";

/** A change of a name in a registry. */
export interface RegistryEvent {
  /** The change. `closed`: the server itself was closed, and its name is free again. */
  readonly type: "registered" | "replaced" | "unregistered" | "closed";
  /** The name that changed. */
  readonly name: string;
}

/** Options of a registry. */
export interface RegistryOptions {
  /** Maximum number of servers that are registered at the same time. Default: 10,000. */
  maxServers?: number | undefined;
  /** Replaces parts of the runtime, for example in a test. */
  platform?: Partial<Pick<Platform, "warn">> | undefined;
}

/** A registered server, for example for a status page. */
export interface RegisteredServer {
  /** The name of the server, as it was registered. */
  readonly name: string;
  /** The server that has the name now. */
  readonly server: Servable;
  /** Number of connections and sessions that reach the server by its name. */
  readonly peers: number;
  /** Number of running calls that reached the server by its name. */
  readonly running: number;
}

/**
 * A name that can be served: pass it to `serveStdio`, `serveHttp`, `fetchHandler` or `connect` in place of a server.
 * Each message goes to the server that has the name when the message arrives.
 */
export interface Binding extends Disposable {
  /** Types only; never present at run time. */
  readonly types: { tools: unknown; prompts: unknown };
  /** The name that is served now. `rebind` changes it. */
  readonly name: string;
  /** Returns the endpoint that transports serve. It is the same object every time. */
  endpoint(): Endpoint;
  /** Serves another name from now on. Resolves when the current server has finished its running calls. */
  rebind(name: string): Promise<void>;
  /** Stops following the name. The endpoint refuses all further messages. */
  unbind(): void;
}

/** The pattern of valid names. It is strict, because names appear in URLs, in host names and as prefixes of tools. */
const NAME = /^[A-Za-z](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?$/;
const MAX_SERVERS = 10_000;
/**
 * Maximum number of servers that `offers` asks at the same time. Each of them needs a client, so this also limits the
 * number of open clients.
 */
const MAX_CONCURRENT_QUERIES = 32;

/**
 * Callbacks to run when the server of an endpoint closes. The registry subscribes to each endpoint only once, however
 * often the endpoint is registered.
 */
const closeListeners = new WeakMap<Endpoint, Set<() => void>>();

/**
 * Servers of one process, by name. Transports are bound to names: a server can be replaced while clients are connected,
 * and transports can be added or removed while the server runs. The registry never closes a server.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/registry.md | Servers by name}
 */
export class ServerRegistry {
  readonly #platform: Pick<Platform, "warn">;
  readonly #maxServers: number;
  readonly #servers = new Map<string, Servable>();
  /** The names in lower case, for comparison. */
  readonly #lowerCaseNames = new Set<string>();
  readonly #bound = new Map<string, Set<BoundEndpoint>>();
  readonly #listeners = new Set<(event: RegistryEvent) => void>();
  /** Functions by the name of a server. Each stops watching for the close of that server. */
  readonly #closeWatches = new Map<string, () => void>();

  constructor(options: RegistryOptions = {}) {
    checkOptions("ServerRegistry", options, "maxServers platform");
    const { maxServers = MAX_SERVERS, platform } = options;
    checkNumber("maxServers", maxServers, { min: 1 });
    this.#maxServers = maxServers;
    this.#platform = { warn: (text) => (platform?.warn ?? runtimePlatform.warn)(text) };
  }

  /** The number of registered servers. */
  get size(): number {
    return this.#servers.size;
  }

  /**
   * Registers a server under a name. Throws `invalid_definition` if the name is invalid or taken, `limit_exceeded`
   * above `maxServers`. The name is free again after `unregister`, or when the server closes.
   */
  register(name: string, server: Servable): void {
    if (!NAME.test(name)) throw invalidName(name);
    // Names that differ only in case count as the same, because host names are case-insensitive.
    if (this.#lowerCaseNames.has(name.toLowerCase())) {
      throw new McpError("invalid_definition", `the name "${name}" is taken`, {
        fix: "Use another name, or `replace`.",
      });
    }
    if (this.#servers.size >= this.#maxServers) {
      throw new McpError("limit_exceeded", `${this.#maxServers} servers are registered, the limit \`maxServers\``, {
        data: { limit: "maxServers", value: this.#maxServers },
        fix: "Unregister some, or raise `maxServers` of the registry.",
      });
    }
    this.#set(name, server);
    this.#notify("registered", name);
  }

  /**
   * Moves the name to another server. Clients stay connected and are notified that lists have changed. Their next calls
   * reach the new server; running calls finish at the old one. Resolves when the running calls have finished; then the
   * old server can be closed. Rejects with `invalid_definition` if the name is not registered.
   */
  async replace(name: string, server: Servable): Promise<void> {
    this.#require(name);
    const moved = this.#set(name, server);
    this.#notify("replaced", name);
    await moved;
  }

  /** Frees the name. Returns false if no server has the name. Clients stay connected, but their calls are refused. */
  unregister(name: string): boolean {
    return this.#remove(name, "unregistered");
  }

  /** Returns the server with this name. */
  find(name: string): Servable | undefined {
    return this.#servers.get(name);
  }

  /** Lists all servers, in the order of their registration. */
  list(): RegisteredServer[] {
    return [...this.#servers].map(([name, server]) => {
      const bound = [...(this.#bound.get(name) ?? [])];
      const sum = (count: (one: BoundEndpoint) => number) => bound.reduce((all, one) => all + count(one), 0);
      return { name, server, peers: sum(({ peers }) => peers), running: sum(({ running }) => running) };
    });
  }

  /**
   * Asks every server for its current offers, 32 at a time. A server that fails, or takes longer than `timeoutMs`
   * (default: 5,000), has an `error` instead of lists and does not delay the others.
   */
  async offers(options: { timeoutMs?: number | undefined } = {}): Promise<ServerOffers[]> {
    checkOptions("offers", options, "timeoutMs");
    const work = ([name, server]: [string, Servable]) => offersOf(name, server, options.timeoutMs);
    const outcomes = await settleMany([...this.#servers], MAX_CONCURRENT_QUERIES, work);
    return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  }

  /**
   * Returns the names of the servers that offer a tool, a prompt or a resource. A resource also matches by URI
   * template.
   */
  async offering(query: OfferQuery): Promise<string[]> {
    checkOptions("offering", query, "tool prompt resource");
    const offers = await this.offers();
    return offers.filter((one) => servesQuery(one, query)).map(({ name }) => name);
  }

  /** Binds a name, so that it can be served like a server. Throws `invalid_definition` if no server has the name. */
  bind(name: string): Binding {
    const bound = new BoundEndpoint(name, this.#require(name));
    this.#follow(bound);
    const unbind = () => {
      this.#unfollow(bound);
      void bound.switchTo(bound.name, undefined);
    };
    const binding: Omit<Binding, "types"> = {
      get name() {
        return bound.name;
      },
      endpoint: () => bound,
      rebind: (next) => this.#rebind(bound, next),
      unbind,
      [Symbol.dispose]: unbind,
    };
    // `types` exists only for the compiler.
    return binding as Binding;
  }

  /**
   * Creates one HTTP handler for all servers, including later ones: `registry.handler(nodeHandler)` or
   * `registry.handler(fetchHandler)`. By default the server `x` is at `/mcp/x`. Each server has its own sessions,
   * limits and checks.
   */
  handler<H extends HttpHandler>(
    make: (servable: Servable, options?: HttpServerOptions) => H,
    options: RegistryHttpOptions = {},
  ): H {
    return new RegistryHttp(this, (text) => this.#platform.warn(text), make, options).handler;
  }

  /**
   * Creates one server with the offers of all servers, including servers that are registered later. The name of a
   * server becomes a prefix: the tool `read` of `files` becomes `files_read`. Use it for transports such as stdio, over
   * which clients reach only one server, and for clients that do not know the names.
   *
   * Lists, elicitation, sampling, progress and subscriptions work as with `server.mount`. Closing the joint server leaves
   * the other servers open. A registered endpoint that is not a `Server` of this package is left out, with a warning.
   */
  asServer(info: ServerInfo, options?: ServerOptions): Server {
    return jointServer(this, (text) => this.#platform.warn(text), new Server(info, options));
  }

  /** Calls `listener` after each change. Returns a function that removes the listener. */
  on(listener: (event: RegistryEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #require(name: string): Servable {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    const near = nearestName(name, [...this.#servers.keys()]);
    const meant = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new McpError("invalid_definition", `no server is registered as "${String(name).slice(0, 100)}"${meant}`, {
      fix: "Call `register` first.",
    });
  }

  async #rebind(bound: BoundEndpoint, name: string): Promise<void> {
    const server = this.#require(name);
    this.#unfollow(bound);
    const moved = bound.switchTo(name, server);
    this.#follow(bound);
    await moved;
  }

  #follow(bound: BoundEndpoint): void {
    const all = this.#bound.get(bound.name);
    if (all === undefined) this.#bound.set(bound.name, new Set([bound]));
    else all.add(bound);
  }

  #unfollow(bound: BoundEndpoint): void {
    const all = this.#bound.get(bound.name);
    if (all?.delete(bound) === true && all.size === 0) this.#bound.delete(bound.name);
  }

  #set(name: string, server: Servable): Promise<unknown> {
    const endpoint = endpointOf(server);
    this.#closeWatches.get(name)?.();
    this.#servers.set(name, server);
    this.#lowerCaseNames.add(name.toLowerCase());
    this.#closeWatches.set(
      name,
      watchClose(endpoint, () => this.#remove(name, "closed")),
    );
    return this.#switch(name, server);
  }

  #remove(name: string, type: "unregistered" | "closed"): boolean {
    if (!this.#servers.delete(name)) return false;
    this.#closeWatches.get(name)?.();
    this.#closeWatches.delete(name);
    this.#lowerCaseNames.delete(name.toLowerCase());
    void this.#switch(name, undefined);
    this.#notify(type, name);
    return true;
  }

  #switch(name: string, server: Servable | undefined): Promise<unknown> {
    return Promise.all([...(this.#bound.get(name) ?? [])].map((bound) => bound.switchTo(name, server)));
  }

  #notify(type: RegistryEvent["type"], name: string): void {
    for (const listener of [...this.#listeners]) callHook(this.#platform, "on", () => listener({ type, name }));
  }
}

/** Calls `act` when the server of an endpoint closes. Returns a function that stops watching. */
function watchClose(endpoint: Endpoint, act: () => void): () => void {
  let acts = closeListeners.get(endpoint);
  if (acts === undefined) {
    const all = new Set<() => void>();
    acts = all;
    closeListeners.set(endpoint, all);
    endpoint.onClosed?.(() => {
      for (const one of [...all]) one();
    });
  }
  acts.add(act);
  return () => void acts.delete(act);
}

function invalidName(name: string): McpError {
  return new McpError("invalid_definition", `"${String(name).slice(0, 100)}" is not a valid server name`, {
    fix: "Use a letter, then letters, digits and hyphens, at most 32 characters; no hyphen at the end.",
  });
}

/** The offers of one server. */
export interface ServerOffers {
  /** The name of the server. */
  readonly name: string;
  /** The names of its tools. */
  readonly tools: readonly string[];
  /** The names of its prompts. */
  readonly prompts: readonly string[];
  /** The URIs of its resources. */
  readonly resources: readonly string[];
  /** The URI templates of its resources. */
  readonly templates: readonly string[];
  /** The reason why the lists are empty, if the server could not be asked. */
  readonly error?: McpError;
}

/**
 * A search for servers by their offers. A server matches if it offers everything that is set. An empty query matches no
 * server.
 */
export interface OfferQuery {
  /** The name of a tool. */
  tool?: string | undefined;
  /** The name of a prompt. */
  prompt?: string | undefined;
  /** The URI of a resource. */
  resource?: string | undefined;
}

const TIMEOUT_MS = 5_000;
const NO_OFFERS = { tools: [], prompts: [], resources: [], templates: [] };

/** Asks a server through a client in the same process, so that the server's own rules decide what is listed. */
async function offersOf(name: string, server: Servable, timeoutMs = TIMEOUT_MS): Promise<ServerOffers> {
  try {
    // Safe: only the endpoint is used at run time.
    const target = { endpoint: () => endpointOf(server) } as Parameters<typeof openClient>[0];
    const timeouts = { connectMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs };
    const client = await openClient(target, { timeouts });
    try {
      const { tools, prompts, resources } = client.serverCapabilities;
      const lists = await Promise.all([
        tools === undefined ? [] : client.allTools(),
        prompts === undefined ? [] : client.allPrompts(),
        resources === undefined ? [] : client.allResources(),
        resources === undefined ? [] : client.allResourceTemplates(),
      ]);
      return {
        name,
        tools: lists[0].map((tool) => tool.name),
        prompts: lists[1].map((prompt) => prompt.name),
        resources: lists[2].map(({ uri }) => uri),
        templates: lists[3].map(({ uriTemplate }) => uriTemplate),
      };
    } finally {
      await client.close();
    }
  } catch (error) {
    return { name, ...NO_OFFERS, error: McpError.from(error) };
  }
}

/** True if the offers contain everything in the query. */
function servesQuery(offers: ServerOffers, { tool, prompt, resource }: OfferQuery): boolean {
  if (tool !== undefined && !offers.tools.includes(tool)) return false;
  if (prompt !== undefined && !offers.prompts.includes(prompt)) return false;
  if (resource === undefined) return tool !== undefined || prompt !== undefined;
  return offers.resources.includes(resource) || offers.templates.some((template) => matches(template, resource));
}

function matches(template: string, uri: string): boolean {
  try {
    return compileMatcher(template)(uri) !== undefined;
  } catch {
    // The template comes from another implementation and cannot be parsed here.
    return false;
  }
}
