// The one place where tasks touch the call of a server: whatever else changes there, changes here alone.

import type { Call } from "../../era/era.js";
import type { Asker } from "../../server/call/asker.js";
import { requireCapabilities } from "../../server/call/can-ask.js";
import type { Exchange } from "../../transport/transport.js";
import type { ExtendedServer, PreparedCall } from "../seam/extended-server.js";

/** The slots of a task's handler, which other calls may use while the handler waits for answers. */
export class TaskSlot {
  waits = false;
  /** Absent while no handler runs. */
  #slot: { enter(): undefined | Promise<void>; leave(): void } | undefined;
  #isHeld = false;
  #questions = 0;

  hold(enter: () => undefined | Promise<void>, leave: () => void): () => void {
    const slot = { enter, leave };
    this.#slot = slot;
    this.#isHeld = true;
    return () => {
      this.#free();
      this.#slot = undefined;
    };
  }

  /** Frees the slots until the answer is there, or until all are that are waited for at the same time. */
  async lend<T>(answer: Promise<T>): Promise<T> {
    if (this.#questions++ === 0) this.#free();
    try {
      return await answer;
    } finally {
      if (--this.#questions === 0) await this.#takeBack();
    }
  }

  #free(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#slot?.leave();
  }

  async #takeBack(): Promise<void> {
    const slot = this.#slot;
    if (slot === undefined) return;
    await slot.enter();
    // The handler may have ended meanwhile, or have asked again.
    if (this.#slot !== slot || this.#isHeld || this.#questions > 0) slot.leave();
    else this.#isHeld = true;
  }
}

/** A call that runs as a task, or may become one. */
export class TaskCall {
  readonly #call: PreparedCall;
  readonly #slot: TaskSlot;

  private constructor(call: PreparedCall, slot: TaskSlot) {
    this.#call = call;
    this.#slot = slot;
    call.slot = slot;
  }

  /** Runs a request through the server, with `prepare` before anything else. Resolves with its result. */
  static run(
    server: ExtendedServer,
    request: Call,
    exchange: Exchange,
    slot: TaskSlot,
    prepare: (call: TaskCall) => void,
  ): Promise<object> {
    return server.run(request, exchange, (call) => prepare(new TaskCall(call, slot)));
  }

  /** Scopes that the caller lacks, if the call was refused for that reason. */
  get scopes(): string[] | undefined {
    return this.#call.scopes;
  }

  /** Lets the call keep its questions and steps in the task `id`. Its handler may wait for a slot as long as it takes. */
  keepIn(id: string, asker: Asker): void {
    this.#call.useAsker(asker);
    this.#slot.waits = true;
    this.#call.callId = id;
  }

  /** Calls `create` when everything about the call has been checked; the handler begins when it resolves. */
  createFirst(create: () => Promise<void>): void {
    this.#call.beforeTool = create;
    this.isTask();
  }

  /** Lets `ctx.startTask` say that the call is a task already. */
  isTask(): void {
    this.onStart(async () => true);
  }

  /** Lets `ctx.startTask` make the call a task. */
  onStart(start: () => Promise<boolean>): void {
    onStartTask(this.#call, start);
  }

  /** Answers and steps of the call so far. */
  recorded(): ReturnType<PreparedCall["recorded"]> {
    return this.#call.recorded();
  }

  /** Lets observers see the call as one of its own from now on. */
  detach(): void {
    this.#call.detach?.();
  }

  /** Throws `capability_missing` when the client cannot be asked. */
  requireCapabilities(needs: readonly string[]): void {
    requireCapabilities(this.#call, needs);
  }
}

/** Sets what `ctx.startTask` does in a call that is no task. */
export function onStartTask(call: PreparedCall, start: () => Promise<boolean>): void {
  call.startTask = start;
}

/** Lets another asker carry the questions of a call that is no task. */
export function askThrough(call: PreparedCall, asker: Asker): void {
  call.useAsker(asker);
}
