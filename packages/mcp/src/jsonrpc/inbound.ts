import { LazyAbort } from "./lazy-abort.js";
import type { Id } from "./message.js";

/** What an inbound request needs of its connection. */
export interface InboundOwner<P> {
  readonly peer: P;
  say(text: string): void;
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown>;
}

/** A request on its way out: its id and its whole text. */
export interface OutboundRequest {
  id?: Id | undefined;
  text: string;
}

/** One request that the peer sent and that has no answer yet. What is said after its end is dropped. */
export class InboundRequest<P> {
  readonly id: Id;
  /** True when it came inside a batch array. */
  readonly batched: boolean;
  readonly #owner: InboundOwner<P>;
  #abort: LazyAbort | undefined;
  #ended = false;

  constructor(owner: InboundOwner<P>, id: Id, batched: boolean) {
    this.id = id;
    this.batched = batched;
    this.#owner = owner;
  }

  get peer(): P {
    return this.#owner.peer;
  }

  get signal(): AbortSignal {
    return this.#lazyAbort().signal;
  }

  get aborted(): boolean {
    return this.#abort?.aborted === true;
  }

  /** Sends a text that belongs to this request, unless the request has ended. */
  say(text: string): void {
    if (!this.#ended) this.#owner.say(text);
  }

  /** Asks the peer something while this request runs; `signal` ends the wait. */
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown> {
    return this.#owner.ask(request, signal);
  }

  /** Ends the request without an answer and tells its handler by `signal`. */
  abort(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#lazyAbort().abort(reason);
  }

  /** Marks the request as answered. */
  end(): void {
    this.#ended = true;
  }

  #lazyAbort(): LazyAbort {
    this.#abort ??= new LazyAbort();
    return this.#abort;
  }
}
