import { neverUnhandled } from "../../encoding/maybe-promise.js";
import type { Question } from "../../era/era.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { isInputRequired } from "../../server/call/input-required.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";
import type { PassedCall } from "../connection/remote-connection.js";
import type { CallTask } from "./call-task.js";

/** A question that the caller has not answered yet. */
interface OpenQuestion {
  readonly key: string;
  readonly question: Question;
  settle(answer: Promise<object>): void;
}

/** The step that records under which id a call is parked; its key is told apart from those of handlers. */
const PARKED = "gateway.parked";

/**
 * A call that runs at a server which asks by requests. Its caller may only be able to answer in further rounds: then the call
 * goes on running between them, and each round attaches itself to it.
 */
export class RunningCall implements PassedCall {
  readonly caller: unknown;
  readonly task: CallTask | undefined;
  /** Aborted when nobody waits for the result any more. */
  readonly ending = new AbortController();
  readonly #outcome: Promise<object>;
  readonly #open = new Map<string, OpenQuestion>();
  #asked = 0;
  #over = false;
  /** The round of the caller's that waits now. */
  #round: ServerCall | undefined;
  /** Called when there is something new to ask, or the call is over. */
  #wakes: (() => void)[] = [];

  constructor(caller: unknown, task: CallTask | undefined, start: (call: RunningCall) => Promise<object>) {
    this.caller = caller;
    this.task = task;
    this.#outcome = start(this);
    const ended = () => {
      this.#over = true;
      this.#wake();
    };
    this.#outcome.then(ended, ended);
  }

  ask(question: Question, signal: AbortSignal): Promise<object> {
    this.#asked++;
    const key = `gateway.${this.#asked}`;
    return new Promise((resolve, reject) => {
      const settle = (answer: Promise<object>) => {
        this.#open.delete(key);
        answer.then(resolve, reject);
      };
      this.#open.set(key, { key, question, settle });
      const withdrawn = () => settle(Promise.reject(new McpError("cancelled", "the server no longer asks this")));
      signal.addEventListener("abort", withdrawn, { once: true });
      this.#wake();
    });
  }

  log(message: Record<string, unknown>): void {
    this.#round?.ctx.log(message["level"] as never, message["data"], message["logger"] as string | undefined);
  }

  progress(progress: { progress: number; total?: number | undefined; message?: string | undefined }): void {
    this.#round?.ctx.progress(progress.progress, progress);
  }

  /** What the round of `call` gives: its questions as `settle` puts them, or the result, of the task if the call became one. */
  async outcome(call: ServerCall, parked: ParkedCalls, already: boolean): Promise<object> {
    const result = await this.settle(call, parked, already);
    return this.task?.isStarted === true ? this.task.follow(call) : result;
  }

  /**
   * The outcome for the round of `call`, which is parked `already` if it found this one by its id. Rejects with the signal of an
   * unanswered question where another round follows.
   */
  async settle(call: ServerCall, parked: ParkedCalls, already: boolean): Promise<object> {
    this.#round = call;
    let kept = already;
    const { signal } = call;
    const cancelled = () => {
      // What ends a round for a question does not end the call.
      if (!isInputRequired(signal.reason)) this.ending.abort(signal.reason);
    };
    if (signal.aborted) cancelled();
    else signal.addEventListener("abort", cancelled, { once: true });
    const put = new Set<string>();
    try {
      let interrupt = (_reason: unknown) => {};
      const interrupted = neverUnhandled(
        new Promise<never>((_, reject) => {
          interrupt = reject;
        }),
      );
      for (;;) {
        await Promise.race([this.#untilNew(put), interrupted]);
        if (this.#over) return await this.#outcome;
        if (!kept) await this.#park(call, parked);
        kept = true;
        for (const open of this.#open.values()) {
          if (put.has(open.key)) continue;
          put.add(open.key);
          this.#put(open, call).catch(interrupt);
        }
      }
    } finally {
      signal.removeEventListener("abort", cancelled);
      if (this.#round === call) this.#round = undefined;
    }
  }

  /** Keeps the call for later rounds, if its caller answers in such. */
  async #park(call: ServerCall, parked: ParkedCalls): Promise<void> {
    await withAsking(async () => {
      const { asker } = call;
      if (asker.recorded !== undefined) await asker.step(PARKED, () => parked.keep(this));
    });
  }

  /** Resolves when the call is over or there is something to ask that was not put yet. */
  #untilNew(put: ReadonlySet<string>): Promise<void> {
    if (this.#over || [...this.#open.keys()].some((key) => !put.has(key))) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wakes.push(resolve);
    });
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }

  async #put({ key, question, settle }: OpenQuestion, call: ServerCall): Promise<void> {
    try {
      // Raw answers are objects: askers refuse anything else.
      const answer = (await withAsking(({ forwardQuestion }) => forwardQuestion(call, question, key))) as object;
      settle(Promise.resolve(answer));
    } catch (error) {
      if (isInputRequired(error)) throw error;
      settle(Promise.reject(error));
    }
  }
}

/** The id under which an earlier round parked its call, if one did. */
export function parkedId(call: ServerCall): Promise<string | undefined> {
  return withAsking(async () => {
    // Looked up rather than run as a step, because a round that finds nothing may have to park the call itself.
    const record = (await call.asker.recorded?.())?.steps[PARKED];
    const id = record !== undefined && "value" in record ? record.value : undefined;
    return typeof id === "string" ? id : undefined;
  });
}

/** Calls that wait for the answers of their callers at the same time; each holds a running call at a server. */
const MAX_PARKED = 1000;

/** How long the outcome of a call is kept for a round that is sent again. */
const REPEAT_MS = 30_000;

interface Parked {
  readonly call: RunningCall;
  readonly expiry: Timer;
  readonly isOver: boolean;
}

/** Calls that go on running between the rounds of their callers. */
export class ParkedCalls {
  readonly #platform: Platform;
  readonly #answerMs: number;
  readonly #randomId: () => string;
  readonly #parked = new Map<string, Parked>();

  constructor(platform: Platform, answerMs: number, randomId: () => string) {
    this.#platform = platform;
    this.#answerMs = answerMs;
    this.#randomId = randomId;
  }

  /** Keeps a call until `take`, or ends it when its caller does not come back in time. Gives its id, which nobody can guess. */
  keep(call: RunningCall): string {
    if (this.#parked.size >= MAX_PARKED) this.#forgetOver();
    if (this.#parked.size >= MAX_PARKED) {
      throw new McpError("limit_exceeded", `${MAX_PARKED} calls already wait for answers of their callers`, {
        data: { limit: "parkedCalls", value: MAX_PARKED },
      });
    }
    const id = this.#randomId();
    this.#hold(id, call);
    return id;
  }

  /** The call that an earlier round left running. Stays kept, because the caller may send the same round again. */
  take(id: string): RunningCall {
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
  over(call: RunningCall): void {
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

  #drop(call: RunningCall): void {
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

  #hold(id: string, call: RunningCall): void {
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
