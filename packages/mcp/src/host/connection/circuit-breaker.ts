import { withDefaults } from "../../encoding/with-defaults.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkNumber } from "./check-number.js";

/**
 * `closed` lets calls pass, `open` rejects them, `half_open` lets a few pass to test whether the server has recovered.
 */
export type CircuitState = "closed" | "open" | "half_open";

/**
 * An event of a circuit breaker. In a closed circuit, a `failure` is tolerated and a `last_failure` opens it. In a
 * half-open circuit, both open it. A `success` is not enough to close the circuit, a `last_success` is. `time_passed`
 * occurs `openMs` after the circuit opened.
 */
export type CircuitEvent = "success" | "last_success" | "failure" | "last_failure" | "time_passed";

/** The next state for each state and event. */
export const CIRCUIT_TRANSITIONS: Readonly<Record<CircuitState, Readonly<Record<CircuitEvent, CircuitState>>>> = {
  closed: {
    success: "closed",
    last_success: "closed",
    failure: "closed",
    last_failure: "open",
    time_passed: "closed",
  },
  // Outcomes of calls from before the circuit opened are ignored.
  open: {
    success: "open",
    last_success: "open",
    failure: "open",
    last_failure: "open",
    time_passed: "half_open",
  },
  half_open: {
    success: "half_open",
    last_success: "closed",
    failure: "open",
    last_failure: "open",
    time_passed: "half_open",
  },
};

/** Thresholds at which a circuit opens and closes. */
export interface CircuitOptions {
  /** Number of failures in a row that open the circuit. Default: 5. */
  failures?: number | undefined;
  /** Share of failures among the last `window` calls that opens the circuit, from 0.01 to 1. Default: 0.5. */
  failureRate?: number | undefined;
  /**
   * Number of calls over which `failureRate` is computed. `failureRate` has no effect before that many calls. Default:
   * 10.
   */
  window?: number | undefined;
  /** Milliseconds that the circuit stays open before it lets a call pass. Default: 60,000. */
  openMs?: number | undefined;
  /** Maximum number of concurrent calls while the circuit is half open. Default: 1. */
  trials?: number | undefined;
  /** Number of successes in a row that close a half-open circuit. Default: 2. */
  successes?: number | undefined;
}

/** A change of a circuit's state. */
export interface CircuitChange {
  readonly from: CircuitState;
  readonly to: CircuitState;
}

/** Runtime, name of the server, and callback of a circuit breaker. */
export interface CircuitConfig {
  readonly platform: Pick<Platform, "monotonic" | "warn">;
  /** The server's name, for errors. */
  readonly server: string;
  /** Called after each change of the state. */
  readonly onChange?: ((change: CircuitChange) => void) | undefined;
}

const DEFAULTS = { failures: 5, failureRate: 0.5, window: 10, openMs: 60_000, trials: 1, successes: 2 };

/**
 * Identifies the period between two changes of state in which a call began. Outcomes of calls from earlier periods are
 * ignored.
 */
export type CircuitPass = number;

/**
 * Rejects calls to a failing server, so that callers fail fast and the server can recover. Each `admit` must be
 * followed by exactly one of `succeeded`, `failed` and `abandoned`, with the value that `admit` returned.
 *
 * The breaker has no timer: an open circuit becomes half open when its state is read.
 */
export class CircuitBreaker {
  readonly #config: CircuitConfig;
  readonly #limits: Required<{ [K in keyof CircuitOptions]: number }>;
  /** The last outcomes, oldest first; true for a failure. At most `window` of them. */
  readonly #outcomes: boolean[] = [];
  #state: CircuitState = "closed";
  #admission: CircuitPass = 0;
  #failuresInARow = 0;
  #successes = 0;
  #trials = 0;
  #openedAt = 0;

  constructor(config: CircuitConfig, options?: CircuitOptions) {
    checkOptions("the circuit", options, "failures failureRate window openMs trials successes");
    const limits = withDefaults(DEFAULTS, options);
    for (const name of ["failures", "window", "trials", "successes"] as const)
      checkNumber(name, limits[name], { min: 1 });
    checkNumber("openMs", limits.openMs, { min: 0 });
    checkNumber("failureRate", limits.failureRate, { min: 0.01, max: 1, fractions: true });
    this.#config = config;
    this.#limits = limits;
  }

