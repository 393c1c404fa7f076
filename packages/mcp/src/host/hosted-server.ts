import type { Change } from "../client/changes/change-queue.js";
import type { Subscription } from "../client/changes/subscriptions.js";
import type { Client } from "../client/client.js";
import { bounded } from "../client/connection/bounded.js";
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
import { RemoteServer, type RemoteServerParts } from "./connection/remote-server.js";
import type { HostedState, ServerProblem, ServerStatus } from "./host-events.js";

/** What a hosted server is made of beside its connections. */
export interface HostedServerParts extends RemoteServerParts {
  readonly filter: ToolFilterOptions;
  readonly health: HealthOptions | false;
  /** Whether annotations of the server's tools decide anything. */
  readonly trusted: boolean;
  /** Connections that share its calls. */
  readonly size: number;
  readonly startMs: number;
  readonly required: boolean;
  readonly prefix: string | false;
  /** Tells whether it is the same server as in an earlier run. */
  readonly key: string;
}

/** What a hosted server tells its host. */
export interface HostedServerEvents {
  /** The server has listed something; `kinds` are those in which it differs from before. */
  listed(server: HostedServer, kinds: readonly OfferCapability[]): void;
  /** What is known of its state has changed. */
  changed(server: HostedServer): void;
  warn(message: string): void;
}

/** One server of a host, from its first connection to its last: what it lists, and how it does. */
export class HostedServer {
  readonly remote: RemoteServer;
  readonly parts: HostedServerParts;
  /** What the server listed last, without the filter. */
  lists: ServerLists = NO_LISTS;
  /** Its tools as clients may see them. */
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
  /** The connection that lists and tells of changes, and whether it has listed; never rejects. */
  #listening: { readonly connection: RemoteConnection; readonly listed: Promise<boolean> } | undefined;
  /** How often lists were asked for, and which of these gave what is known of each kind. */
  #asked = 0;
  readonly #known = { tools: 0, prompts: 0, resources: 0 };
  /** Patterns that were told of. */
  readonly #unused = new Set<string>();
  #closed = false;

  constructor(parts: HostedServerParts, events: HostedServerEvents) {
    this.remote = new RemoteServer(parts);
    this.parts = parts;
    this.#platform = parts.platform;
    this.#events = events;
    this.#filter = new ToolFilter(parts.filter);
    this.#health = new ConnectionHealth(parts.name, parts.platform, parts.health);
    this.remote.onShared = (connection) => this.#followOther(connection);
  }

  get name(): string {
    return this.parts.name;
  }

  get state(): HostedState {
    return this.#state;
  }

