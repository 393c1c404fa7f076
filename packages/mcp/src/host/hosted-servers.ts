import { neverUnhandled } from "../encoding/maybe-promise.js";
import { nearestName } from "../encoding/nearest-name.js";
import { atMost } from "../platform/pause.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import { OFFER_CAPABILITIES, type OfferCapability } from "../protocol/features/offer-kinds.js";
import { SavedCatalogue } from "./catalogue/catalogue-store.js";
import type { HostCatalogue } from "./catalogue/host-catalogue.js";
import type { RemoteConnection } from "./connection/remote-connection.js";
import type { RemoteServer } from "./connection/remote-server.js";
import type { HostedState, HostListeners } from "./host-events.js";
import { HostedServer } from "./hosted-server.js";
import { checkedEntry, type HostEntry, type HostOptions } from "./options.js";
import { resolveServerEntry } from "./server-entry.js";
import type { ChildSpec } from "./supervision/child-spec.js";
import type { ChildState } from "./supervision/state-table.js";
import type { SupervisionEvent } from "./supervision/supervision-event.js";
import { Supervisor } from "./supervision/supervisor.js";
import type { SupervisorTree } from "./supervision/supervisor-tree.js";

const START_WAIT_MS = 5_000;

/** The servers of one host under one supervisor. */
export class HostedServers {
  readonly #options: HostOptions;
  readonly #platform: Platform;
  /** The combined lists of all servers. */
  readonly catalogue: HostCatalogue;
  /** The servers at which each client of a gateway has its own connection. */
  isolated: readonly RemoteServer[] = [];
  readonly #listeners: HostListeners;
  readonly #servers = new Map<string, HostedServer>();
  /** The disabled servers by name. The value is true if the server is required. */
  readonly #disabled = new Map<string, boolean>();
  readonly #supervisor: Supervisor;
  readonly #saved: SavedCatalogue | undefined;
  /** Lists that changed in this turn of the event loop. */
  readonly #changed = new Set<OfferCapability>();
  /** Removals in progress, by name. The name may already belong to a new server. */
  readonly #removing = new Map<string, Promise<void>>();
  readonly #launched = new WeakMap<HostedServer, Promise<void>>();
  #closed = false;
  #forwards: boolean;
  #started: Promise<void> | undefined;

