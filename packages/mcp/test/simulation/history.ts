import type { World } from "./world.js";

/** One run of a handler at a server. */
export interface Execution {
  readonly nonce: string;
  readonly number: number;
  /** Who called, as the server's transport established it. */
  readonly principal: string;
  /** The connection or HTTP request that brought the call. */
  readonly carrier: string;
  readonly requestId: unknown;
  readonly stateless: boolean;
  readonly process: { readonly alive: boolean };
  readonly signal: AbortSignal;
  /** Progress values that the handler reported, in order. */
  readonly reported: number[];
  /** What the handler came to; undefined while it runs. */
  value: string | undefined;
  finished: boolean;
  /** True when the client had cancelled, or had gone, before the handler came to its end. */
  abortedFirst: boolean;
  /** When it came to its end. */
  finishedAt: number;
  /** True once the server has written its answer. */
  answered: boolean;
  /** True when its client has gone, so that nobody waits for an answer on this way. */
  abandoned: boolean;
}

/** One call of an application, from its beginning to its one end. */
export interface CallRecord {
  readonly nonce: string;
  readonly client: string;
  readonly tool: string;
  readonly began: number;
  /** When it must be over. */
  readonly deadline: number;
  /** Before this it has no reason to time out. */
  readonly patientUntil: number;
  /** True when reports of its progress may be lost: it let go of its connection, and the storage was full. */
  readonly mayMiss: boolean;
  /** True when nothing may keep its result from it. */
  readonly mustWork: boolean;
  /** True when it may run more than once: rounds of questions, or a replay that the caller allows. */
  readonly mayRepeat: boolean;
  /** Values of `onProgress`, in order. */
  readonly heard: number[];
  settled: boolean;
  outcome: string;
  late: boolean;
}

/** Ends of a call that was served. */
const WORKED: ReadonlySet<string> = new Set(["ok", "tool_error", "cancelled"]);

/** What happened at clients and servers, and the rules that hold between the two. */
export class History {
  readonly calls = new Map<string, CallRecord>();
  readonly executions: Execution[] = [];
  readonly byNonce = new Map<string, Execution[]>();
  /** Effects that a handler protected by `step`, by nonce. */
  readonly steps = new Map<string, number>();
  readonly outcomes = new Map<string, number>();
  readonly #world: World;
  readonly #pending = new Set<CallRecord>();
  #afterStep: (() => void)[] = [];