  get state(): CircuitState {
    const { platform } = this.#config;
    if (this.#state === "open" && platform.monotonic() - this.#openedAt >= this.#limits.openMs) this.#on("time_passed");
    return this.#state;
  }

  /**
   * Milliseconds until a call may pass; 0 if a call may pass now. While all allowed trial calls are running, this is
   * `openMs`, because their end is unknown.
   */
  get retryAfterMs(): number {
    const { state } = this;
    if (state === "open") return Math.ceil(this.#openedAt + this.#limits.openMs - this.#config.platform.monotonic());
    return state === "half_open" && this.#trials >= this.#limits.trials ? this.#limits.openMs : 0;
  }

  /** Admits a call, or throws `limit_exceeded` with the time to wait. */
  admit(): CircuitPass {
    if (this.#state === "closed") return this.#admission;
    const { retryAfterMs } = this;
    if (retryAfterMs > 0) throw this.#refusal(retryAfterMs);
    this.#trials++;
    return this.#admission;
  }

  /** Records a call that the server answered, with a result or an error. */
  succeeded(admission: CircuitPass): void {
    if (!this.#endCall(admission)) return;
    this.#failuresInARow = 0;
    if (this.#state === "closed") return this.#record(false);
    this.#successes++;
    this.#on(this.#successes >= this.#limits.successes ? "last_success" : "success");
  }

  /** Records a call whose error is a failure of the server, according to `isServerFailure`. */
  failed(admission: CircuitPass): void {
    if (!this.#endCall(admission)) return;
    this.#failuresInARow++;
    this.#record(true);
    this.#on(this.#isTooMuch() ? "last_failure" : "failure");
  }

  /** Records a call that ended without evidence about the server, for example by cancellation. */
  abandoned(admission: CircuitPass): void {
    this.#endCall(admission);
  }

  /** Closes the circuit and forgets all outcomes, for a new connection. */
  reset(): void {
    this.#enter("closed");
  }

  /** Ends a call, and frees its place if it was a trial. Returns true if the outcome of the call counts. */
  #endCall(admission: CircuitPass): boolean {
    if (admission !== this.#admission || this.#state === "open") return false;
    if (this.#state === "half_open") this.#trials--;
    return true;
  }

  #record(failed: boolean): void {
    this.#outcomes.push(failed);
    if (this.#outcomes.length > this.#limits.window) this.#outcomes.shift();
  }

  #isTooMuch(): boolean {
    const { failures, failureRate, window } = this.#limits;
    if (this.#failuresInARow >= failures) return true;
    if (this.#outcomes.length < window) return false;
    return this.#outcomes.filter(Boolean).length >= failureRate * window;
  }

  #on(event: CircuitEvent): void {
    const next = CIRCUIT_TRANSITIONS[this.#state][event];
    if (next !== this.#state) this.#enter(next);
  }

  #enter(to: CircuitState): void {
    const from = this.#state;
    this.#state = to;
    this.#admission++;
    this.#outcomes.length = 0;
    this.#failuresInARow = 0;
    this.#successes = 0;
    this.#trials = 0;
    if (to === "open") this.#openedAt = this.#config.platform.monotonic();
    const { onChange, platform } = this.#config;
    if (onChange !== undefined && from !== to) callHook(platform, "onChange", () => onChange({ from, to }));
  }

  #refusal(retryAfterMs: number): McpError {
    const { server } = this.#config;
    const why =
      this.#state === "open"
        ? `its last calls failed; the next one may pass in ${retryAfterMs} ms`
        : "it failed before, and a trial call is still running";
    return new McpError("limit_exceeded", `calls to the server "${server}" are rejected for now: ${why}`, {
      data: { limit: "circuit", server, state: this.#state, retryAfterMs },
      fix: `Call again after \`data.retryAfterMs\`; see the last error of the server "${server}" for the cause.`,
    });
  }
}

/** Failures of a connection, as opposed to answers of a server. */
const CONNECTION_FAILURES: ReadonlySet<string> = new Set([
  "connection_closed",
  "session_lost",
  "connect_failed",
  "timeout",
]);

/**
 * True if a call failed because its server could not be reached, did not answer in time, or answered with an HTTP
 * status of 500 or above. Any other answer shows that the server works: a tool's own error, an unknown method, or a
 * lower HTTP status. A cancellation is not a failure of the server.
 */
export function isServerFailure(error: unknown): boolean {
  if (!McpError.is(error) || error.remote) return false;
  if (error.kind === "transport_error") return (statusOf(error.data) ?? 500) >= 500;
  return CONNECTION_FAILURES.has(error.kind);
}

function statusOf(data: unknown): number | undefined {
  if (typeof data !== "object" || data === null || !("status" in data)) return undefined;
  return typeof data.status === "number" ? data.status : undefined;
}
