import type { Change } from "../client/changes/change-queue.js";
import type { Subscription } from "../client/changes/subscriptions.js";
import type { Client } from "../client/client.js";
import { settleWithin } from "../client/connection/wait-bounds.js";
import { thrownMessage } from "../encoding/thrown-message.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import { kindsOf, OFFER_CAPABILITIES, type OfferCapability } from "../protocol/features/offer-kinds.js";
import { shownRevision } from "../protocol/revisions.js";
import {
  announcedLists,
  fetchLists,
  joinedLists,
  NO_LISTS,
  type ServerLists,
  withoutLists,
} from "./catalogue/server-lists.js";
import { FilteredTools, ToolFilter, type ToolFilterOptions } from "./catalogue/tool-filter.js";
import { ConnectionHealth, type HealthOptions } from "./connection/health-check.js";
import type { RemoteConnection } from "./connection/remote-connection.js";
import { RemoteServer, type RemoteServerConfig } from "./connection/remote-server.js";
import type { HostedState, ServerProblem, ServerStatus } from "./host-events.js";

/** The resolved configuration of one server of a host. */
export interface HostedServerConfig extends RemoteServerConfig {
  readonly filter: ToolFilterOptions;
  readonly health: HealthOptions | false;
  /** True if the annotations of the server's tools are trusted. */
  readonly trusted: boolean;
  /** Number of connections that share the calls. */
  readonly size: number;
  /** Milliseconds for connecting and for the first lists. */
  readonly startMs: number;
  /** True if the host must not start without this server. */
  readonly required: boolean;
  /** Text before the names of the server's tools and prompts; `false` for none. */
  readonly prefix: string | false;
  /** Digest that identifies the server between runs. */
  readonly key: string;
}

/** Callbacks of a hosted server. */
export interface HostedServerEvents {
  /** Called when the server has returned lists. `kinds` are the kinds whose lists differ from before. */
  listed(server: HostedServer, kinds: readonly OfferCapability[]): void;
  /** Called when the status of the server has changed. */
  changed(server: HostedServer): void;
  warn(message: string): void;
}

/** One server of a host through all of its connections: its lists, its status and its health. */
export class HostedServer {
  readonly remote: RemoteServer;
  readonly config: HostedServerConfig;
  /** The last lists of the server, before the filter. */
  lists: ServerLists = NO_LISTS;
  /** The tools that clients see. */
  tools: FilteredTools = new FilteredTools([], [], [], new Map());
  /** True while the lists are those of an earlier run. */
  stale = false;
  readonly #platform: Platform;
  readonly #events: HostedServerEvents;
  readonly #filter: ToolFilter;
  readonly #health: ConnectionHealth;
  readonly #watches = new RemoteWatches();
  #state: HostedState = "starting";
  #restarts = 0;
  #lastError: ServerProblem | undefined;
  #lastFailure: McpError | undefined;
  /**
   * The connection that fetches the lists and receives changes. `listed` resolves with true if the first lists over
   * this connection arrived, otherwise with false. `listed` never rejects.
   */
  #listening: { readonly connection: RemoteConnection; readonly listed: Promise<boolean> } | undefined;
  /** Number of fetches so far. `#known` has the number of the fetch that returned the current list of each kind. */
  #asked = 0;
  readonly #known = { tools: 0, prompts: 0, resources: 0 };
  /** Patterns already warned about. */
  readonly #unused = new Set<string>();
  #closed = false;

  constructor(config: HostedServerConfig, events: HostedServerEvents) {
    this.remote = new RemoteServer(config);
    this.config = config;
    this.#platform = config.platform;
    this.#events = events;
    this.#filter = new ToolFilter(config.filter);
    this.#health = new ConnectionHealth(config.name, config.platform, config.health);
    this.remote.onShared = (connection) => this.#followOther(connection);
  }

  get name(): string {
    return this.config.name;
  }

  get state(): HostedState {
    return this.#state;
  }

