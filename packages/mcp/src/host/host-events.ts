import type { LockDifference } from "../lock/compare-lock.js";
import { callHook } from "../platform/call-hook.js";
import type { Platform } from "../platform/platform.js";
import type { Implementation } from "../protocol/implementation.js";
import type { CallCounts } from "./connection/call-gate.js";
import type { CircuitState } from "./connection/circuit-breaker.js";
import type { SupervisionEvent } from "./supervision/supervision-event.js";

/** A server of the host is in another state. */
export interface StatusChanged {
  readonly type: "status";
  readonly server: string;
  readonly status: ServerStatus;
}

/** The catalogue has changed; several changes of one turn of the event loop are told together. */
export interface CatalogueChanged {
  readonly type: "catalogue";
  readonly lists: readonly ("tools" | "prompts" | "resources")[];
}

/** A step of the supervision of the host's servers. */
export interface SupervisionStep {
  readonly type: "supervision";
  readonly step: SupervisionEvent;
}

/** The events of a host by name; `any` is all of them. */
export interface HostEvents {
  status: StatusChanged;
  catalogue: CatalogueChanged;
  supervision: SupervisionStep;
  any: StatusChanged | CatalogueChanged | SupervisionStep;
}

type Listener = (event: never) => void;

/** Those who listen to a host. What a listener throws is reported and harms nobody. */
export class HostListeners {
  readonly #platform: Pick<Platform, "warn">;
  readonly #listeners = new Map<keyof HostEvents, Set<Listener>>();

  constructor(platform: Pick<Platform, "warn">) {
    this.#platform = platform;
  }

  add<E extends keyof HostEvents>(event: E, listener: (event: HostEvents[E]) => void): () => void {
    const known = this.#listeners.get(event) ?? new Set();
    known.add(listener);
    this.#listeners.set(event, known);
    return () => void known.delete(listener);
  }

  tell(event: HostEvents["any"]): void {
    for (const name of [event.type, "any"] as const) {
      for (const listener of [...(this.#listeners.get(name) ?? [])]) {
        // Each set holds listeners of its own event.
        callHook(this.#platform, `a listener to "${name}" of the host`, () => listener(event as never));
      }
    }
  }
}

/**
 * Where a server of a host stands: `starting` for the first time, `ready` for calls, `restarting` after it ended, `failed` too
 * often and held for a while, `stopped` by the host, or `disabled` by its entry.
 */
export type HostedState = "disabled" | "starting" | "ready" | "restarting" | "failed" | "stopped";

/** What went wrong last. */
export interface ServerProblem {
  readonly kind: string;
  readonly message: string;
  /** What to change. */
  readonly fix: string | undefined;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** What a host knows of one of its servers. */
export interface ServerStatus {
  readonly state: HostedState;
  /** The revision of the protocol that it speaks, once it is known. */
  readonly protocolVersion: string | undefined;
  /** Whether it keeps sessions (`stateful`) or not (`stateless`), once it is known. */
  readonly era: string | undefined;
  /** The implementation that the server reports, unverified: name and version, and title, description, website and icons if it has them. */
  readonly serverInfo: Readonly<Implementation> | undefined;
  /** Its own connections that stand. */
  readonly connections: number;
  /** The time that its last health check took. */
  readonly latencyMs: number | undefined;
  /** How often it was started again. */
  readonly restarts: number;
  /** What went wrong last, also after it recovered. */
  readonly lastError: ServerProblem | undefined;
  readonly circuit: CircuitState;
  readonly calls: CallCounts;
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  /** Whether its lists come from an earlier run, because it has not listed anything yet. */
  readonly stale: boolean;
  /** In what it differs from its lock, as it was listed last. Empty without a lock. */
  readonly drift: readonly LockDifference[];
}

/** The status of a server that is not started. */
export const DISABLED: ServerStatus = {
  state: "disabled",
  protocolVersion: undefined,
  era: undefined,
  serverInfo: undefined,
  connections: 0,
  latencyMs: undefined,
  restarts: 0,
  lastError: undefined,
  circuit: "closed",
  calls: { running: 0, waiting: 0, refused: 0 },
  tools: 0,
  prompts: 0,
  resources: 0,
  stale: false,
  drift: [],
};