  constructor(options: HostOptions, platform: Platform, catalogue: HostCatalogue, listeners: HostListeners) {
    this.#options = options;
    this.#platform = platform;
    this.catalogue = catalogue;
    this.#listeners = listeners;
    this.#forwards = options.forwardQuestions === true;
    this.#saved = options.catalogue && new SavedCatalogue(options.catalogue, platform);
    const { intensity, backOff } = options.restarts ?? {};
    this.#supervisor = new Supervisor({
      name: "host",
      strategy: "one_for_one",
      platform,
      onEvent: (step) => this.#onSupervision(step),
      ...(intensity === undefined ? {} : { intensity }),
      ...(backOff === undefined ? {} : { backOff }),
    });
  }

  all(): HostedServer[] {
    return [...this.#servers.values()];
  }

  /** The names of disabled servers. */
  get disabled(): Iterable<string> {
    return this.#disabled.keys();
  }

  find(name: string): HostedServer | undefined {
    return this.#servers.get(name);
  }

  /** The server with this name. Throws `misuse` if the host has no such server, or if the server is disabled. */
  get(name: string): HostedServer {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    if (this.#disabled.has(name)) {
      const fix =
        "Remove the server and add it again. If you did not disable it, see `problems` of `readServers` for the reason.";
      throw new McpError("misuse", `the server "${name}" is disabled`, { fix });
    }
    const meant = nearestName(name, [...this.#servers.keys()]);
    const question = meant === undefined ? "" : `; did you mean "${meant}"?`;
    throw new McpError("misuse", `the host has no server "${name}"${question}`, {
      fix: "Use a name from `status()`, or `add` the server first.",
    });
  }

  /** Calls `listener` when lists have changed, until the returned function is called. */
  onChanged(listener: (lists: readonly OfferCapability[]) => void): () => void {
    return this.#listeners.add("catalogue", ({ lists }) => listener(lists));
  }

  /**
   * Lets connections declare elicitation, sampling and roots for clients of a gateway. Has no effect after `start`, or
   * if `forwardQuestions` is false.
   */
  enableForwarding(): void {
    if (this.#started === undefined && this.#options.forwardQuestions !== false) this.#forwards = true;
  }

  tree(): SupervisorTree {
    return this.#supervisor.tree();
  }

  /** Adds a server without starting it. Returns undefined if the entry disables the server. */
  add(name: string, entry: HostEntry): HostedServer | undefined {
    if (this.#closed) throw closed();
    if (this.#servers.has(name) || this.#disabled.has(name)) {
      throw new McpError("misuse", `the host already has a server "${name}"`, { fix: "Remove it first." });
    }
    const checked = checkedEntry(name, entry);
    if (checked.disabled === true) {
      this.#disabled.set(name, checked.required === true);
      return undefined;
    }
    const config = resolveServerEntry(name, checked, this.#options, this.#platform, () => this.#forwards);
    const server = new HostedServer(config, {
      listed: (of, kinds) => this.#listed(of, kinds),
      changed: (of) => this.#listeners.publish({ type: "status", server: of.name, status: of.status }),
      warn: (message) => this.#platform.warn(message),
    });
    this.catalogue.add(name, server.config.prefix);
    this.#servers.set(name, server);
    if (config.isolation === "client") this.isolated = [...this.isolated, server.remote];
    return server;
  }

  async addStarted(name: string, entry: HostEntry): Promise<void> {
    const server = this.add(name, entry);
    if (server === undefined || this.#started === undefined) return;
    this.#restoreLists(server);
    await this.#launch(server);
  }

  async remove(name: string): Promise<void> {
    if (this.#disabled.delete(name)) return;
    const server = this.get(name);
    this.#servers.delete(name);
    this.isolated = this.isolated.filter((remote) => remote !== server.remote);
    this.catalogue.remove(name);
    this.#saved?.delete(name);
    this.#announce(OFFER_CAPABILITIES);
    const before = this.#removing.get(name);
    const removal = this.#end(server, before).finally(() => {
      if (this.#removing.get(name) === removal) this.#removing.delete(name);
    });
    this.#removing.set(name, removal);
    await removal;
  }

  async restart(name: string): Promise<void> {
    const server = this.get(name);
    server.remote.circuit?.reset();
    await Promise.all(
      connectionSpecs(server, this.#options.restarts?.retryMs).map(({ id }) => this.#supervisor.restartChild(id)),
    );
  }

  start(): Promise<void> {
    if (this.#closed && this.#started === undefined) return Promise.reject(closed());
    this.#started ??= this.#start();
    return this.#started;
  }

  async close(drainMs: number): Promise<void> {
    this.#closed = true;
    const servers = this.all();
    if (drainMs > 0) {
      const drained = Promise.all(servers.map(({ remote }) => remote.gate.drain())).then(() => {});
      await atMost(this.#platform, drainMs, drained, true);
    }
    await Promise.all(servers.map((server) => server.close()));
    await this.#supervisor.close();
    await this.#saved?.flush();
  }

  async #start(): Promise<void> {
    const [missing] = [...this.#disabled].filter(([, required]) => required);
    if (missing !== undefined) {
      throw new McpError("connect_failed", `the server "${missing[0]}" is required, but its entry disables it`, {
        fix: "Correct its entry. `problems` of `readServers` shows what is wrong with it.",
      });
    }
    const { startWaitMs = START_WAIT_MS } = this.#options;
    await this.#saved?.load(startWaitMs);
    const servers = this.all();
    for (const server of servers) this.#restoreLists(server);
    void this.#supervisor.start().catch(() => {});
    const launched = servers.map((server) => ({ server, started: this.#launch(server) }));
    const required = launched.filter(({ server }) => server.config.required).map(({ started }) => started);
    // `start` does not wait for servers with lists of an earlier run, because their lists are usable at once.
    const awaited = launched.filter(({ server }) => !server.stale).map(({ started }) => started.catch(() => {}));
    let timer: { cancel(): void } | undefined;
    const late = new Promise<void>((resolve) => {
      timer = this.#platform.timer(startWaitMs, resolve, true);
    });
    await Promise.race([Promise.all(awaited), late]);
    timer?.cancel();
    await Promise.all(required);
  }

  /**
   * Resolves when all connections of the server are open. A rejection without a handler is ignored, because the
   * supervisor retries in any case.
   */
  #launch(server: HostedServer): Promise<void> {
    const launched = this.#launched.get(server) ?? neverUnhandled(this.#startConnections(server));
    this.#launched.set(server, launched);
    return launched;
  }

  async #startConnections(server: HostedServer): Promise<void> {
    // A removed server of the same name must end first, because both servers use the same child ids.
    await this.#removing.get(server.name);
    if (this.#servers.get(server.name) !== server) throw removed(server.name);
    await Promise.all(
      connectionSpecs(server, this.#options.restarts?.retryMs).map((spec) => this.#supervisor.startChild(spec)),
    );
  }

  async #end(server: HostedServer, before: Promise<void> | undefined): Promise<void> {
    const closed = server.close();
    // A server that still waits for the removal of its predecessor has no children yet.
    if (before === undefined) {
      await Promise.all(
        connectionSpecs(server, this.#options.restarts?.retryMs).map(({ id }) =>
          this.#supervisor.removeChild(id).catch(() => {}),
        ),
      );
    }
    await Promise.all([before, closed]);
  }

  #onSupervision(step: SupervisionEvent): void {
    this.#listeners.publish({ type: "supervision", step });
    if (step.type !== "child") return;
    const server = this.#servers.get(serverOf(step.child));
    // During a removal the steps belong to the removed server, not to its successor of the same name.
    if (server === undefined || this.#removing.has(server.name)) return;
    const { to, error, event } = step;
    // The first start is `starting`, every later one `restarting`.
    const state = to === "starting" && server.state !== "starting" ? "restarting" : HOSTED_STATES[to];
    server.setState(state, event === "crash", error);
  }

  #restoreLists(server: HostedServer): void {
    const lists = this.#saved?.get(server.name, server.config.key);
    if (lists !== undefined) server.restoreLists(lists);
  }

  #listed(server: HostedServer, kinds: readonly OfferCapability[]): void {
    const { lists, tools, name } = server;
    if (this.#servers.get(name) !== server) return;
    this.catalogue.set(name, {
      about: lists.about,
      hints: lists.hints,
      ...(kinds.includes("tools") ? { tools: tools.tools } : {}),
      ...(kinds.includes("prompts") ? { prompts: lists.prompts } : {}),
      ...(kinds.includes("resources")
        ? { resources: lists.resources, resourceTemplates: lists.resourceTemplates }
        : {}),
    });
    if (!server.stale) this.#saved?.set(name, server.config.key, lists);
    this.#announce(kinds);
  }

  #announce(kinds: readonly OfferCapability[]): void {
    if (kinds.length === 0) return;
    if (this.#changed.size === 0) {
      this.#platform.defer(() => {
        const lists = [...this.#changed];
        this.#changed.clear();
        this.#listeners.publish({ type: "catalogue", lists });
      });
    }
    for (const kind of kinds) this.#changed.add(kind);
  }
}

function closed(): McpError {
  return new McpError("misuse", "the host is closed", { fix: "Create another host." });
}

function removed(name: string): McpError {
  return new McpError("cancelled", `the server "${name}" was removed before it was started`);
}

const RETRY_MS = 60_000;

/** The state of the server for each state of its supervised connection. */
const HOSTED_STATES: Readonly<Record<ChildState, HostedState>> = {
  waiting: "restarting",
  starting: "starting",
  running: "ready",
  stopping: "stopped",
  stopped: "stopped",
  ended: "stopped",
  failed: "failed",
};

/** The connections of a server as children of the supervisor. */
function connectionSpecs(server: HostedServer, retryMs = RETRY_MS): ChildSpec<RemoteConnection>[] {
  const { name, size, startMs, options } = server.config;
  return Array.from({ length: size }, (_, index) => ({
    id: childId(name, index),
    start: (signal) => server.start(signal),
    ended: async (connection) => {
      const ended = await connection.ended;
      // Prefers the cause, which describes why the connection ended.
      const reason = ended?.cause instanceof Error ? ended.cause : ended;
      return { normal: false, reason: reason?.message ?? "the connection was closed", error: reason };
    },
    stop: (connection) => connection.close(),
    // With a login, only the deadlines of the connection and of its lists apply. These exclude the time that the user
    // takes.
    startMs: options.auth === undefined ? startMs : Number.POSITIVE_INFINITY,
    retryMs,
  }));
}

/** The suffix of the ids of further connections. */
const CONNECTION_NUMBER = /#\d+$/;

/**
 * The id of a connection: the server's name, with a number from the second connection on. For a name that already ends
 * in such a number, even the first connection gets a number, so that ids do not collide.
 */
function childId(name: string, index: number): string {
  return index === 0 && !CONNECTION_NUMBER.test(name) ? name : `${name}#${index + 1}`;
}

/** The name of the server that a child belongs to. */
function serverOf(child: string): string {
  return child.replace(CONNECTION_NUMBER, "");
}
