import type { Id, NotificationMessage, Params } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { Notifications } from "../../protocol/features/method-types.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { ClientEvents, RemoveListener } from "../contract/events.js";

type Listener = (value: never, about?: Id) => void;

/**
 * The member that each of these notifications must have, with the type of the member. A notification without this
 * member is ignored with a warning.
 */
const REQUIRED: Readonly<Record<string, readonly [member: string, type: string]>> = {
  "notifications/progress": ["progress", "number"],
  "notifications/message": ["level", "string"],
  "notifications/resources/updated": ["uri", "string"],
  "notifications/elicitation/complete": ["elicitationId", "string"],
  "notifications/subscriptions/acknowledged": ["notifications", "object"],
};

/** Events of the client itself. A server cannot emit them with notifications of these names. */
const OWN_EVENTS: ReadonlySet<string> = new Set<Exclude<keyof ClientEvents, keyof Notifications>>([
  "notification",
  "unknown",
  "session.recovered",
  "session.mode",
  "state",
  "fault",
]);

/**
 * If a listener runs synchronously for longer than this, the client warns, because meanwhile it reads no messages from
 * the connection. The limit is longer than the delays that garbage collection causes.
 */
const SLOW_LISTENER_MS = 50;

/** Dispatches notifications and events to their listeners, in order of arrival. */
export class NotificationRouter {
  readonly #methods: MethodTable;
  readonly #warn: (message: string) => void;
  readonly #monotonic: () => number;
  readonly #listeners = new Map<string, Set<Listener>>();
  /** Listeners already reported as slow. */
  readonly #slow = new WeakSet<Listener>();

  constructor(methods: MethodTable, warn: (message: string) => void, monotonic: () => number) {
    this.#methods = methods;
    this.#warn = warn;
    this.#monotonic = monotonic;
  }

  on(event: string, listener: Listener): RemoveListener {
    const own: Listener = (value, about) => listener(value, about);
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(own));
    const off = () => void listeners.delete(own);
    return Object.assign(off, { [Symbol.dispose]: off });
  }

  /**
   * Calls the listeners of a notification's method, and those of `unknown` if neither the protocol nor an extension
   * defines the method as a notification. `about` is the related request, if known.
   */
  route(message: NotificationMessage, about?: Id): void {
    const { method, params = {} } = message;
    const row = this.#methods.get(method);
    const known = row?.kind === "notification";
    if (known && !isSound(method, params)) return this.#warn(`the server sent a malformed ${method}`);
    this.emit("notification", message);
    if (!OWN_EVENTS.has(method)) this.#dispatch(method, params, about);
    if (!known) this.emit("unknown", message);
  }

  emit<E extends "notification" | "unknown" | "session.recovered" | "session.mode" | "state" | "fault">(
    event: E,
    value: ClientEvents[E],
  ): void {
    this.#dispatch(event, value);
  }

  #dispatch(event: string, value: unknown, about?: Id): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      const start = this.#monotonic();
      // Safe: `on` accepts only listeners for the type of the event.
      callHook(this.#warn, `on("${event}")`, () => listener(value as never, about));
      const tookMs = this.#monotonic() - start;
      if (tookMs > SLOW_LISTENER_MS) this.#reportSlow(event, listener, tookMs);
    }
  }

  #reportSlow(event: string, listener: Listener, tookMs: number): void {
    if (this.#slow.has(listener)) return;
    this.#slow.add(listener);
    this.#warn(
      `a listener of on("${event}") ran for ${Math.round(tookMs)} ms, and no message was read meanwhile; ` +
        "use `client.notifications()` for slow work",
    );
  }
}

/**
 * Returns the published name of a notification. Some older servers omit the prefix or write `listChanged`:
 * `resources/updated`, `tools/listChanged`, `progress`. Other names are returned unchanged.
 */
export function publishedName(methods: MethodTable, method: string): string {
  if (methods.get(method) !== undefined) return method;
  const name = `notifications/${method.replace(/^notifications\//, "").replace(/\/listChanged$/, "/list_changed")}`;
  const row = methods.get(name);
  return row?.kind === "notification" && row.sender !== "client" ? name : method;
}

function isSound(method: string, params: Params): boolean {
  const required = Object.hasOwn(REQUIRED, method) ? REQUIRED[method] : undefined;
  return required === undefined || typeof params[required[0]] === required[1];
}
