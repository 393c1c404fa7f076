import type { LocalServer, Target } from "../../client/connect.js";
import type { ClientOptions } from "../../client/contract/options.js";
import type { DriftPolicy } from "../../lock/drift-policy.js";
import type { Platform, Timer } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { TASKS } from "../../protocol/features/task-methods.js";
import { type PassedCall, RemoteConnection } from "./remote-connection.js";

/** Connections to one server beside its own; when there are as many, the one that is idle longest gives way. */
const MOST_CONNECTIONS = 100;
/** How long a connection that nobody uses is kept. */
const IDLE_MS = 300_000;

/** How further connections are opened. */
export interface CallerConnectionParts {
  readonly name: string;
  readonly target: Target | LocalServer;
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly application: PassedCall;
  readonly lock: DriftPolicy | undefined;
}

interface Kept {
  readonly opened: Promise<RemoteConnection>;
  connection: RemoteConnection | undefined;
  usedAt: number;
}

/** Connections to one server for callers who cannot share its own: one for each key, and for each caller if one is given. */
export class CallerConnections {
  readonly #parts: CallerConnectionParts;
  readonly #shared: (connection: RemoteConnection) => void;
  readonly #kept = new Map<unknown, Map<string, Kept>>();
  /** Answers questions outside of calls, by the caller that a connection is for. */
  readonly #answering = new WeakMap<object, PassedCall>();
  #sweep: Timer | undefined;

  /** `shared` is called with every connection that is for no caller alone, when it stands. */
  constructor(parts: CallerConnectionParts, shared: (connection: RemoteConnection) => void) {
    this.#parts = parts;
    this.#shared = shared;
  }

  /** The connection of `caller` for `key`, opened by the first who needs it and again after it is lost. */
  of(key: string, capabilities: ClientCapabilities, caller: unknown): Promise<RemoteConnection> {
    const now = this.#parts.platform.monotonic();
    const mine = this.#kept.get(caller) ?? new Map<string, Kept>();
    const known = mine.get(key);
    if (known !== undefined) {
      known.usedAt = now;
      return known.opened;
    }
    this.#makeRoom();
    const { name, target, lock } = this.#parts;
    const application = this.#answererOf(caller);
    const options = optionsFor(this.#parts.options, capabilities);
    const opened = RemoteConnection.open({ name, target, options, capabilities, application, lock });
    const kept: Kept = { opened, connection: undefined, usedAt: now };
    mine.set(key, kept);
    this.#kept.set(caller, mine);
    const forget = () => {
      mine.delete(key);
      if (mine.size === 0) this.#kept.delete(caller);
    };
    opened.then((connection) => {
      kept.connection = connection;
      if (caller === undefined) this.#shared(connection);
      void connection.ended().then(forget);
    }, forget);
    this.#sweepLater();
    return opened;
  }

  /** Notes what answers questions over the caller's connections that are about no call. */
  answering(caller: object, call: PassedCall): void {
    this.#answering.set(caller, call);
  }

  #answererOf(caller: unknown): PassedCall {
    const known = typeof caller === "object" && caller !== null ? this.#answering.get(caller) : undefined;
    return known ?? this.#parts.application;
  }

  /** Closes the connections of a caller that is gone. */
  leave(caller: unknown): void {
    for (const { opened } of this.#kept.get(caller)?.values() ?? []) closeQuietly(opened);
  }

  async close(): Promise<void> {
    this.#sweep?.cancel();
    await Promise.all(this.#all().map(({ opened }) => closeQuietly(opened)));
  }

  #all(): Kept[] {
    return [...this.#kept.values()].flatMap((mine) => [...mine.values()]);
  }

  #makeRoom(): void {
    const all = this.#all();
    if (all.length < MOST_CONNECTIONS) return;
    const idle = all.filter(({ connection }) => connection !== undefined && connection.running === 0);
    const [oldest] = idle.sort((one, other) => one.usedAt - other.usedAt);
    if (oldest === undefined) {
      throw new McpError(
        "limit_exceeded",
        `the server "${this.#parts.name}" already has ${MOST_CONNECTIONS} connections`,
        {
          data: { limit: "connections", value: MOST_CONNECTIONS },
          fix: "Try again when other clients have finished.",
        },
      );
    }
    void closeQuietly(oldest.opened);
  }

  #sweepLater(): void {
    const { platform } = this.#parts;
    this.#sweep ??= platform.timer(IDLE_MS, () => {
      this.#sweep = undefined;
      const old = platform.monotonic() - IDLE_MS;
      for (const { connection, usedAt } of this.#all()) {
        if (connection?.running === 0 && usedAt <= old) void connection.close();
      }
      if (this.#kept.size > 0) this.#sweepLater();
    });
  }
}

/** What tells apart the connections that callers can share: what a server is told of them when the connection is opened. */
export function connectionKey({ extensions, ...askable }: ClientCapabilities): string {
  const ids = Object.keys(extensions ?? {}).filter((id) => id !== TASKS.id);
  return JSON.stringify([askable, ids.sort()]);
}

/** The key of callers that may share a server's own connection; undefined where only the application answers over it. */
export function keyOfOwn(declared: ClientCapabilities | undefined, options: ClientOptions): string | undefined {
  const { onElicit, onSample, roots, extensions = [] } = options;
  const answers = onElicit !== undefined || onSample !== undefined || roots !== undefined;
  if (declared === undefined && answers) return undefined;
  return connectionKey({ ...declared, extensions: Object.fromEntries(extensions.map(({ id }) => [id, {}])) });
}

/** The options without what only the application has: callers answer for themselves, and have extensions of their own. */
function optionsFor(options: ClientOptions, { extensions: declared = {} }: ClientCapabilities): ClientOptions {
  const { onElicit: _elicit, onSample: _sample, roots: _roots, extensions = [], ...rest } = options;
  // Tasks are what this side follows for callers, in whatever form they take them.
  return { ...rest, extensions: extensions.filter(({ id }) => id === TASKS.id || Object.hasOwn(declared, id)) };
}

async function closeQuietly(opened: Promise<RemoteConnection>): Promise<void> {
  try {
    await (await opened).close();
  } catch {
    // It never stood, which whoever asked for it was told.
  }
}
