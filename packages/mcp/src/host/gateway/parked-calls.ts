import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";

/** Calls that wait for the answers of their callers at the same time; each holds a running call at a server. */
const MOST_PARKED = 1000;

/** How long the outcome of a call is kept for a round that is sent again. */
const REPEAT_MS = 30_000;

/** A call that can be ended from outside. */
export interface EndableCall {
  readonly ending: AbortController;
}

interface Parked<C> {
  readonly call: C;
  readonly expiry: Timer;
  readonly isOver: boolean;
}

/** Calls that go on running between the rounds of their callers. */
export class ParkedCalls<C extends EndableCall> {
  readonly #platform: Platform;
  readonly #answerMs: number;
  readonly #randomId: () => string;
  readonly #parked = new Map<string, Parked<C>>();

  constructor(platform: Platform, answerMs: number, randomId: () => string) {
    this.#platform = platform;
    this.#answerMs = answerMs;
    this.#randomId = randomId;
  }

  get size(): number {
    return this.#parked.size;
  }

  /** Keeps a call until `take`, or ends it when its caller does not come back in time. Gives its id, which nobody can guess. */
  keep(call: C): string {
    if (this.#parked.size >= MOST_PARKED) this.#forgetOver();
    if (this.#parked.size >= MOST_PARKED) {
      throw new McpError("limit_exceeded", `${MOST_PARKED} calls already wait for answers of their callers`, {
        data: { limit: "parkedCalls", value: MOST_PARKED },
      });
    }
    const id = this.#randomId();
    this.#hold(id, call);
    return id;
  }

  /** The call that an earlier round left running. Stays kept, because the caller may send the same round again. */
  take(id: string): C {
    const parked = this.#parked.get(id);
    if (parked === undefined) {
      throw new McpError("question_changed", "the call that asked this is no longer running here", {
        fix: "Call again from the start; the gateway was restarted, the answer came too late, or another process got it.",
      });
    }
    if (parked.isOver) return parked.call;
    parked.expiry.cancel();
    this.#hold(id, parked.call);
    return parked.call;
  }

  /** A call is over. It is kept a little longer, for a caller that lost the answer and sends its last round again. */
  over(call: C): void {
    for (const [id, parked] of this.#parked) {
      if (parked.call !== call) continue;
      parked.expiry.cancel();
      const expiry = this.#platform.timer(REPEAT_MS, () => this.#parked.delete(id));
      this.#parked.set(id, { call, expiry, isOver: true });
    }
  }

  /** Outcomes give way to calls that wait. */
  #forgetOver(): void {
    for (const { call, isOver } of this.#parked.values()) if (isOver) this.#drop(call);
  }

  #drop(call: C): void {
    for (const [id, parked] of this.#parked) {
      if (parked.call !== call) continue;
      parked.expiry.cancel();
      this.#parked.delete(id);
    }
  }

  /** Ends all of them. */
  close(): void {
    for (const { call } of this.#parked.values()) {
      call.ending.abort(new McpError("connection_closed", "the gateway was closed"));
      this.#drop(call);
    }
  }

  #hold(id: string, call: C): void {
    const late = new McpError("timeout", `the caller did not answer within ${this.#answerMs} ms`, {
      data: { limit: "answerMs", ms: this.#answerMs },
    });
    const expiry = this.#platform.timer(this.#answerMs, () => {
      this.#parked.delete(id);
      call.ending.abort(late);
    });
    this.#parked.set(id, { call, expiry, isOver: false });
  }
}
