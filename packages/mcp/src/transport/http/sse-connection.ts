import { encodeComment } from "../framing/sse.js";
import type { Principal } from "../transport.js";
import type { OutgoingStream } from "./incoming.js";
import type { ServerState } from "./server-state.js";

/** One open event stream to one client. Kept alive by comments; closed when its reader stops reading. */
export class SseConnection {
  readonly #state: ServerState;
  readonly #out: OutgoingStream;
  readonly #principal: Principal | undefined;
  readonly #finished: () => void;
  #open = true;
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
    if (this.#out.write(frames) > this.#state.limits.maxStreamBuffer) this.lose();
  }

  /** Sends a comment after a silence, or closes a stream whose caller's credentials have ended. */
  quiet(): void {
    const expiry = this.#principal?.expiresAt;
    if (expiry !== undefined && expiry <= this.#state.platform.now()) this.lose();
    else this.write(encodeComment(""));
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

  #close(): void {
    this.#open = false;
    this.#state.connections.delete(this);
    this.#state.keepAlive.drop(this);
    this.#finished();
  }
}
