import type { Id } from "../../../jsonrpc/message.js";
import type { Outgoing, Peer } from "../../transport.js";
import type { SseConnection } from "./sse-connection.js";
import type { RunningRequest } from "./state.js";

/** The open stream of a reply. Messages are sent in order. */
export interface ReplyStream {
  /** Sends one message. */
  message(text: string): void;
  /** Ends the stream, after `text` if there is one. */
  finish(text: string | undefined): void;
  /** Closes the connection but not the stream. The client reconnects after `retryMs`. */
  pause?(retryMs: number): void;
}

/** The part of a session that a reply uses. */
export interface ReplySession extends Peer {
  readonly ended: boolean;
  /** True if the client treats a closed connection as a pause and reconnects. */
  readonly primes: boolean;
  /**
   * Set while the storage saves a change of the session. Answers wait for it, so that clients can rely on the change.
   */
  readonly saving: Promise<unknown> | undefined;
  /** Sends a request to the client with `send` and waits for the POST that answers it. */
  askOn(request: Outgoing, send: (text: string) => void, signal?: AbortSignal): Promise<unknown>;
  /** The requests of the session that have no answer yet. */
  readonly requests: Map<Id, RunningRequest> | undefined;
}

/** The rules for replying to the requests of one POST. */
export interface ReplyRules {
  /**
   * True if the client cancels by closing its connection.
   *
   * Spec: Streamable HTTP, "Cancellation",
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#cancellation
   */
  readonly leavingCancels: boolean;
  readonly session?: ReplySession;
  /**
   * Opens a stream for the reply. This stream outlives its connection. If absent, the connection itself is the stream.
   */
  openStream?(connection: SseConnection, requests: readonly Id[]): ReplyStream;
}

/** The rules for requests of the stateless era. */
export const ALONE: ReplyRules = { leavingCancels: true };

/**
 * The rules for clients of the stateful era without a session. In their revisions a disconnect does not cancel
 * requests.
 */
export const WITHOUT_SESSION: ReplyRules = { leavingCancels: false };
