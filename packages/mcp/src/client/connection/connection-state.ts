import { McpError } from "../../protocol/error.js";
import type { ConnectionState } from "../contract/events.js";

/** What moves a connection from one state to the next. */
export type ConnectionEvent = "connect" | "established" | "lost" | "failed" | "close";

/** One allowed step. */
export interface Transition {
  readonly from: ConnectionState;
  readonly event: ConnectionEvent;
  readonly to: ConnectionState;
  /** When it happens, as the documentation says it. */
  readonly when: string;
}

/** Every step a connection can take; what is not listed here cannot happen. */
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
    when: "the server forgot the session, or the pipe ended and can be opened again",
  },
  { from: "ready", event: "failed", to: "disconnected", when: "the connection ended and may not be opened again" },
  { from: "ready", event: "close", to: "closed", when: "the user closes the client" },
  {
    from: "recovering",
    event: "established",
    to: "ready",
    when: "the new handshake succeeded and subscriptions stand again",
  },
  {
    from: "recovering",
    event: "lost",
    to: "recovering",
    when: "another call reports the same loss; one recovery serves all",
  },
  { from: "recovering", event: "failed", to: "disconnected", when: "the new handshake failed" },
  { from: "recovering", event: "close", to: "closed", when: "the user closes the client during the recovery" },
  { from: "closed", event: "close", to: "closed", when: "the client is closed a second time" },
];

/** The state after `event`. Throws `internal_error` for a step that is not in the table: that is a bug in the caller. */
export function transition(state: ConnectionState, event: ConnectionEvent): ConnectionState {
  for (const row of TRANSITIONS) if (row.from === state && row.event === event) return row.to;
  throw new McpError("internal_error", `a connection that is ${state} cannot take the event "${event}"`, {
    fix: "Report this as a bug of the library, with what the program did just before.",
    data: { state, event },
  });
}
