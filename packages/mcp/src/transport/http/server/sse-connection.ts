import { encodeComment } from "../../framing/sse-encode.js";
import type { Principal } from "../../transport.js";
import type { OutgoingStream } from "./incoming.js";
import type { ServerState } from "./state.js";

/** A reader that took nothing for this many silences in a row is gone, though its connection is not. */
const STUCK_TIMES = 4;
/** A comment itself may still be under way. */
const STUCK_BYTES = 1024;

/** One open event stream to one client. Kept alive by comments; closed when its reader stops reading. */
export class SseConnection {
  readonly #state: ServerState;
  readonly #out: OutgoingStream;
  readonly #principal: Principal | undefined;
  readonly #finished: () => void;
  #open = true;
  /** How often in a row something waited for the reader when the stream had been quiet. */
  #stuck = 0;
  /** Called once when the connection ends for another reason than `end`. */
  onLost: (() => void) | undefined;

  constructor(state: ServerState, out: OutgoingStream, principal: Principal | undefined, finished: () => void) {
    this.#state = state;
    this.#out = out;
    this.#principal = principal;
    this.#finished = finished;
    state.connections.add(this);
    state.keepAlive.touch(this);
  }

  get open(): boolean {
    return this.#open;
  }

  /** Writes whole events. */
  write(frames: string): void {
    if (!this.#open) return;
    this.#state.keepAlive.touch(this);
    if (this.#out.write(frames) > this.#state.limits.maxQueuedBytes) this.#cut();
  }

  /** Sends a comment after a silence; closes a stream that nobody reads, or whose reader's credentials have ended. */
  quiet(): void {
    if (!this.#open) return;
    const expiry = this.#principal?.expiresAt;
    if (expiry !== undefined && expiry <= this.#state.platform.now()) return this.lose();
    this.#state.keepAlive.touch(this);
    const waiting = this.#out.write(encodeComment(""));
    this.#stuck = waiting > STUCK_BYTES ? this.#stuck + 1 : 0;
    if (this.#stuck >= STUCK_TIMES) this.#cut();
  }

  /** Ends the stream in an orderly way. */
  end(): void {
    if (!this.#open) return;
    this.#close();
    this.#out.end();
  }

  /** The client left, or has to leave. */
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
    this.#finished();
  }
}