  /** Opens a connection, and resolves when the lists of the server are known. */
  async start(signal: AbortSignal): Promise<RemoteConnection> {
    const connection = await this.remote.open(signal);
    try {
      const { startMs, options } = this.config;
      // Without a login, the supervisor limits the start as a whole. With a login there is no such limit, because users
      // take their time, so the lists get a deadline of their own.
      const late = { on: options.auth === undefined ? undefined : startMs, error: () => notListed(this.name, startMs) };
      await settleWithin(this.#platform, [late], () => this.#waitForLists(connection, signal));
      signal.throwIfAborted();
      if (connection.client.state !== "ready")
        throw new McpError("connection_closed", "the connection closed during the start");
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.remote.adopt(connection);
    // If a health check fails, the connection closes and the supervisor opens another one.
    this.#health.watch(connection, (reason) => this.#recordError(reason));
    return connection;
  }

  /** Handles a step of the supervisor that concerns one of the server's connections. */
  setState(state: HostedState, crashed: boolean, error: unknown): void {
    if (error !== undefined) this.#recordError(error);
    if (crashed) this.#restarts++;
    if (this.remote.connections.size > 0 && state !== "ready") return;
    if (this.#state === state && !crashed) return;
    const firstFailed = this.#state === "starting" && state === "restarting";
    this.#state = state;
    if (state === "failed" || firstFailed) this.remote.markUnavailable(this.#lastFailure ?? McpError.from(error));
    else if (state === "restarting" && this.#listedOnce) this.remote.letCallsWait();
    this.#events.changed(this);
  }

  /** Sets the lists of an earlier run, unless the server has already listed. */
  restoreLists(lists: ServerLists): void {
    if (this.#listedOnce) return;
    this.stale = true;
    this.#publish(lists);
  }

  /** Fetches the lists again, for servers that do not announce changes. */
  async refresh(kinds: readonly OfferCapability[] = OFFER_CAPABILITIES, signal?: AbortSignal): Promise<void> {
    const client = this.remote.leastBusy?.client;
    if (client !== undefined) await this.#fetch(client, kinds, signal);
  }

  /** Calls `updated` for each update of a resource until the returned function is called. */
  watch(uri: string, updated: () => void): () => void {
    return this.#watches.add(uri, updated);
  }

  get status(): ServerStatus {
    const [connection] = this.remote.connections;
    const { tools, lists, remote } = this;
    const { serverInfo: info, protocolVersion } = connection?.client ?? {};
    return {
      state: this.#state,
      protocolVersion,
      era: protocolVersion === undefined ? undefined : shownRevision(protocolVersion).era,
      serverInfo: info && { ...info },
      connections: remote.connections.size,
      latencyMs: connection && this.#health.latencyMs(connection),
      restarts: this.#restarts,
      lastError: this.#lastError,
      circuit: remote.circuit?.state ?? "closed",
      calls: remote.gate.counts,
      tools: tools.tools.length,
      prompts: lists.prompts.length,
      resources: lists.resources.length,
      stale: this.stale,
      drift: this.config.lock?.drift ?? [],
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#health.stop();
    this.#watches.close();
    await this.remote.close();
  }

  get #listedOnce(): boolean {
    return this.lists !== NO_LISTS && !this.stale;
  }

  /**
   * Waits until one of the connections has fetched the lists. Uses this connection if no other connection is fetching
   * them.
   */
  async #waitForLists(connection: RemoteConnection, signal: AbortSignal): Promise<void> {
    while (this.#listening !== undefined) if (await this.#listening.listed) return;
    await this.#listen(connection, signal);
  }

  #listen(connection: RemoteConnection, signal?: AbortSignal): Promise<void> {
    const done = this.#listAndFollow(connection, signal);
    const forget = () => {
      if (this.#listening === listening) this.#listening = undefined;
      return false;
    };
    const listening = { connection, listed: done.then(() => true, forget) };
    this.#listening = listening;
    void connection.ended.then(() => {
      forget();
      this.#listenElsewhere(connection);
    });
    return done;
  }

  /**
   * Listens on another connection when one has ended. Otherwise no changes would arrive until the supervisor has
   * replaced the ended connection.
   */
  #listenElsewhere(ended: RemoteConnection): void {
    const other = [...this.remote.connections].find((one) => one !== ended && one.client.state === "ready");
    if (other === undefined || this.#listening !== undefined || this.#closed) return;
    this.#listen(other).catch((error: unknown) => this.#warnMissedChanges(other.client, error));
  }

  async #listAndFollow({ client }: RemoteConnection, signal: AbortSignal | undefined): Promise<void> {
    // Subscribes before fetching, so that a change between the two is announced.
    await this.#subscribe(client, signal);
    await this.#fetch(client, OFFER_CAPABILITIES, signal, true);
    if (client.serverCapabilities.resources?.subscribe === true) this.#watches.follow(client);
  }

  /**
   * Subscribes on a further connection. Some servers announce a change only to the session whose call caused it, which
   * may be another session than the one that fetches the lists.
   */
  #followOther({ client }: RemoteConnection): void {
    this.#subscribe(client, undefined).catch((error: unknown) => this.#warnMissedChanges(client, error));
  }

  /** Subscribes to changes of the lists. A server that declares changes but rejects the subscription is still used. */
  async #subscribe(client: Client, signal: AbortSignal | undefined): Promise<void> {
    const target = announcedLists(client.serverCapabilities);
    if (target === undefined) return;
    try {
      void this.#follow(client, await client.subscribe(target, { signal }));
    } catch (error) {
      if (!McpError.from(error).remote) throw error;
      this.#warnMissedChanges(client, error);
    }
  }

  async #follow(client: Client, changes: AsyncIterable<Change>): Promise<void> {
    try {
      for await (const { kind } of changes) {
        const lister = this.#listening?.connection.client ?? client;
        // Warn about a failed fetch and continue with the next change.
        if (kind !== "resource")
          await this.#fetch(lister, [kind]).catch((error) => this.#warnMissedChanges(client, error));
      }
    } catch (error) {
      this.#warnMissedChanges(client, error);
    }
  }

  #warnMissedChanges(client: Client, error: unknown): void {
    if (client.state === "ready")
      this.#events.warn(`changes of the server "${this.name}" may be lost: ${thrownMessage(error)}`);
  }

  /** Fetches lists and publishes them, except for lists that a later fetch has already replaced. */
  async #fetch(client: Client, kinds: readonly OfferCapability[], signal?: AbortSignal, first = false): Promise<void> {
    const asked = ++this.#asked;
    const lists = await fetchLists(client, kinds, { signal });
    if (first) this.stale = false;
    const outdated = kinds.filter((kind) => this.#known[kind] > asked);
    for (const kind of kinds) this.#known[kind] = Math.max(this.#known[kind], asked);
    this.#publish(withoutLists(lists, outdated.flatMap(kindsOf)));
  }

  #publish(lists: Partial<ServerLists>): void {
    const before = this.lists;
    this.lists = joinedLists(before, lists);
    if (lists.tools !== undefined) {
      this.tools = this.#filter.apply(this.name, lists.tools);
      for (const { message } of this.tools.problems) this.#events.warn(`the server "${this.name}": ${message}`);
      this.#warnOfUnused(this.tools.unused);
    }
    // Announce only real changes: after a restart most servers return the same lists as before.
    const isOther = (list: keyof ServerLists) => !isSame(before[list], this.lists[list]);
    const kinds = OFFER_CAPABILITIES.filter((kind) => isOther("about") || kindsOf(kind).some(isOther));
    this.#events.listed(this, kinds);
  }

