import type { RemoveListener } from "../../client/contract/events.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import type { ChildEvent, ChildState, SupervisorEvent, SupervisorState } from "./state-table.js";

interface SupervisionEventBase {
  /** The names of the supervisors from the outermost to this one, joined by `/`. */
  readonly supervisor: string;
  /** The time of the event, in milliseconds since the epoch. */
  readonly at: number;
}

/** A transition of a child; see `CHILD_TRANSITIONS`. */
export interface ChildChanged extends SupervisionEventBase {
  /** The type of the event. */
  readonly type: "child";
  /** The id of the child. */
  readonly child: string;
  /** The state before. */
  readonly from: ChildState;
  /** The event that caused the transition. */
  readonly event: ChildEvent;
  /** The state after. */
  readonly to: ChildState;
  /** The reason for the end, after `crash`, `finish` and `exceed`. */
  readonly reason?: string;
  /** The error that ended the child; absent if there was none. */
  readonly error?: unknown;
  /** Number of starts after the first one. */
  readonly restarts: number;
}

/** A transition of a supervisor; see `SUPERVISOR_TRANSITIONS`. */
export interface SupervisorChanged extends SupervisionEventBase {
  /** The type of the event. */
  readonly type: "supervisor";
  /** The state before. */
  readonly from: SupervisorState;
  /** The event that caused the transition. */
  readonly event: SupervisorEvent;
  /** The state after. */
  readonly to: SupervisorState;
  /** The reason for the end, after `close` and `escalate`. */
  readonly reason?: string;
  /** The error that ended the supervisor, after `escalate`. */
  readonly error?: unknown;
}

/**
 * A start or stop that did not finish in time and is no longer waited for. An instance that a late start still creates
 * is stopped.
 */
export interface LeftBehind extends SupervisionEventBase {
  /** The type of the event. */
  readonly type: "left_behind";
  /** The id of the child. */
  readonly child: string;
  /** The operation that did not finish. */
  readonly what: "start" | "stop";
  /** Milliseconds after which the supervisor stopped waiting. */
  readonly afterMs: number;
}

/** Every event of a supervisor, by `type`. */
export type SupervisionEvent = ChildChanged | SupervisorChanged | LeftBehind;

/** The events to subscribe to with `on`: one type of event, or `any`. */
export interface SupervisionEvents {
  /** Transitions of children. */
  child: ChildChanged;
  /** Transitions of supervisors. */
  supervisor: SupervisorChanged;
  /** Starts and stops that did not finish in time. */
  left_behind: LeftBehind;
  /** Events of all types. */
  any: SupervisionEvent;
}

/**
 * Publishes events to listeners, in order and in a separate turn. A listener therefore never sees a supervisor in the
 * middle of a transition.
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

  /** Adds a listener. Returns a function that removes it. */
  add<T extends keyof SupervisionEvents>(type: T, listener: (event: SupervisionEvents[T]) => void): RemoveListener {
    // A wrapper, so that a listener that is added twice is called twice, and each removal removes only one of the two.
    const own = (event: SupervisionEvents[T]) => listener(event);
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(own));
    const leave = () => void listeners.delete(own);
    return Object.assign(leave, { [Symbol.dispose]: leave });
  }

  publish(event: SupervisionEvent): void {
    this.#queue.push(event);
    if (this.#queue.length === 1) void Promise.resolve().then(() => this.#flush());
  }

  #flush(): void {
    for (const event of this.#queue.splice(0)) {
      if (this.#onEvent !== undefined) callHook(this.#platform, "onEvent", () => this.#onEvent?.(event));
      for (const type of [event.type, "any"]) {
        for (const listener of [...(this.#listeners.get(type) ?? [])]) {
          // Safe: listeners are stored under the type of their events.
          callHook(this.#platform, `on("${type}")`, () => (listener as (event: SupervisionEvent) => void)(event));
        }
      }
    }
  }
}
