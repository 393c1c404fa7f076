import type { Answer } from "../../transport.js";
import type { HeaderList } from "./incoming.js";
import type { Overdue, ServerState } from "./state.js";
import type { Visit } from "./visit.js";

/** The open stream of a reply; what is said on it goes out in order. */
export interface Lane {
  message(text: string): void;
  /** Ends the stream after `text`, or without a last word. */
  finish(text: string | undefined): void;
  /** Closes the connection under a stream that goes on. */
  pause?(retryMs: number): void;
}

/** Opens the stream of a reply; undefined when a limit forbids it. `lost` is called if nobody can read it any more. */
type OpenLane = (visit: Visit, lost: () => void) => Lane | undefined;

/** A running request whose reply this is. */
export interface Member {
  /** Nothing that is said from now on can arrive; `cancelled` when that also ends the request. */
  left(cancelled: boolean): void;
}

export interface PostReplyOptions {
  openLane: OpenLane;
  /** Whether the client's leaving is its way to cancel. */
  leavingCancels: boolean;
  /** How many answers one JSON array has to hold; without it the one answer is no array. */
  batchSize?: number;
}

/**
 * The reply to one POST that holds requests: JSON while there is nothing to say but answers, an event stream otherwise.
 * Several requests of a batch share one.
 */
export class PostReply implements Overdue {
  readonly visit: Visit;
  readonly #state: ServerState;
  readonly #options: PostReplyOptions;
  /** Requests that outlive the turn in which they came; the others cannot be left. */
  #members: Member[] | undefined;
  /** Texts of answers that wait for the rest of their batch. */
  readonly #batch: string[] | undefined;
  #expected: number;
  #lane: Lane | undefined;
  #done = false;

  constructor(state: ServerState, visit: Visit, options: PostReplyOptions) {
    this.#state = state;
    this.visit = visit;
    this.#options = options;
    this.#batch = options.batchSize === undefined ? undefined : [];
    this.#expected = options.batchSize ?? 1;
    state.inFlight += 1;
  }

  /** Keeps the reply open for a request that has no answer yet. */
  wait(member: Member): void {
    if (this.#done) return member.left(this.#options.leavingCancels);
    if (this.#members === undefined) {
      this.#members = [];
      if (this.#lane === undefined) this.visit.incoming.onLeave(() => this.#left(this.#options.leavingCancels));
    }
    this.#members.push(member);
    if (this.#lane === undefined) this.#state.overdue.touch(this);
  }

  overdue(): void {
    // At the limit of streams a late answer still fits into JSON.
    if (!this.#done) this.#toStream();
  }

  say(text: string): void {
    if (this.#done) return;
    if (this.#toStream()) this.#lane?.message(text);
    else this.#refuse();
  }

  pause(retryMs: number): void {
    if (!this.#done && this.#toStream()) this.#lane?.pause?.(retryMs);
  }

  /** Takes one answer; undefined stands for a request that was cancelled and gets none. */
  answer(answer: Answer | undefined, extra?: HeaderList): void {
    if (this.#done) return;
    this.#expected -= 1;
    const last = this.#expected <= 0;
    if (this.#lane !== undefined) {
      if (last) this.#finish();
      if (last) this.#lane.finish(answer?.text);
      else if (answer !== undefined) this.#lane.message(answer.text);
      return;
    }
    if (answer !== undefined) this.#batch?.push(answer.text);
    if (last) this.#send(answer, extra);
  }

  #send(answer: Answer | undefined, extra: HeaderList | undefined): void {
    this.#finish();
    if (this.#batch === undefined && answer !== undefined) return this.visit.answer(answer, extra);
    if (this.#batch === undefined || this.#batch.length === 0) return this.visit.empty(202);
    this.visit.json(200, `[${this.#batch.join(",")}]`, extra);
  }

  #toStream(): boolean {
    if (this.#lane !== undefined) return true;
    const lane = this.#options.openLane(this.visit, () => this.#left(this.#options.leavingCancels));
    if (lane === undefined) return false;
    this.#lane = lane;
    this.#state.overdue.drop(this);
    this.#state.inFlight -= 1;
    for (const text of this.#batch ?? []) lane.message(text);
    return true;
  }

  #refuse(): void {
    this.visit.busy("maxStreams");
    this.#left(true);
  }

  #left(cancelled: boolean): void {
    if (this.#done) return;
    this.#finish();
    for (const member of this.#members ?? []) member.left(cancelled);
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    if (this.#lane !== undefined) return;
    this.#state.overdue.drop(this);
    this.#state.inFlight -= 1;
  }
}
