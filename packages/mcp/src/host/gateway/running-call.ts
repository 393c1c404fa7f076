import { neverUnhandled } from "../../encoding/maybe-promise.js";
import type { Question } from "../../era/era.js";
import { McpError } from "../../protocol/error.js";
import { isInputRequired } from "../../server/call/input-required.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { withAsking } from "../../server/questions/with-asking.js";
import type { PassedCall } from "../connection/remote-connection.js";
import type { CallTask } from "./call-task.js";
import type { ParkedCalls } from "./parked-calls.js";

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
  async outcome(call: ServerCall, parked: ParkedCalls<RunningCall>, already: boolean): Promise<object> {
    const result = await this.settle(call, parked, already);
    return this.task?.isStarted === true ? this.task.follow(call) : result;
  }

  /**
   * The outcome for the round of `call`, which is parked `already` if it found this one by its id. Rejects with the signal of an
   * unanswered question where another round follows.
   */
  async settle(call: ServerCall, parked: ParkedCalls<RunningCall>, already: boolean): Promise<object> {
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
  async #park(call: ServerCall, parked: ParkedCalls<RunningCall>): Promise<void> {
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