  constructor(world: World) {
    this.#world = world;
    world.checks.push(() => this.#check());
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** Calls of a client that have not ended. */
  pendingOf(client: string): string[] {
    return [...this.#pending].filter((call) => call.client === client).map((call) => call.nonce);
  }

  /** Has `check` run when everything that the present event set off has happened. */
  afterStep(check: () => void): void {
    this.#afterStep.push(check);
  }

  begin(call: Omit<CallRecord, "began" | "heard" | "settled" | "outcome" | "late">): CallRecord {
    const record: CallRecord = {
      ...call,
      began: this.#world.now(),
      heard: [],
      settled: false,
      outcome: "",
      late: false,
    };
    this.calls.set(call.nonce, record);
    this.#pending.add(record);
    return record;
  }

  /** I4: progress grows within one execution, and none comes after the end. */
  progress(call: CallRecord, value: number, message: string | undefined): void {
    if (call.settled) this.#world.violate("I4", `progress ${value} of ${call.nonce} after its end`);
    if (message !== undefined && message !== call.nonce) {
      this.#world.violate("I5", `progress of ${message} was told to ${call.nonce} of ${call.client}`);
    }
    call.heard.push(value);
  }

  /** I1, I2, I6: one end, in time, with what the handler made of this very call. */
  settle(call: CallRecord, outcome: { value: unknown } | { error: string }): void {
    if (call.settled) this.#world.violate("I1", `${call.nonce} settled twice`);
    call.settled = true;
    this.#pending.delete(call);
    call.outcome = "value" in outcome ? "ok" : outcome.error;
    this.outcomes.set(call.outcome, (this.outcomes.get(call.outcome) ?? 0) + 1);
    this.#world.note(`${call.nonce} of ${call.client} ends: ${call.outcome}`);
    const runs = this.byNonce.get(call.nonce) ?? [];
    if ("value" in outcome && !runs.some((run) => run.finished && run.value === outcome.value)) {
      this.#world.violate("I2", `${call.nonce} got ${JSON.stringify(outcome.value)}, which no handler made for it`);
    }
    this.#checkProgress(call, runs);
    if (call.outcome === "timeout" && this.#world.now() < call.patientUntil) {
      this.#world.violate("I15", `${call.nonce} timed out ${call.patientUntil - this.#world.now()} ms too soon`);
    }
    if (call.mustWork && !WORKED.has(call.outcome)) {
      this.#world.violate("I16", `${call.nonce} (${call.tool}) ended by ${call.outcome}, and nothing had broken`);
    }
  }

  execute(execution: Omit<Execution, "number">): Execution {
    const number = this.executions.length + 1;
    const run: Execution = { ...execution, number };
    this.executions.push(run);
    const known = this.byNonce.get(run.nonce) ?? [];
    known.push(run);
    this.byNonce.set(run.nonce, known);
    const call = this.calls.get(run.nonce);
    if (call === undefined) this.#world.violate("history", `${run.nonce} ran and nobody called it`);
    else if (call.client !== run.principal) {
      this.#world.violate("I5", `${run.nonce} of ${call.client} ran as a call of ${run.principal}`);
    } else if (known.length > 1 && !call.mayRepeat) {
      this.#world.violate("history", `${run.nonce} ran ${known.length} times without leave`);
    }
    this.#world.note(`run ${number} of ${run.nonce}`);
    return run;
  }

  finish(run: Execution, value: string | undefined): void {
    run.finished = true;
    run.finishedAt = this.#world.now();
    run.value = value;
    // A server that closes tells its handlers to hurry, and still delivers what they answer.
    run.abortedFirst = run.signal.aborted && (run.signal.reason as Error).message !== "the server is closing";
  }

  /** I9: what ran for a carrier that is gone has been told, at once. */
  carrierGone(carrier: string, statelessOnly: boolean): void {
    this.afterStep(() => {
      for (const run of this.executions) {
        if (run.carrier === carrier) run.abandoned = true;
        if (run.carrier !== carrier || run.finished || run.signal.aborted || !run.process.alive) continue;
        if (statelessOnly && !run.stateless) continue;
        this.#world.violate("I9", `run ${run.number} of ${run.nonce} goes on after its client has gone`);
      }
    });
  }

  /** The network has lost the way back; the server learns of it in its own time. */
  abandon(carrier: string): void {
    for (const run of this.executions) if (run.carrier === carrier) run.abandoned = true;
  }

  /** I3: a request that was cancelled while it ran gets no answer. */
  answered(carrier: string, id: unknown): void {
    const run = this.executions.findLast((one) => one.carrier === carrier && one.requestId === id);
    if (run !== undefined) run.answered = true;
    if (run?.abortedFirst === true) this.#world.violate("I3", `${run.nonce} was answered after its cancellation`);
  }

  /** I18: what came to its end while the server drained is answered. */
  drained(process: object, from: number, until: number): void {
    for (const run of this.executions) {
      if (run.process !== process || !run.finished || run.finishedAt < from || run.finishedAt > until) continue;
      if (run.answered || run.abandoned || run.abortedFirst) continue;
      const call = this.calls.get(run.nonce);
      // A client that let go of its connection comes back for the answer on another one.
      if (call?.outcome === "ok" || call?.tool === "paused") continue;
      this.#world.violate("I18", `run ${run.number} of ${run.nonce} was not answered by a server that drained`);
    }
  }

  /** I2: a step runs once in one call. */
  step(nonce: string): number {
    const count = (this.steps.get(nonce) ?? 0) + 1;
    this.steps.set(nonce, count);
    if (count > 1) this.#world.violate("I2", `the step of ${nonce} ran ${count} times`);
    return count;
  }

  /** Each prefix of what was heard must be what one execution reported; a result follows all of its reports. */
  #checkProgress(call: CallRecord, runs: readonly Execution[]): void {
    if (call.mayMiss) return;
    let rest = call.heard;
    while (rest.length > 0) {
      let length = 1;
      while (length < rest.length && (rest[length] ?? 0) > (rest[length - 1] ?? 0)) length++;
      const piece = rest.slice(0, length);
      rest = rest.slice(length);
      if (rest.length > 0 && !call.mayRepeat) {
        this.#world.violate("I4", `progress of ${call.nonce} went back: ${call.heard.join(" ")}`);
      }
      const fits = runs.some((run) => piece.every((value, at) => run.reported[at] === value));
      if (!fits) this.#world.violate("I6", `progress of ${call.nonce} has a gap: ${call.heard.join(" ")}`);
    }
    if (call.outcome !== "ok" || call.mayRepeat) return;
    const told = runs[0]?.reported.length ?? 0;
    if (told !== call.heard.length) {
      this.#world.violate("I6", `${call.nonce} heard ${call.heard.length} of ${told} reports before its result`);
    }
  }

  #check(): void {
    const checks = this.#afterStep;
    this.#afterStep = [];
    for (const check of checks) check();
    const now = this.#world.now();
    for (const call of this.#pending) {
      if (now <= call.deadline || call.late) continue;
      call.late = true;
      this.#world.violate("I1", `${call.nonce} (${call.tool}) of ${call.client} did not end by its deadline`);
    }
  }
}
