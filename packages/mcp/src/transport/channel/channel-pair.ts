import type { Channel, ChannelReceiver } from "../../jsonrpc/channel.js";

/**
 * Two ends of a pipe inside one process. Messages are sent as text, so both ends run the real codec; each is delivered
 * in a later microtask, never inside `send`.
 */
export function channelPair(): [Channel, Channel] {
  const a = new PairEnd();
  const b = new PairEnd();
  a.join(b);
  b.join(a);
  return [a, b];
}

class PairEnd implements Channel {
  #other: PairEnd | undefined;
  #receiver: ChannelReceiver | undefined;
  #inbox: string[] = [];
  #scheduled = false;
  #closed = false;
  #closedCalled = false;

  join(other: PairEnd): void {
    this.#other = other;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#wake();
  }

  send(text: string): void {
    if (!this.#closed) this.#other?.deliver(text);
  }

  close(): void {
    this.end();
    this.#other?.end();
  }

  deliver(text: string): void {
    this.#inbox.push(text);
    this.#wake();
  }

  end(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    if (this.#scheduled || this.#receiver === undefined) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const receiver = this.#receiver;
    if (receiver === undefined) return;
    const batch = this.#inbox;
    this.#inbox = [];
    for (const text of batch) receiver.message(text);
    if (this.#inbox.length > 0) return this.#wake();
    if (this.#closed && !this.#closedCalled) {
      this.#closedCalled = true;
      receiver.closed();
    }
  }
}
