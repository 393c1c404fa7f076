// The one place where tasks touch the call of a server: whatever else changes there, changes here alone.

import type { Call } from "../../era/era.js";
import type { Asker, RecordedAnswers } from "../../server/call/asker.js";
import { requireCapabilities } from "../../server/call/can-ask.js";
import type { Exchange } from "../../transport/transport.js";
import type { ExtendedServer, PreparedCall } from "../seam/extended-server.js";

/** The call of a tool that runs as a task, or may become one. The id of its request is that of the task. */
export class TaskCall {
  readonly slot = new TaskSlot();
  readonly request: Call;
  readonly #server: ExtendedServer;
  readonly #exchange: Exchange;
  #call: PreparedCall | undefined;

  constructor(server: ExtendedServer, request: Call, exchange: Exchange) {
    this.#server = server;
    this.request = request;
    this.#exchange = exchange;
  }

  /**
   * Runs a call whose questions and steps are kept by `asker`. Waits for `create` when everything about the call has been checked,
   * before its handler begins; without it the task exists already.
   */
  run(asker: Asker, create?: () => Promise<void>): Promise<object> {
    return this.#server.run(this.request, this.#exchange, (call) => {
      this.#begin(call, async () => true);
      this.keep(asker);
      if (create === undefined) call.detach?.();
      else if (call.admission !== undefined) call.admission.beforeTool = create;
    });
  }

  /** Runs a call that becomes a task when its handler calls `ctx.startTask`. */
  runLate(start: () => Promise<boolean>): Promise<object> {
    return this.#server.run(this.request, this.#exchange, (call) => this.#begin(call, start));
  }

  #begin(call: PreparedCall, start: () => Promise<boolean>): void {
    this.#call = call;
    call.admission = { slot: this.slot, startTask: start };
  }

  /** Lets `asker` keep the questions and steps. The handler may wait for its slots from now on as long as it takes. */
  keep(asker: Asker): void {
    if (this.#call === undefined) return;
    this.#call.resume(String(this.request.id), asker);
    this.slot.waits = true;
  }

  /** Answers and steps of the call so far. */
  async recorded(): Promise<RecordedAnswers | undefined> {
    return this.#call?.recorded();
  }

  /** Lets observers see the call as one of its own from now on. */
  detach(): void {
    this.#call?.detach?.();
  }

  /** Members of the answer beside its text. */
  get reply(): PreparedCall["reply"] {
    return this.#call?.reply;
  }

  /** Throws `capability_missing` when the client cannot be asked. */
  requireCapabilities(needs: readonly string[]): void {
    requireCapabilities({ request: this.request, exchange: this.#exchange }, needs);
  }
}

/** Sets what `ctx.startTask` does in a call that is no task. */
export function onStartTask(call: PreparedCall, start: () => Promise<boolean>): void {
  call.admission = { ...call.admission, startTask: start };
}

/** Lets another asker carry the questions of a call that is no task. */
export function askThrough(call: PreparedCall, asker: Asker): void {
  call.resume(undefined, asker);
}

/** The slots of a task's handler, which other calls may use while the handler waits for answers. */
class TaskSlot {
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
