import type { Unlisten } from "../../client/contract/events.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import type { SupervisionEvent, SupervisionEvents } from "./supervision-event.js";

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
  add<T extends keyof SupervisionEvents>(type: T, listener: (event: SupervisionEvents[T]) => void): Unlisten {
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
