import { neverUnhandled } from "../../encoding/maybe-promise.js";
import type { Question } from "../../era/era.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { isInputRequired } from "../../server/call/input-required.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";
import type { CallerChannel } from "../connection/remote-connection.js";
import type { CallTask } from "./call-task.js";

/** A question that the caller has not answered yet. */
interface OpenQuestion {
  readonly key: string;
  readonly question: Question;
  settle(answer: Promise<object>): void;
}

/** The step that records the id of a parked call. The prefix distinguishes it from steps of handlers. */
const PARKED = "gateway.parked";

/**
 * A call to a server that asks by requests. If the caller can only answer in further rounds, the call continues to run
 * between the rounds, and each round attaches to it.
 */
export class RunningCall implements CallerChannel {
  readonly caller: unknown;
  readonly task: CallTask | undefined;
  /** Aborted when the caller no longer waits for the result. */
  readonly ending = new AbortController();
  readonly #outcome: Promise<object>;
  readonly #open = new Map<string, OpenQuestion>();
  #asked = 0;
  #hasEnded = false;
  /** The caller's round that is waiting for an outcome now. */
  #round: ServerCall | undefined;
  /** Called when there is a new question, or when the call has ended. */
  #wakes: (() => void)[] = [];

  constructor(caller: unknown, task: CallTask | undefined, start: (call: RunningCall) => Promise<object>) {
    this.caller = caller;
    this.task = task;
    this.#outcome = start(this);
    const ended = () => {
      this.#hasEnded = true;
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
      const withdrawn = () => settle(Promise.reject(new McpError("cancelled", "the server withdrew the question")));
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

  /**
   * The outcome of the round of `call`: that of `settle`, or the result of the server's task if the call became one.
   */
  async outcome(call: ServerCall, parked: ParkedCalls, isParked: boolean): Promise<object> {
    const result = await this.settle(call, parked, isParked);
    return this.task?.isStarted === true ? this.task.follow(call) : result;
  }

  /**
   * Waits for the outcome of the round of `call`. `isParked` is true if the round found this running call by its id.
   * Rejects with an interruption if a question must be answered in another round.
   */
  async settle(call: ServerCall, parked: ParkedCalls, isParked: boolean): Promise<object> {
    this.#round = call;
    let parkedNow = isParked;
    const { signal } = call;
    const cancelled = () => {
      // A round that ends in order to ask a question does not end the call.
      if (!isInputRequired(signal.reason)) this.ending.abort(signal.reason);
    };
    if (signal.aborted) cancelled();
    else signal.addEventListener("abort", cancelled, { once: true });
    const forwarded = new Set<string>();
    try {
      let interrupt = (_reason: unknown) => {};
      const interrupted = neverUnhandled(
        new Promise<never>((_, reject) => {
          interrupt = reject;
        }),
      );
      for (;;) {
        await Promise.race([this.#untilNew(forwarded), interrupted]);
        if (this.#hasEnded) return await this.#outcome;
        if (!parkedNow) await this.#park(call, parked);
        parkedNow = true;
        for (const open of this.#open.values()) {
          if (forwarded.has(open.key)) continue;
          forwarded.add(open.key);
          this.#forwardQuestion(open, call).catch(interrupt);
        }
      }
    } finally {
      signal.removeEventListener("abort", cancelled);
      if (this.#round === call) this.#round = undefined;
    }
  }

  /** Parks the call for later rounds, if its caller answers in rounds. */
  async #park(call: ServerCall, parked: ParkedCalls): Promise<void> {
    await withAsking(async () => {
      const { asker } = call;
      if (asker.recorded !== undefined) await asker.step(PARKED, () => parked.add(this));
    });
  }

  /** Resolves when the call has ended, or when there is a question that is not forwarded yet. */
  #untilNew(forwarded: ReadonlySet<string>): Promise<void> {
    if (this.#hasEnded || [...this.#open.keys()].some((key) => !forwarded.has(key))) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wakes.push(resolve);
    });
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }

  async #forwardQuestion({ key, question, settle }: OpenQuestion, call: ServerCall): Promise<void> {
    try {
      // Safe: askers reject every answer that is not an object.
      const answer = (await withAsking(({ forwardQuestion }) => forwardQuestion(call, question, key))) as object;
      settle(Promise.resolve(answer));
    } catch (error) {
      if (isInputRequired(error)) throw error;
      settle(Promise.reject(error));
    }
  }
}

/** The id under which an earlier round parked the call; undefined if none did. */
export function parkedId(call: ServerCall): Promise<string | undefined> {
  return withAsking(async () => {
    // Reads the record instead of running a step, because a round without a record may have to park the call itself.
    const record = (await call.asker.recorded?.())?.steps[PARKED];
    const id = record !== undefined && "value" in record ? record.value : undefined;
    return typeof id === "string" ? id : undefined;
  });
}

/**
 * Maximum number of parked calls. Each is a running call on a server. Beyond this, a call that asks a question is
 * rejected.
 */
const MAX_PARKED = 1000;

/** Milliseconds for which the outcome of an ended call is stored, in case the caller repeats the last round. */
const REPEAT_MS = 30_000;

interface ParkedCall {
  readonly call: RunningCall;
  readonly expiry: Timer;
  readonly hasEnded: boolean;
}

/** Calls that continue to run between the rounds of their callers. */
export class ParkedCalls {
  readonly #platform: Platform;
  readonly #answerMs: number;
  readonly #randomId: () => string;
  readonly #parked = new Map<string, ParkedCall>();

  constructor(platform: Platform, answerMs: number, randomId: () => string) {
    this.#platform = platform;
    this.#answerMs = answerMs;
    this.#randomId = randomId;
  }

  /** Stores a call, and aborts it if its caller does not answer in time. Returns an id that cannot be guessed. */
  add(call: RunningCall): string {
    if (this.#parked.size >= MAX_PARKED) this.#dropEnded();
    if (this.#parked.size >= MAX_PARKED) {
      throw new McpError("limit_exceeded", `${MAX_PARKED} calls already wait for answers from their callers`, {
        data: { limit: "parkedCalls", value: MAX_PARKED },
      });
    }
    const id = this.#randomId();
    this.#store(id, call);
    return id;
  }

  /**
   * The call that an earlier round left running. The call stays stored, because the caller may send the same round
   * again.
   */
  get(id: string): RunningCall {
    const parked = this.#parked.get(id);
    if (parked === undefined) {
      throw new McpError("question_changed", "the call that asked this is no longer running here", {
        fix: "Repeat the call from the start. The gateway was restarted, the answer came too late, or another process got it.",
      });
    }
    if (parked.hasEnded) return parked.call;
    parked.expiry.cancel();
    this.#store(id, parked.call);
    return parked.call;
  }

  /**
   * Marks a call as ended. Its outcome stays stored for `REPEAT_MS`, for a caller that did not receive the answer and
   * repeats its last round.
   */
  markEnded(call: RunningCall): void {
    for (const [id, parked] of this.#parked) {
      if (parked.call !== call) continue;
      parked.expiry.cancel();
      const expiry = this.#platform.timer(REPEAT_MS, () => this.#parked.delete(id));
      this.#parked.set(id, { call, expiry, hasEnded: true });
    }
  }

  /** Drops stored outcomes to make room for waiting calls. */
  #dropEnded(): void {
    for (const { call, hasEnded } of this.#parked.values()) if (hasEnded) this.#drop(call);
  }

  #drop(call: RunningCall): void {
    for (const [id, parked] of this.#parked) {
      if (parked.call !== call) continue;
      parked.expiry.cancel();
      this.#parked.delete(id);
    }
  }

  /** Aborts all parked calls. */
  close(): void {
    for (const { call } of this.#parked.values()) {
      call.ending.abort(new McpError("connection_closed", "the gateway was closed"));
      this.#drop(call);
    }
  }

  #store(id: string, call: RunningCall): void {
    const late = new McpError("timeout", `the caller did not answer within ${this.#answerMs} ms`, {
      data: { limit: "answerMs", ms: this.#answerMs },
    });
    const expiry = this.#platform.timer(this.#answerMs, () => {
      this.#parked.delete(id);
      call.ending.abort(late);
    });
    this.#parked.set(id, { call, expiry, hasEnded: false });
  }
}
