import type { NotificationMessage } from "../../jsonrpc/message.js";
import type { McpError } from "../../protocol/error.js";
import type { Notifications } from "../../protocol/features/method-types.js";

/**
 * The state of a client's connection. `recovering`: the connection was lost and is being reopened. `disconnected`: the
 * connection is not open. After a loss, the next call may reopen it.
 */
export type ConnectionState = "disconnected" | "connecting" | "ready" | "recovering" | "closed";

/** A change of the connection's state. */
export interface StateChange {
  /** The new state. */
  state: ConnectionState;
  /** The error that caused the change, if any. */
  reason: Error | undefined;
}

/** A lost connection is ready again, with all subscriptions. */
export interface SessionRecovery {
  /** The error that ended the old connection. */
  reason: McpError;
  /** The protocol revision of the new connection. */
  protocolVersion: string;
}

/** `required` if any listed tool needs a session, `optional` if all of them are stateless. */
export type SessionMode = "optional" | "required";

/**
 * The events of a client, each with the value that its listeners receive. Notifications are events by their method.
 */
export interface ClientEvents extends Notifications {
  /** Any notification, before the listeners of its method run. */
  notification: NotificationMessage;
  /** A notification of an unknown method. */
  unknown: NotificationMessage;
  /** A lost connection is ready again. */
  "session.recovered": SessionRecovery;
  /** The listed tools of the server began or ceased to need a session. */
  "session.mode": SessionMode;
  /** The state of the connection changed. */
  state: StateChange;
  /** The server sent something that is not a message, or a message that it must not send. */
  fault: Error;
}

/** Removes a listener. Also usable with `using`. */
export interface RemoveListener extends Disposable {
  /** Removes the listener. */
  (): void;
}
