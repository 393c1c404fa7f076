import { McpError } from "../../protocol/error.js";
import type { ConnectionState } from "../contract/events.js";

/** An event that changes the state of a connection. */
export type ConnectionEvent = "connect" | "established" | "lost" | "failed" | "close";

/** An allowed change of state. */
export interface Transition {
  readonly from: ConnectionState;
  readonly event: ConnectionEvent;
  readonly to: ConnectionState;
  /** The condition of the change, for the documentation. */
  readonly when: string;
}

/** All changes of state that a connection can make. */
export const TRANSITIONS: readonly Transition[] = [
  {
    from: "disconnected",
    event: "connect",
    to: "connecting",
    when: "the transport is opened and the handshake begins",
  },
  { from: "disconnected", event: "close", to: "closed", when: "the user closes a client that is not connected" },
  { from: "connecting", event: "established", to: "ready", when: "the era is known and the handshake succeeded" },
  { from: "connecting", event: "failed", to: "disconnected", when: "no handshake succeeded before the deadline" },
  { from: "connecting", event: "close", to: "closed", when: "the user closes the client during the handshake" },
  {
    from: "ready",
    event: "lost",
    to: "recovering",
    when: "the server forgot the session, or the pipe ended and can be reopened",
  },
  { from: "ready", event: "failed", to: "disconnected", when: "the connection ended and cannot be reopened" },
  { from: "ready", event: "close", to: "closed", when: "the user closes the client" },
  {
    from: "recovering",
    event: "established",
    to: "ready",
    when: "the new handshake succeeded and the subscriptions are restored",
  },
  {
    from: "recovering",
    event: "lost",
    to: "recovering",
    when: "another call reports the same loss; all share one recovery",
  },
  { from: "recovering", event: "failed", to: "disconnected", when: "the new handshake failed" },
  { from: "recovering", event: "close", to: "closed", when: "the user closes the client during the recovery" },
  { from: "closed", event: "close", to: "closed", when: "the client is closed a second time" },
];

/**
 * Returns the state after `event`. Throws `internal_error` for a change that is not in the table, which is a bug of the
 * caller.
 */
export function transition(state: ConnectionState, event: ConnectionEvent): ConnectionState {
  for (const row of TRANSITIONS) if (row.from === state && row.event === event) return row.to;
  throw new McpError("internal_error", `a connection that is ${state} cannot handle the event "${event}"`, {
    fix: "Report this bug of the library, with the steps that led to it.",
    data: { state, event },
  });
}
