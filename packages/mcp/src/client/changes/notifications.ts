import type { Id, NotificationMessage, Params } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { McpError } from "../../protocol/error.js";
import type { Notifications } from "../../protocol/method-types.js";
import type { MethodTable } from "../../protocol/methods.js";
import type { ConnectionState } from "../connection/connection-state.js";

/** The connection changed its state. */
export interface StateChange {
  state: ConnectionState;
  reason: Error | undefined;
}

/** A lost connection stands again, with everything that was subscribed. */
export interface Recovered {
  /** Why it was lost. */
  reason: McpError;
  protocolVersion: string;
}

/** Whether the listed tools of a server need a session: `optional` while all of them are stateless. */
export type SessionMode = "optional" | "required";

/** Everything a client can be listened to for, with what listeners are given. */
export interface ClientEvents extends Notifications {
  /** Every notification, whatever its method, before those who listen by method are told. */
  notification: NotificationMessage;
  /** A notification that no known method names. */
  unknown: NotificationMessage;
  "session.recovered": Recovered;
  /** What the tools that the server lists need of a session has changed. */
  "session.mode": SessionMode;
  state: StateChange;
  /** The server sent something that is not a message, or that it must not send. */
  fault: Error;
}

/** Ends the listening; also usable with `using`. */
export interface Unlisten extends Disposable {
  (): void;
}

type Listener = (value: never, about?: Id) => void;

/** The member that a listener of a notification may rely on, and its type. */
const REQUIRED: Readonly<Record<string, readonly [member: string, type: string]>> = {
  "notifications/progress": ["progress", "number"],
  "notifications/message": ["level", "string"],
  "notifications/resources/updated": ["uri", "string"],
  "notifications/elicitation/complete": ["elicitationId", "string"],
  "notifications/subscriptions/acknowledged": ["notifications", "object"],
};

/** Hands notifications and events to those who listen for them, in the order of their arrival. */
export class NotificationRouter {
  readonly #methods: MethodTable;
  readonly #warn: (message: string) => void;
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(methods: MethodTable, warn: (message: string) => void) {
    this.#methods = methods;
    this.#warn = warn;
  }

  on(event: string, listener: Listener): Unlisten {
    const own: Listener = (value, about) => listener(value, about);
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(own));
    const off = () => void listeners.delete(own);
    return Object.assign(off, { [Symbol.dispose]: off });
  }

  /** Tells listeners of a notification by its method, or those of `unknown`; `about` is the request that it belongs to, if known. */
  route(message: NotificationMessage, about?: Id): void {
    const { method, params = {} } = message;
    const row = this.#methods.get(method);
    const known = row?.kind === "notification";
    if (known && !isSound(method, params)) return this.#warn(`the server sent a malformed ${method}`);
    this.emit("notification", message);
    if (known) this.#tell(method, params, about);
    else this.emit("unknown", message);
  }

  emit<E extends "notification" | "unknown" | "session.recovered" | "session.mode" | "state" | "fault">(
    event: E,
    value: ClientEvents[E],
  ): void {
    this.#tell(event, value);
  }

  #tell(event: string, value: unknown, about?: Id): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      // `on` ties each event to what its listeners take.
      callHook(this.#warn, `on("${event}")`, () => listener(value as never, about));
    }
  }
}

function isSound(method: string, params: Params): boolean {
  const required = Object.hasOwn(REQUIRED, method) ? REQUIRED[method] : undefined;
  return required === undefined || typeof params[required[0]] === required[1];
}