  /** Warns once for each pattern that matches no tool, because most such patterns are misspelt. */
  #warnOfUnused(patterns: readonly string[]): void {
    for (const pattern of patterns.filter((one) => !this.#unused.has(one))) {
      this.#unused.add(pattern);
      this.#events.warn(`the pattern "${pattern}" in \`tools\` matches no tool of the server "${this.name}"`);
    }
  }

  #recordError(error: unknown): void {
    const failure = McpError.from(error);
    const { kind, message, fix } = failure;
    this.#lastFailure = failure;
    this.#lastError = { kind, message, fix, at: this.#platform.now() };
  }
}

/**
 * Compares JSON values of the same server as text, because the server is expected to send the members in the same
 * order.
 */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function notListed(name: string, ms: number): McpError {
  return new McpError("timeout", `the server "${name}" did not return its lists within ${ms} ms`, {
    data: { deadline: "startMs", ms },
    fix: "Raise `startMs` of the server, or check why its lists are slow.",
  });
}

interface WatchedResource {
  readonly listeners: Set<() => void>;
  subscription: Promise<Subscription | undefined> | undefined;
}

/** The watched resources of one server. When a connection is replaced, the watches continue over the new one. */
export class RemoteWatches {
  readonly #watched = new Map<string, WatchedResource>();
  #client: Client | undefined;

  /** Calls `updated` for each update of a resource until the returned function is called. */
  add(uri: string, updated: () => void): () => void {
    const watched = this.#watched.get(uri) ?? { listeners: new Set(), subscription: undefined };
    watched.listeners.add(updated);
    this.#watched.set(uri, watched);
    if (watched.subscription === undefined && this.#client !== undefined) this.#subscribe(uri, watched, this.#client);
    return () => {
      // A second call must not remove a later watch of the same resource.
      if (!watched.listeners.delete(updated) || watched.listeners.size > 0) return;
      this.#watched.delete(uri);
      void watched.subscription?.then((subscription) => subscription?.close()).catch(() => {});
    };
  }

  /**
   * Subscribes over a new connection. Reports an update of every resource that was subscribed to before, because the
   * resource may have changed while no connection was open.
   */
  follow(client: Client): void {
    this.#client = client;
    for (const [uri, watched] of this.#watched) {
      const again = watched.subscription !== undefined;
      this.#subscribe(uri, watched, client);
      if (again) for (const updated of watched.listeners) updated();
    }
  }

  close(): void {
    this.#client = undefined;
    this.#watched.clear();
  }

  #subscribe(uri: string, watched: WatchedResource, client: Client): void {
    watched.subscription = client.subscribe({ resources: uri }).then(
      (subscription) => {
        void this.#readUpdates(watched, subscription);
        return subscription;
      },
      // The connection ended, or the server rejected the subscription. The watch subscribes again over the next
      // connection.
      () => undefined,
    );
  }

  async #readUpdates(watched: WatchedResource, subscription: Subscription): Promise<void> {
    try {
      for await (const _change of subscription) for (const updated of watched.listeners) updated();
    } catch {
      // The connection ended. `follow` continues over the next connection.
    }
  }
}
