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

/** What happened to a name of a registry. */
export interface RegistryEvent {
  /** `closed`: the server itself was closed, and its name is free again. */
  readonly type: "registered" | "replaced" | "unregistered" | "closed";
  readonly name: string;
}

/** How a registry behaves. */
export interface RegistryOptions {
  /** Servers that can be registered at once. Default 10,000. */
  maxServers?: number | undefined;
  /** Replaces parts of the runtime, for example in a test. */
  platform?: Partial<Pick<Platform, "warn">> | undefined;
}

/** A registered server, as a status page shows it. */
export interface RegisteredServer {
  readonly name: string;
  readonly server: Servable;
  /** Connections and sessions that reach it by its name. */
  readonly peers: number;
  /** Calls under way that reached it by its name. */
  readonly running: number;
}

/**
 * A name as something to serve: give it to `serveStdio`, `serveHttp`, `fetchHandler` or `connect` in place of a server. Every
 * message goes to the server that has the name when it arrives.
 */
export interface Binding extends Disposable {
  /** Types only; never present at run time. */
  readonly types: { tools: unknown; prompts: unknown };
  readonly name: string;
  /** The endpoint that transports serve; the same object every time. */
  endpoint(): Endpoint;
  /** Serves another name from now on. Resolves when the calls that the present server has are over. */
  rebind(name: string): Promise<void>;
  /** Follows the name no longer: everything that comes is refused. */
  unbind(): void;
}

