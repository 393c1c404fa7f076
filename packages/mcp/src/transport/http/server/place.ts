import type { BodyLimits } from "./incoming.js";
import type { ServerState } from "./state.js";

/**
 * What one request takes up of its server. It is counted as arriving until a handler runs or a reply is sent, then as in
 * flight until its handler ends: a handler whose client has left still works. An open stream is counted by `maxStreams`
 * instead.
 */
export class Place implements BodyLimits {
  readonly #state: ServerState;
  /** The place of the batch that this request is part of; itself otherwise. */
  readonly #outer: Place;
  #key: string | undefined;
  #bodyBytes = 0;
  #arriving: boolean;
  #unfinished: boolean;
  #complete = false;
  #working = false;
  #streaming = false;
  #counted = false;

  constructor(state: ServerState, outer?: Place) {
    this.#state = state;
    this.#outer = outer ?? this;
    this.#key = outer === undefined ? undefined : outer.#key;
    this.#arriving = outer === undefined;
    this.#unfinished = outer === undefined;
    if (outer !== undefined) return;
    state.arriving += 1;
    state.unfinished += 1;
  }

  get arriving(): boolean {
    return this.#arriving;
  }

  get maxBytes(): number {
    return this.#state.limits.maxMessageBytes;
  }

  /** Counts bytes of the body; false if all unfinished bodies together are too long. */
  received(bytes: number): boolean {
    if (this.#state.unfinishedBytes + bytes > this.#state.limits.maxUnfinishedBytes) return false;
    this.#bodyBytes += bytes;
    this.#state.unfinishedBytes += bytes;
    return true;
  }

  /** The request counts as one of this principal. */
  identified(key: string): void {
    this.#key = key;
  }

  /** The name of the limit that forbids to run `more` requests of this sender. */
  full(more: number): string | undefined {
    return this.#state.full(this.#key, more);
  }

  /** All of the request is here, or nobody waits for the rest. */
  arrived(): void {
    if (!this.#arriving) return;
    this.#arriving = false;
    this.#state.arriving -= 1;
    this.#state.unfinishedBytes -= this.#bodyBytes;
    this.#bodyBytes = 0;
  }

  /** A handler has begun or ended its work. */
  work(isWorking: boolean): void {
    if (isWorking) this.arrived();
    this.#working = isWorking;
    this.recount();
  }

  /** The reply has become an open stream, or the stream has ended. */
  stream(isOpen: boolean): void {
    this.#streaming = isOpen;
    this.recount();
    if (!isOpen) this.#settle();
  }

  /** The reply is complete, or its client has left. What a storage still holds of a stream is written before it ends. */
  finished(): void {
    this.arrived();
    this.#complete = true;
    this.#settle();
  }

  #settle(): void {
    if (!this.#complete || this.#streaming || !this.#unfinished) return;
    this.#unfinished = false;
    this.#state.unfinished -= 1;
    this.#state.noteIdle();
  }

  /** Called for each request of a batch after the stream of their reply has changed. */
  recount(): void {
    const counts = this.#working && !this.#outer.#streaming;
    if (counts === this.#counted) return;
    this.#counted = counts;
    this.#state.count(this.#key, counts ? 1 : -1);
  }
}
