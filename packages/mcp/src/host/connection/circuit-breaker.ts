import { withDefaults } from "../../encoding/with-defaults.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { checkNumber } from "./check-number.js";

/** `closed` lets calls pass, `open` refuses them, `half_open` lets a few pass to learn whether the server is back. */
export type CircuitState = "closed" | "open" | "half_open";

/**
 * What a circuit reacts to. A `failure` is tolerated, a `last_failure` is one too many; a `success` is not enough to close a
 * circuit, a `last_success` is; `time_passed` once the circuit was open for long enough.
 */
export type CircuitEvent = "success" | "last_success" | "failure" | "last_failure" | "time_passed";

/** The state that follows each state and event. */
export const CIRCUIT_TRANSITIONS: Readonly<Record<CircuitState, Readonly<Record<CircuitEvent, CircuitState>>>> = {
  closed: {
    success: "closed",
    last_success: "closed",
    failure: "closed",
    last_failure: "open",
    time_passed: "closed",
  },
  // Calls that began before may end now; what becomes of them is not news.
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

/** When a circuit opens and closes. */
export interface CircuitOptions {
  /** Failures in a row that open it. Default 5. */
  failures?: number | undefined;
  /** The share of failures among the last `window` calls that opens it, 0.01 to 1. Default 0.5. */
  failureRate?: number | undefined;
  /** How many calls `failureRate` looks back on; fewer calls than this have no rate. Default 10. */
  window?: number | undefined;
  /** How long it stays open before it lets a call pass again. Default 60,000. */
  openMs?: number | undefined;
  /** How many calls may be under way while it is half open. Default 1. */
  trials?: number | undefined;
  /** Successes in a row that close it when it is half open. Default 2. */
  successes?: number | undefined;
}

/** A change of a circuit's state. */
export interface CircuitChange {
  readonly from: CircuitState;
  readonly to: CircuitState;
}

/** What a circuit needs from its owner. */
export interface CircuitParts {
  readonly platform: Pick<Platform, "monotonic" | "warn">;
  /** The server's name, for errors. */
  readonly server: string;
  /** Called after each change, with the state already changed. */
  readonly onChange?: ((change: CircuitChange) => void) | undefined;
}

const DEFAULTS = { failures: 5, failureRate: 0.5, window: 10, openMs: 60_000, trials: 1, successes: 2 };

/** Which opening of the circuit a call belongs to: the outcome of a call from before says nothing about the time after. */
export type CircuitPass = number;

/**
 * Refuses the calls of a server that fails, so that callers learn it at once and the server can recover. Each `admit` is
 * followed by exactly one of `succeeded`, `failed` and `abandoned`, with what `admit` returned.
 *
 * It has no timer: an open circuit becomes half open when somebody looks.
 */
export class CircuitBreaker {
  readonly #parts: CircuitParts;
  readonly #limits: Required<{ [K in keyof CircuitOptions]: number }>;
  /** The last outcomes, oldest first; true for a failure. At most `window` of them. */
  readonly #outcomes: boolean[] = [];
  #state: CircuitState = "closed";
  #admission: CircuitPass = 0;
  #failuresInARow = 0;
  #successes = 0;
  #trials = 0;
  #openedAt = 0;

  constructor(parts: CircuitParts, options?: CircuitOptions) {
    checkOptions("the circuit", options, "failures failureRate window openMs trials successes");
    const limits = withDefaults(DEFAULTS, options);
    for (const name of ["failures", "window", "trials", "successes"] as const)
      checkNumber(name, limits[name], { least: 1 });
    checkNumber("openMs", limits.openMs, { least: 0 });
    checkNumber("failureRate", limits.failureRate, { least: 0.01, most: 1, fractions: true });
    this.#parts = parts;
    this.#limits = limits;
  }

  get state(): CircuitState {
    const { platform } = this.#parts;
    if (this.#state === "open" && platform.monotonic() - this.#openedAt >= this.#limits.openMs) this.#on("time_passed");
    return this.#state;
  }

  /** How long until a call may pass; 0 if one may now. Unknown, and then `openMs`, while the trials are under way. */
  get retryAfterMs(): number {
    const { state } = this;
    if (state === "open") return Math.ceil(this.#openedAt + this.#limits.openMs - this.#parts.platform.monotonic());
    return state === "half_open" && this.#trials >= this.#limits.trials ? this.#limits.openMs : 0;
  }

  /** Lets a call pass, or throws `limit_exceeded` with the time to wait. */
  admit(): CircuitPass {
    if (this.#state === "closed") return this.#admission;
    const { retryAfterMs } = this;
    if (retryAfterMs > 0) throw this.#refusal(retryAfterMs);
    this.#trials++;
    return this.#admission;
  }

  /** A call was answered, with an error or without. */
  succeeded(admission: CircuitPass): void {
    if (!this.#ended(admission)) return;
    this.#failuresInARow = 0;
    if (this.#state === "closed") return this.#note(false);
    this.#successes++;
    this.#on(this.#successes >= this.#limits.successes ? "last_success" : "success");
  }

  /** A call failed by `isServerFailure`. */
  failed(admission: CircuitPass): void {
    if (!this.#ended(admission)) return;
    this.#failuresInARow++;
    this.#note(true);
    this.#on(this.#isTooMuch() ? "last_failure" : "failure");
  }

  /** A call ended without telling anything about the server, by cancellation for example. */
  abandoned(admission: CircuitPass): void {
    this.#ended(admission);
  }

  /** Forgets everything and closes: the connection is a new one. */
  reset(): void {
    this.#enter("closed");
  }

  /** Whether the outcome of this call counts; ends its trial if it was one. */
  #ended(admission: CircuitPass): boolean {
    if (admission !== this.#admission || this.#state === "open") return false;
    if (this.#state === "half_open") this.#trials--;
    return true;
  }

  #note(failed: boolean): void {
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
    if (to === "open") this.#openedAt = this.#parts.platform.monotonic();
    const { onChange, platform } = this.#parts;
    if (onChange !== undefined && from !== to) callHook(platform, "onChange", () => onChange({ from, to }));
  }

  #refusal(retryAfterMs: number): McpError {
    const { server } = this.#parts;
    const why =
      this.#state === "open"
        ? `its last calls failed; the next one may pass in ${retryAfterMs} ms`
        : "it failed before, and a call that shows whether it is back is under way";
    return new McpError("limit_exceeded", `the server "${server}" gets no calls for now: ${why}`, {
      data: { limit: "circuit", server, state: this.#state, retryAfterMs },
      fix: `Call again after \`data.retryAfterMs\`; see the last error of the server "${server}" for what to repair.`,
    });
  }
}

/** What becomes of a connection, as opposed to what a server answers. */
const LOST: ReadonlySet<string> = new Set(["connection_closed", "session_lost", "connect_failed", "timeout"]);

/**
 * Whether a call failed because its server could not be reached or did not answer in time. An answer is none, whatever it
 * says: a tool's own error, a refusal (also one by an HTTP status below 500) or an unknown method show that a server lives.
 * A cancellation says nothing about it.
 */
export function isServerFailure(error: unknown): boolean {
  if (!McpError.is(error) || error.remote) return false;
  if (error.kind === "transport_error") return (statusOf(error.data) ?? 500) >= 500;
  return LOST.has(error.kind);
}

function statusOf(data: unknown): number | undefined {
  if (typeof data !== "object" || data === null || !("status" in data)) return undefined;
  return typeof data.status === "number" ? data.status : undefined;
}
