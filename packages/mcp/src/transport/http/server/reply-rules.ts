import type { Id } from "../../../jsonrpc/message.js";
import type { Outgoing, Peer } from "../../transport.js";
import type { SseConnection } from "./sse-connection.js";
import type { RunningRequest } from "./state.js";

/** The open stream of a reply. Messages are sent in order. */
export interface ReplyStream {
  message(text: string): void;
  /** Ends the stream, after `text` if there is one. */
  finish(text: string | undefined): void;
  /** Closes the connection but not the stream. */
  pause?(retryMs: number): void;
}

/** What a reply needs from the session of its requests. */
export interface ReplySession extends Peer {
  readonly ended: boolean;
  /** Whether the client treats a closed connection as a pause and reconnects. */
  readonly primes: boolean;
  /** Set while a change of the session is being stored; answers wait for it, so that clients can rely on them. */
  readonly saving: Promise<unknown> | undefined;
  /** Sends a request to the client with `send`, and waits for the POST that answers it. */
  askOn(request: Outgoing, send: (text: string) => void, signal?: AbortSignal): Promise<unknown>;
  /** Its requests without an answer. */
  readonly requests: Map<Id, RunningRequest> | undefined;
}

/** How the requests of one POST are replied to. */
export interface ReplyRules {
  /**
   * Whether the client cancels by closing its connection.
   *
   * Spec: Streamable HTTP, "Cancellation",
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation
   */
  readonly leavingCancels: boolean;
  readonly session?: ReplySession;
  /** Puts the reply to these requests on a stream that outlives its connection; otherwise the connection is the stream. */
  openStream?(connection: SseConnection, requests: readonly Id[]): ReplyStream;
}

/** For requests outside sessions. */
export const ALONE: ReplyRules = { leavingCancels: true };

/** For clients of the stateful era without a session: in their revisions a disconnect does not cancel. */
export const WITHOUT_SESSION: ReplyRules = { leavingCancels: false };
