import type { NotificationMessage } from "../../jsonrpc/message.js";
import type { McpError } from "../../protocol/error.js";
import type { Notifications } from "../../protocol/features/method-types.js";

/** The state of a client's connection. */
export type ConnectionState = "disconnected" | "connecting" | "ready" | "recovering" | "closed";

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
