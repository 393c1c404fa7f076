import type { Principal } from "../../../http/authentication.js";
import type { Timer } from "../../../platform/platform.js";
import { atExpiry } from "../../at-expiry.js";
import { encodeComment, encodeEvent } from "../../framing/sse-encode.js";
import type { HeaderList, OutgoingStream } from "./incoming.js";
import type { ServerState } from "./state.js";

/** Number of consecutive keep-alives with unread data after which the server closes the connection. */
const STUCK_TIMES = 4;
/** Maximum unread bytes of a client that still counts as reading. So few bytes may be only keep-alive comments. */
const STUCK_BYTES = 1024;

export const SSE_HEADERS: HeaderList = [
  "content-type",
  "text/event-stream",
  // `no-transform` stops proxies from compressing events, which would delay them.
  "cache-control",
  "no-cache, no-transform",
  "x-accel-buffering",
  "no",
];

/**
 * One open event stream to one client. Comments keep the stream alive. The server closes it when the client stops
 * reading or the client's credentials expire.
 */
export class SseConnection {
  readonly #state: ServerState;
  readonly #out: OutgoingStream;
  #expiry: Timer | undefined;
  readonly #finished: () => void;
  #open = true;
  /** Consecutive keep-alives at which the client had unread data. */
  #stuck = 0;
  /** Called once when the connection ends in any other way than by `end`. */
  onLost: (() => void) | undefined;

  constructor(state: ServerState, out: OutgoingStream, principal: Principal | undefined, finished: () => void) {
    this.#state = state;
    this.#out = out;
    this.#finished = finished;
    state.connections.add(this);
    state.keepAlive.touch(this);
    if (principal !== undefined) this.#expiry = atExpiry(state.platform, principal, () => this.lose());
  }

  get open(): boolean {
    return this.#open;
  }

  /** Sends one message, in an event without an id. */
  message(text: string): void {
    this.write(encodeEvent({ data: text }));
  }

  /** Ends the stream normally, after a last message if there is one. */
  finish(text: string | undefined): void {
    if (text !== undefined) this.message(text);
    this.end();
  }

  /** Writes whole events. */
  write(frames: string): void {
    if (!this.#open) return;
    this.#state.keepAlive.touch(this);
    if (this.#out.write(frames) > this.#state.limits.maxQueuedBytes) this.#cut();
  }

  /** Sends a keep-alive comment. Closes the stream if the client had unread data at several keep-alives in a row. */
  sendKeepAlive(): void {
    if (!this.#open) return;
    this.#state.keepAlive.touch(this);
    const waiting = this.#out.write(encodeComment(""));
    this.#stuck = waiting > STUCK_BYTES ? this.#stuck + 1 : 0;
    if (this.#stuck >= STUCK_TIMES) this.#cut();
  }

  /** Ends the stream normally. */
  end(): void {
    if (!this.#open) return;
    this.#close();
    this.#out.end();
  }

  /** Ends the stream because the client has disconnected, or its credentials have expired. */
  lose(): void {
    if (!this.#open) return;
    this.#close();
    this.#out.end();
    this.onLost?.();
  }

  #cut(): void {
    this.#close();
    this.#out.cut();
    this.onLost?.();
  }

  #close(): void {
    this.#open = false;
    this.#state.connections.delete(this);
    this.#state.keepAlive.drop(this);
    this.#expiry?.cancel();
    this.#finished();
  }
}