  /** Opens a connection that can be used, once what the server offers is listed. */
  async start(signal: AbortSignal): Promise<RemoteConnection> {
    const connection = await this.remote.open(signal);
    try {
      const { startMs, options } = this.parts;
      // With a login the start as a whole has no deadline, because users take their time.
      const late = { on: options.auth === undefined ? undefined : startMs, error: () => notListed(this.name, startMs) };
      await bounded(this.#platform, [late], () => this.#listed(connection, signal));
      signal.throwIfAborted();
      if (connection.client.state !== "ready") throw new McpError("connection_closed", "the server ended at once");
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.remote.adopt(connection);
    // The supervisor sees the end of a silent one and opens another.
    this.#health.watch(connection, (reason) => this.#note(reason));
    return connection;
  }

  /** The supervisor moved one of its connections. */
  moved(state: HostedState, crashed: boolean, error: unknown): void {
    if (error !== undefined) this.#note(error);
    if (crashed) this.#restarts++;
    if (this.remote.connections.size > 0 && state !== "ready") return;
    if (this.#state === state && !crashed) return;
    const firstFailed = this.#state === "starting" && state === "restarting";
    this.#state = state;
    if (state === "failed" || firstFailed) this.remote.unavailable(this.#lastFailure ?? McpError.from(error));
    else if (state === "restarting" && this.#listedOnce) this.remote.awaited();
    this.#events.changed(this);
  }

  /** Takes what the server listed in an earlier run. */
  remember(lists: ServerLists): void {
    if (this.#listedOnce) return;
    this.stale = true;
    this.#publish(lists);
  }

  /** Fetches lists again, for servers that do not tell of changes. */
  async refresh(kinds: readonly OfferCapability[] = OFFER_CAPABILITIES, signal?: AbortSignal): Promise<void> {
    const client = this.remote.leastBusy?.client;
    if (client !== undefined) await this.#fetch(client, kinds, signal);
  }

  /** Tells of updates of a resource until the returned function is called. */
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
      drift: this.parts.lock?.drift ?? [],
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

  /** Waits until one of the connections has listed: this one, if no other does. */
  async #listed(connection: RemoteConnection, signal: AbortSignal): Promise<void> {
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

  /** Nobody else would tell of changes until the connection that ended is opened again. */
  #listenElsewhere(ended: RemoteConnection): void {
    const other = [...this.remote.connections].find((one) => one !== ended && one.client.state === "ready");
    if (other === undefined || this.#listening !== undefined || this.#closed) return;
    this.#listen(other).catch((error: unknown) => this.#missed(other.client, error));
  }

  async #listAndFollow({ client }: RemoteConnection, signal: AbortSignal | undefined): Promise<void> {
    // Before the lists are fetched, so that no change falls between the two.
    await this.#subscribe(client, signal);
    await this.#fetch(client, OFFER_CAPABILITIES, signal, true);
    if (client.serverCapabilities.resources?.subscribe === true) this.#watches.follow(client);
  }

  /** Servers may announce a change only to the session whose call caused it, which is not the one that lists. */
  #followOther({ client }: RemoteConnection): void {
    this.#subscribe(client, undefined).catch((error: unknown) => this.#missed(client, error));
  }

  /** A server that declares changes and refuses to tell of them is still a server. */
  async #subscribe(client: Client, signal: AbortSignal | undefined): Promise<void> {
    const target = announcedLists(client.serverCapabilities);
    if (target === undefined) return;
    try {
      void this.#follow(client, await client.subscribe(target, { signal }));
    } catch (error) {
      if (!McpError.from(error).remote) throw error;
      this.#missed(client, error);
    }
  }

  async #follow(client: Client, changes: AsyncIterable<Change, undefined>): Promise<void> {
    try {
      for await (const { kind } of changes) {
        const lister = this.#listening?.connection.client ?? client;
        // A list that fails is missed; the changes after it need not be.
        if (kind !== "resource") await this.#fetch(lister, [kind]).catch((error) => this.#missed(client, error));
      }
    } catch (error) {
      this.#missed(client, error);
    }
  }

  #missed(client: Client, error: unknown): void {
    if (client.state === "ready") this.#events.warn(`changes of "${this.name}" are missed: ${thrownMessage(error)}`);
  }

  /** Fetches lists and publishes them, except those that were asked for again meanwhile and are known. */
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
      for (const { message } of this.tools.problems) this.#events.warn(`of the server "${this.name}", ${message}`);
      this.#warnOfUnused(this.tools.unused);
    }
    // After a restart most servers list what they listed before, and nobody needs to fetch that again.
    const isOther = (list: keyof ServerLists) => !isSame(before[list], this.lists[list]);
    const kinds = OFFER_CAPABILITIES.filter((kind) => isOther("about") || kindsOf(kind).some(isOther));
    this.#events.listed(this, kinds);
  }

  /** Once for each pattern: most that match nothing are misspelt. */
  #warnOfUnused(patterns: readonly string[]): void {
    for (const pattern of patterns.filter((one) => !this.#unused.has(one))) {
      this.#unused.add(pattern);
      this.#events.warn(`the server "${this.name}" has no tool that "${pattern}" of \`tools\` matches`);
    }
  }

  #note(error: unknown): void {
    const failure = McpError.from(error);
    const { kind, message, fix } = failure;
    this.#lastFailure = failure;
    this.#lastError = { kind, message, fix, at: this.#platform.now() };
  }
}

/** Both come from JSON, and from the same server, whose members keep their order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function notListed(name: string, ms: number): McpError {
  return new McpError("timeout", `the server "${name}" did not list what it offers within ${ms} ms`, {
    data: { deadline: "startMs", ms },
    fix: "Raise `startMs` of the server, or look at what its lists wait for.",
  });
}

interface Watched {
  readonly listeners: Set<() => void>;
  subscription: Promise<Subscription | undefined> | undefined;
}

/** The resources of one server that somebody wants to hear of, over whichever connection stands. */
export class RemoteWatches {
  readonly #watched = new Map<string, Watched>();
  #client: Client | undefined;

  /** Calls `updated` with each update of a resource until the returned function is called. */
  add(uri: string, updated: () => void): () => void {
    const watched = this.#watched.get(uri) ?? { listeners: new Set(), subscription: undefined };
    watched.listeners.add(updated);
    this.#watched.set(uri, watched);
    if (watched.subscription === undefined && this.#client !== undefined) this.#subscribe(uri, watched, this.#client);
    return () => {
      // A second call must not end what somebody else began since.
      if (!watched.listeners.delete(updated) || watched.listeners.size > 0) return;
      this.#watched.delete(uri);
      void watched.subscription?.then((subscription) => subscription?.close()).catch(() => {});
    };
  }

  /** Goes on over a new connection: whatever changed before it stood may have been missed. */
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

  #subscribe(uri: string, watched: Watched, client: Client): void {
    watched.subscription = client.subscribe({ resources: uri }).then(
      (subscription) => {
        void this.#hear(watched, subscription);
        return subscription;
      },
      // The connection is gone, or the server refuses; the next connection tries again.
      () => undefined,
    );
  }

  async #hear(watched: Watched, subscription: Subscription): Promise<void> {
    try {
      for await (const _change of subscription) for (const updated of watched.listeners) updated();
    } catch {
      // The connection ended; `follow` goes on with the next one.
    }
  }
}
