import type { Id } from "../../../jsonrpc/message.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { Outgoing, Peer } from "../../transport.js";
import type { SseConnection } from "./sse-connection.js";
import type { RunningRequest } from "./state.js";

/** The open stream of a reply; what is written on it goes out in order. */
export interface ReplyStream {
  message(text: string): void;
  /** Ends the stream after `text`, or without a last message. */
  finish(text: string | undefined): void;
  /** Closes the connection under a stream that goes on. */
  pause?(retryMs: number): void;
}

/** What a reply needs of the session to which its requests belong. */
export interface ReplySession extends Peer {
  /** Whether a client takes a closed connection for a pause and comes back. */
  readonly primes: boolean;
  /** Set while a change of the session is being stored; answers wait for it, so that clients can rely on them. */
  readonly saving: Promise<void> | undefined;
  /** Sends a request to the client by `send`, and waits for the POST that answers it. */
  askOn(request: Outgoing, send: (text: string) => void, signal?: AbortSignal): Promise<unknown>;
  /** Its requests that have no answer yet. */
  readonly requests: Map<Id, RunningRequest> | undefined;
}

/** How the requests of one POST are replied to. */
export interface ReplyRules {
  /** Whether the client cancels by closing its connection. */
  readonly leavingCancels: boolean;
  readonly session?: ReplySession;
  /** Makes the stream of the reply of what `open` gives; undefined when a limit forbids it. Calls `lost` once nobody can read it. */
  openStream(open: () => SseConnection | undefined, lost: () => void): ReplyStream | undefined;
}

/** For requests that stand alone. */
export const ALONE: ReplyRules = { openStream: openPlainStream, leavingCancels: true };

/** For clients that expect a session and get none: leaving is not their way to cancel. */
export const WITHOUT_SESSION: ReplyRules = { openStream: openPlainStream, leavingCancels: false };

/** A stream without ids: when its connection is gone, so is all that was to be sent. */
function openPlainStream(open: () => SseConnection | undefined, lost: () => void): ReplyStream | undefined {
  const connection = open();
  if (connection === undefined) return undefined;
  connection.onLost = lost;
  return {
    message: (text) => connection.write(encodeEvent({ data: text })),
    finish(text) {
      if (text !== undefined) connection.write(encodeEvent({ data: text }));
      connection.end();
    },
  };
}
