import type { LockDifference } from "../lock/compare-lock.js";
import { callHook } from "../platform/call-hook.js";
import type { Platform } from "../platform/platform.js";
import type { Implementation } from "../protocol/implementation.js";
import type { CallCounts } from "./connection/call-gate.js";
import type { CircuitState } from "./connection/circuit-breaker.js";
import type { SupervisionEvent } from "./supervision/supervision-event.js";

/** A server of the host changed its state. */
export interface StatusChanged {
  /** Always `status`. Distinguishes the events of `any`. */
  readonly type: "status";
  /** The name of the server in the host. */
  readonly server: string;
  /** The server's status after the change. */
  readonly status: ServerStatus;
}

/** The catalogue changed. Changes in one turn of the event loop are published as one event. */
export interface CatalogueChanged {
  /** Always `catalogue`. Distinguishes the events of `any`. */
  readonly type: "catalogue";
  /** The lists that changed. Templates of resources count as `resources`. */
  readonly lists: readonly ("tools" | "prompts" | "resources")[];
}

/** A step in the supervision of the host's servers. */
export interface SupervisionStep {
  /** Always `supervision`. Distinguishes the events of `any`. */
  readonly type: "supervision";
  /** The step of the supervisor: a change of a connection, or of the supervisor itself. */
  readonly step: SupervisionEvent;
}

/** The events of a host by name, for `Host.on`. */
export interface HostEvents {
  /** A server started, became ready, failed, or stopped. */
  status: StatusChanged;
  /** The tools, prompts or resources of the host changed. */
  catalogue: CatalogueChanged;
  /** The supervisor changed the state of a connection, or its own state. */
  supervision: SupervisionStep;
  /** Every event. `type` distinguishes them. */
  any: StatusChanged | CatalogueChanged | SupervisionStep;
}

type Listener = (event: never) => void;

/**
 * The listeners of a host. An error that a listener throws becomes a warning and does not affect the other listeners.
 */
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

  publish(event: HostEvents["any"]): void {
    for (const name of [event.type, "any"] as const) {
      for (const listener of [...(this.#listeners.get(name) ?? [])]) {
        // Safe: each set contains only listeners to its own event.
        callHook(this.#platform, `a listener to "${name}" of the host`, () => listener(event as never));
      }
    }
  }
}

/**
 * The state of a server in a host.
 *
 * - `disabled`: its entry disables it.
 * - `starting`: its first start is running.
 * - `ready`: it accepts calls.
 * - `restarting`: it ended and is being started again.
 * - `failed`: it failed too often, and the host retries after `retryMs`.
 * - `stopped`: the host stopped it.
 */
export type HostedState = "disabled" | "starting" | "ready" | "restarting" | "failed" | "stopped";

/** The last error of a server, as plain data. */
export interface ServerProblem {
  /** The kind of the error, such as `connect_failed` or `timeout`. */
  readonly kind: string;
  /** The text of the error. */
  readonly message: string;
  /** Advice on what to change. Undefined if there is none. */
  readonly fix: string | undefined;
  /** The time of the error, in milliseconds since the epoch. */
  readonly at: number;
}

/** The state and the numbers of one server of a host. */
export interface ServerStatus {
  /** The state of the server. */
  readonly state: HostedState;
  /** The negotiated revision of the protocol. Undefined while no connection is open. */
  readonly protocolVersion: string | undefined;
  /** `stateful` if the revision has sessions, otherwise `stateless`. Undefined while no connection is open. */
  readonly era: string | undefined;
  /**
   * The implementation that the server reports, unverified: name and version, and title, description, website and icons
   * if present.
   */
  readonly serverInfo: Readonly<Implementation> | undefined;
  /**
   * Number of open connections that the host supervises. Connections for single clients of a gateway are not counted.
   */
  readonly connections: number;
  /** The round trip of the last health check, in milliseconds. Undefined before the first one. */
  readonly latencyMs: number | undefined;
  /** Number of restarts after a crash, since the server was added. */
  readonly restarts: number;
  /** The last error of the server. It remains after the server has recovered. */
  readonly lastError: ServerProblem | undefined;
  /**
   * The state of the circuit breaker: `open` if the host rejects calls to this server. `closed` without a circuit
   * breaker.
   */
  readonly circuit: CircuitState;
  /** Calls that run, wait, or were rejected because of the limits. */
  readonly calls: CallCounts;
  /** Number of tools that clients see, after the filter. */
  readonly tools: number;
  /** Number of prompts. */
  readonly prompts: number;
  /** Number of resources, without templates. */
  readonly resources: number;
  /** True if the lists are those of an earlier run, because the server has not listed anything yet. */
  readonly stale: boolean;
  /** Differences between the lock of the server and its last lists. Empty without a lock. */
  readonly drift: readonly LockDifference[];
}

/** The status of a server that is disabled in its entry. */
export const DISABLED_STATUS: ServerStatus = {
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
