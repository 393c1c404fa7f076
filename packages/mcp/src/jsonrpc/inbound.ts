import type { Id } from "./message.js";

/** What an inbound request needs of its connection. */
export interface InboundOwner<P> {
  readonly peer: P;
  say(text: string): void;
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown>;
}

/** A request on its way out: its id and its whole text. */
export interface OutboundRequest {
  id?: Id;
  text: string;
}

/** One request that the peer sent and that has no answer yet. What is said after its end is dropped. */
export class InboundRequest<P> {
  readonly id: Id;
  /** True when it came inside a batch array. */
  readonly batched: boolean;
  readonly #owner: InboundOwner<P>;
  #controller: AbortController | undefined;
  #ended = false;
  #aborted: unknown;

  constructor(owner: InboundOwner<P>, id: Id, batched: boolean) {
    this.id = id;
    this.batched = batched;
    this.#owner = owner;
  }

  get peer(): P {
    return this.#owner.peer;
  }

  /** Made on first use: most requests end without anybody asking for it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted !== undefined;
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
    this.#aborted = reason ?? new Error("the request was cancelled");
    this.#controller?.abort(this.#aborted);
  }

  /** Marks the request as answered. */
  end(): void {
    this.#ended = true;
  }
}
