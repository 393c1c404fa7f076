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
  /** The lists of all servers as one. */
  readonly catalogue: HostCatalogue;
  /** The servers at which each client of a gateway has its own connection. */
  isolated: readonly RemoteServer[] = [];
  readonly #listeners: HostListeners;
  readonly #servers = new Map<string, HostedServer>();
  /** Servers that are not started, and whether each is required. */
  readonly #disabled = new Map<string, boolean>();
  readonly #supervisor: Supervisor;
  readonly #saved: SavedCatalogue | undefined;
  /** Lists that changed in this turn of the event loop. */
  readonly #changed = new Set<OfferCapability>();
  /** Servers that are being ended, by names that others may have taken over. */
  readonly #leaving = new Map<string, Promise<void>>();
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
      onEvent: (step) => this.#supervised(step),
      ...(intensity === undefined ? {} : { intensity }),
      ...(backOff === undefined ? {} : { backOff }),
    });
  }

  all(): HostedServer[] {
    return [...this.#servers.values()];
  }

  /** The names of servers that are not started. */
  get disabled(): Iterable<string> {
    return this.#disabled.keys();
  }

  find(name: string): HostedServer | undefined {
    return this.#servers.get(name);
  }

  /** The server of this name. Throws `misuse` if there is none. */
  get(name: string): HostedServer {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    if (this.#disabled.has(name)) {
      const fix =
        "Remove it and add it anew; `problems` of `readServers` says why, if you did not disable it yourself.";
      throw new McpError("misuse", `the server "${name}" is disabled`, { fix });
    }
    const meant = nearestName(name, [...this.#servers.keys()]);
    const question = meant === undefined ? "" : `; did you mean "${meant}"?`;
    throw new McpError("misuse", `the host has no server "${name}"${question}`, {
      fix: "Use a name that `status()` has, or `add` the server first.",
    });
  }

  /** Calls `listener` when lists have changed, until the returned function is called. */
  onChanged(listener: (lists: readonly OfferCapability[]) => void): () => void {
    return this.#listeners.add("catalogue", ({ lists }) => listener(lists));
  }

  /** Clients of a gateway may be asked; connections that are opened from now on declare it. */
  forwards(): void {
    if (this.#started === undefined && this.#options.forwardQuestions !== false) this.#forwards = true;
  }

  tree(): SupervisorTree {
    return this.#supervisor.tree();
  }

  /** Adds a server that `start` starts. */
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
    const parts = resolveServerEntry(name, checked, this.#options, this.#platform, () => this.#forwards);
    const server = new HostedServer(parts, {
      listed: (of, kinds) => this.#listed(of, kinds),
      changed: (of) => this.#listeners.tell({ type: "status", server: of.name, status: of.status }),
      warn: (message) => this.#platform.warn(message),
    });
    this.catalogue.add(name, server.parts.prefix);
    this.#servers.set(name, server);
    if (parts.isolation === "client") this.isolated = [...this.isolated, server.remote];
    return server;
  }

  async addStarted(name: string, entry: HostEntry): Promise<void> {
    const server = this.add(name, entry);
    if (server === undefined || this.#started === undefined) return;
    this.#remember(server);
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
    const before = this.#leaving.get(name);
    const leaving = this.#end(server, before).finally(() => {
      if (this.#leaving.get(name) === leaving) this.#leaving.delete(name);
    });
    this.#leaving.set(name, leaving);
    await leaving;
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
      throw new McpError("connect_failed", `the server "${missing[0]}" is required, and its entry disables it`, {
        fix: "Correct its entry: `problems` of `readServers` says what is wrong with it.",
      });
    }
    const { startWaitMs = START_WAIT_MS } = this.#options;
    await this.#saved?.load(startWaitMs);
    const servers = this.all();
    for (const server of servers) this.#remember(server);
    void this.#supervisor.start().catch(() => {});
    const launched = servers.map((server) => ({ server, started: this.#launch(server) }));
    const required = launched.filter(({ server }) => server.parts.required).map(({ started }) => started);
    // Those whose lists are known from an earlier run need not be waited for.
    const awaited = launched.filter(({ server }) => !server.stale).map(({ started }) => started.catch(() => {}));
    let timer: { cancel(): void } | undefined;
    const late = new Promise<void>((resolve) => {
      timer = this.#platform.timer(startWaitMs, resolve, true);
    });
    await Promise.race([Promise.all(awaited), late]);
    timer?.cancel();
    await Promise.all(required);
  }

  /** Resolves when its connections stand. */
  #launch(server: HostedServer): Promise<void> {
    // Whoever waits for it is told of a failure; the supervisor goes on trying in any case.
    const launched = this.#launched.get(server) ?? neverUnhandled(this.#startConnections(server));
    this.#launched.set(server, launched);
    return launched;
  }

  async #startConnections(server: HostedServer): Promise<void> {
    // One after the other, since both go by the same name.
    await this.#leaving.get(server.name);
    if (this.#servers.get(server.name) !== server) throw removed(server.name);
    await Promise.all(
      connectionSpecs(server, this.#options.restarts?.retryMs).map((spec) => this.#supervisor.startChild(spec)),
    );
  }

  async #end(server: HostedServer, before: Promise<void> | undefined): Promise<void> {
    const closed = server.close();
    // One that waits for an earlier one of its name has not been started.
    if (before === undefined) {
      await Promise.all(
        connectionSpecs(server, this.#options.restarts?.retryMs).map(({ id }) =>
          this.#supervisor.removeChild(id).catch(() => {}),
        ),
      );
    }
    await Promise.all([before, closed]);
  }

  #supervised(step: SupervisionEvent): void {
    this.#listeners.tell({ type: "supervision", step });
    if (step.type !== "child") return;
    const server = this.#servers.get(serverOf(step.child));
    // While one is leaving, its steps are not those of the one that took over its name.
    if (server === undefined || this.#leaving.has(server.name)) return;
    const { to, error, event } = step;
    // The first start is told apart from later ones.
    const state = to === "starting" && server.state !== "starting" ? "restarting" : HOSTED_STATES[to];
    server.moved(state, event === "crash", error);
  }

  #remember(server: HostedServer): void {
    const lists = this.#saved?.of(server.name, server.parts.key);
    if (lists !== undefined) server.remember(lists);
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
    if (!server.stale) this.#saved?.set(name, server.parts.key, lists);
    this.#announce(kinds);
  }

  #announce(kinds: readonly OfferCapability[]): void {
    if (kinds.length === 0) return;
    if (this.#changed.size === 0) {
      this.#platform.defer(() => {
        const lists = [...this.#changed];
        this.#changed.clear();
        this.#listeners.tell({ type: "catalogue", lists });
      });
    }
    for (const kind of kinds) this.#changed.add(kind);
  }
}

function closed(): McpError {
  return new McpError("misuse", "the host is closed", { fix: "Make another host." });
}

function removed(name: string): McpError {
  return new McpError("cancelled", `the server "${name}" was removed before it was started`);
}

const RETRY_MS = 60_000;

/** What each state of a supervised connection means for its server. */
const HOSTED_STATES: Readonly<Record<ChildState, HostedState>> = {
  waiting: "restarting",
  starting: "starting",
  running: "ready",
  stopping: "stopped",
  stopped: "stopped",
  ended: "stopped",
  failed: "failed",
};

/** The connections of a server as children of a supervisor. */
function connectionSpecs(server: HostedServer, retryMs = RETRY_MS): ChildSpec<RemoteConnection>[] {
  const { name, size, startMs, options } = server.parts;
  return Array.from({ length: size }, (_, index) => ({
    id: childId(name, index),
    start: (signal) => server.start(signal),
    ended: async (connection) => {
      const ended = await connection.ended;
      // Why it ended says more than that it did.
      const reason = ended?.cause instanceof Error ? ended.cause : ended;
      return { normal: false, reason: reason?.message ?? "the connection was closed", error: reason };
    },
    stop: (connection) => connection.close(),
    // With a login the deadlines of the connection and of its lists, which are as long, do not count the time of the user.
    startMs: options.auth === undefined ? startMs : Number.POSITIVE_INFINITY,
    retryMs,
  }));
}

/** What a further connection adds to the name of its server. */
const NUMBER = /#\d+$/;

/** Names of servers that end like those of connections get a number from the first on, so that no two meet. */
function childId(name: string, index: number): string {
  return index === 0 && !NUMBER.test(name) ? name : `${name}#${index + 1}`;
}

/** The name of the server that a child belongs to. */
function serverOf(child: string): string {
  return child.replace(NUMBER, "");
}
