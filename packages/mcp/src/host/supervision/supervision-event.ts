import type { RemoveListener } from "../../client/contract/events.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import type { ChildEvent, ChildState, SupervisorEvent, SupervisorState } from "./state-table.js";

interface Happened {
  /** The names of the supervisors from the outermost to this one, joined by `/`. */
  readonly supervisor: string;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
}

/** A child took a step of `CHILD_TRANSITIONS`. */
export interface ChildChanged extends Happened {
  readonly type: "child";
  readonly child: string;
  readonly from: ChildState;
  readonly event: ChildEvent;
  readonly to: ChildState;
  /** Why it ended, after `crash`, `finish` and `exceed`. */
  readonly reason?: string;
  readonly error?: unknown;
  /** How often it was started after the first time. */
  readonly restarts: number;
}

/** A supervisor took a step of `SUPERVISOR_TRANSITIONS`. */
export interface SupervisorChanged extends Happened {
  readonly type: "supervisor";
  readonly from: SupervisorState;
  readonly event: SupervisorEvent;
  readonly to: SupervisorState;
  /** Why it ends. */
  readonly reason?: string;
  readonly error?: unknown;
}

/** A start or a stop did not end in time, and nobody waits for it any longer. An instance that still comes of it is stopped. */
export interface LeftBehind extends Happened {
  readonly type: "left_behind";
  readonly child: string;
  readonly what: "start" | "stop";
  readonly afterMs: number;
}

/** All that a supervisor tells of, by `type`. */
export type SupervisionEvent = ChildChanged | SupervisorChanged | LeftBehind;

/** What can be listened to: one type of event, or `any`. */
export interface SupervisionEvents {
  child: ChildChanged;
  supervisor: SupervisorChanged;
  left_behind: LeftBehind;
  any: SupervisionEvent;
}

/**
 * Tells listeners of events, in order and in a turn of their own: what a listener calls never meets a supervisor in the
 * middle of a step.
 */
export class SupervisionListeners {
  readonly #platform: Platform;
  readonly #onEvent: ((event: SupervisionEvent) => void) | undefined;
  readonly #listeners = new Map<string, Set<(event: never) => void>>();
  #queue: SupervisionEvent[] = [];

  constructor(platform: Platform, onEvent: ((event: SupervisionEvent) => void) | undefined) {
    this.#platform = platform;
    this.#onEvent = onEvent;
  }

  /** Adds a listener. Returns what removes it. */
  add<T extends keyof SupervisionEvents>(type: T, listener: (event: SupervisionEvents[T]) => void): RemoveListener {
    // Of its own, so that a function that was added twice is also called twice and removed one by one.
    const own = (event: SupervisionEvents[T]) => listener(event);
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(own));
    const leave = () => void listeners.delete(own);
    return Object.assign(leave, { [Symbol.dispose]: leave });
  }

  tell(event: SupervisionEvent): void {
    this.#queue.push(event);
    if (this.#queue.length === 1) void Promise.resolve().then(() => this.#flush());
  }

  #flush(): void {
    for (const event of this.#queue.splice(0)) {
      if (this.#onEvent !== undefined) callHook(this.#platform, "onEvent", () => this.#onEvent?.(event));
      for (const type of [event.type, "any"]) {
        for (const listener of [...(this.#listeners.get(type) ?? [])]) {
          // Safe: listeners stand under the type of the events that they take.
          callHook(this.#platform, `on("${type}")`, () => (listener as (event: SupervisionEvent) => void)(event));
        }
      }
    }
  }
}