/** A name is a part of URLs and host names, and a prefix of tools. */
const NAME = /^[A-Za-z](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?$/;
const MAX_SERVERS = 10_000;
/** Each of them is a client while it is asked. */
const ASKED_AT_ONCE = 32;

/** Who wants to know that the server behind an endpoint was closed; an endpoint is asked once, however often it is registered. */
const closing = new WeakMap<Endpoint, Set<() => void>>();

/**
 * Servers of one process by name. Transports are bound to names: a server can be replaced while clients are connected, and a
 * transport can be added or taken away while the server runs. The registry closes no server.
 */
export class ServerRegistry {
  readonly #platform: Pick<Platform, "warn">;
  readonly #maxServers: number;
  readonly #servers = new Map<string, Servable>();
  /** The names in lower case. */
  readonly #taken = new Set<string>();
  readonly #bound = new Map<string, Set<BoundEndpoint>>();
  readonly #listeners = new Set<(event: RegistryEvent) => void>();
  /** Ends the wait for the end of each server. */
  readonly #forget = new Map<string, () => void>();

  constructor(options: RegistryOptions = {}) {
    checkOptions("ServerRegistry", options, "maxServers platform");
    const { maxServers = MAX_SERVERS, platform } = options;
    checkNumber("maxServers", maxServers, { least: 1 });
    this.#maxServers = maxServers;
    this.#platform = { warn: (text) => (platform?.warn ?? runtimePlatform.warn)(text) };
  }

  /** The number of registered servers. */
  get size(): number {
    return this.#servers.size;
  }

  /**
   * Gives a server a name. Throws if the name is taken. The name is free again after `unregister`, and when the server is
   * closed.
   */
  register(name: string, server: Servable): void {
    if (!NAME.test(name)) throw invalidName(name);
    // Hosts are the same in either case.
    if (this.#taken.has(name.toLowerCase())) {
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
    this.#tell("registered", name);
  }

  /**
   * Gives the name to another server. Clients stay connected: they hear that lists have changed, their next calls reach the
   * new server, and calls under way end at the old one. Resolves when these are over; then the old one can be closed.
   */
  async replace(name: string, server: Servable): Promise<void> {
    this.#known(name);
    const moved = this.#set(name, server);
    this.#tell("replaced", name);
    await moved;
  }

  /** Takes the name away. Returns false if nobody has it. Clients stay connected, and their calls are refused. */
  unregister(name: string): boolean {
    return this.#remove(name, "unregistered");
  }

  /** The server with this name. */
  find(name: string): Servable | undefined {
    return this.#servers.get(name);
  }

  /** All servers, in the order of their registration. */
  list(): RegisteredServer[] {
    return [...this.#servers].map(([name, server]) => {
      const bound = [...(this.#bound.get(name) ?? [])];
      const sum = (count: (one: BoundEndpoint) => number) => bound.reduce((all, one) => all + count(one), 0);
      return { name, server, peers: sum(({ peers }) => peers), running: sum(({ running }) => running) };
    });
  }

  /**
   * What each server offers, asked now and 32 side by side. A server that fails or takes longer than `timeoutMs` (default
   * 5,000) has an `error` instead of lists, and delays nobody.
   */
  async offers(options: { timeoutMs?: number | undefined } = {}): Promise<ServerOffers[]> {
    checkOptions("offers", options, "timeoutMs");
    const work = ([name, server]: [string, Servable]) => offersOf(name, server, options.timeoutMs);
    const outcomes = await settleMany([...this.#servers], ASKED_AT_ONCE, work);
    return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  }

  /** The names of the servers that offer a tool, a prompt or a resource; a resource also by a template that it matches. */
  async offering(query: OfferQuery): Promise<string[]> {
    checkOptions("offering", query, "tool prompt resource");
    const offers = await this.offers();
    return offers.filter((one) => servesQuery(one, query)).map(({ name }) => name);
  }

  /** A name as something to serve. Throws for a name that nobody has. */
  bind(name: string): Binding {
    const bound = new BoundEndpoint(name, this.#known(name));
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
    // `types` exists for the compiler alone.
    return binding as Binding;
  }

  /**
   * One HTTP handler for all servers, now and later: `registry.handler(nodeHandler)` or `registry.handler(fetchHandler)`. By
   * default the server `x` is at `/mcp/x`. Each has sessions, limits and checks of its own.
   */
  handler<H extends HttpHandler>(
    make: (servable: Servable, options?: HttpServerOptions) => H,
    options: RegistryHttpOptions = {},
  ): H {
    return new RegistryHttp(this, (text) => this.#platform.warn(text), make, options).handler;
  }

  /**
   * One server that offers everything of all servers, now and later, under their names: the tool `read` of `files` is
   * `files_read`. For pipes, which carry one server, and for clients that know nothing of names.
   *
   * It has the lists, questions, progress and subscriptions of `server.mount`, and can be closed alone. What is no `Server`
   * of this package cannot be part of it, and a warning says so.
   */
  asServer(info: ServerInfo, options?: ServerOptions): Server {
    return jointServer(this, (text) => this.#platform.warn(text), new Server(info, options));
  }

  /** Calls `listener` after each change. Returns a function that ends it. */
  on(listener: (event: RegistryEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #known(name: string): Servable {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    const near = nearestName(name, [...this.#servers.keys()]);
    const meant = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new McpError("invalid_definition", `no server is registered as "${String(name).slice(0, 100)}"${meant}`, {
      fix: "Call `register` first.",
    });
  }

  async #rebind(bound: BoundEndpoint, name: string): Promise<void> {
    const server = this.#known(name);
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
    this.#forget.get(name)?.();
    this.#servers.set(name, server);
    this.#taken.add(name.toLowerCase());
    this.#forget.set(
      name,
      whenClosed(endpoint, () => this.#remove(name, "closed")),
    );
    return this.#switch(name, server);
  }

  #remove(name: string, type: "unregistered" | "closed"): boolean {
    if (!this.#servers.delete(name)) return false;
    this.#forget.get(name)?.();
    this.#forget.delete(name);
    this.#taken.delete(name.toLowerCase());
    void this.#switch(name, undefined);
    this.#tell(type, name);
    return true;
  }

  #switch(name: string, server: Servable | undefined): Promise<unknown> {
    return Promise.all([...(this.#bound.get(name) ?? [])].map((bound) => bound.switchTo(name, server)));
  }

  #tell(type: RegistryEvent["type"], name: string): void {
    for (const listener of [...this.#listeners]) callHook(this.#platform, "on", () => listener({ type, name }));
  }
}

/** Calls `act` when the server behind an endpoint is closed. Returns a function that ends the wait. */
function whenClosed(endpoint: Endpoint, act: () => void): () => void {
  let acts = closing.get(endpoint);
  if (acts === undefined) {
    const all = new Set<() => void>();
    acts = all;
    closing.set(endpoint, all);
    endpoint.onClosed?.(() => {
      for (const one of [...all]) one();
    });
  }
  acts.add(act);
  return () => void acts.delete(act);
}

function invalidName(name: string): McpError {
  return new McpError("invalid_definition", `"${String(name).slice(0, 100)}" is no name for a server`, {
    fix: "Use a letter, then letters, digits and hyphens, at most 32 characters; no hyphen at the end.",
  });
}

/** What one server offers. */
export interface ServerOffers {
  readonly name: string;
  readonly tools: readonly string[];
  readonly prompts: readonly string[];
  /** URIs. */
  readonly resources: readonly string[];
  /** URI templates. */
  readonly templates: readonly string[];
  /** Why the lists are empty, if the server could not be asked. */
  readonly error?: McpError;
}

/** What to look for: one or more of these, by name or URI. */
export interface OfferQuery {
  tool?: string | undefined;
  prompt?: string | undefined;
  resource?: string | undefined;
}

const TIMEOUT_MS = 5_000;
const NOTHING = { tools: [], prompts: [], resources: [], templates: [] };

/** Asks a server as a client in the same process would: whatever decides its lists decides them here too. */
async function offersOf(name: string, server: Servable, timeoutMs = TIMEOUT_MS): Promise<ServerOffers> {
  try {
    // Only the endpoint is needed at run time.
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
    return { name, ...NOTHING, error: McpError.from(error) };
  }
}

/** Whether the offers contain everything that is looked for. */
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
    // Another implementation's template that this one cannot read.
    return false;
  }
}
