// The one place where tasks touch the call of a server: whatever else changes there, changes here alone.

import type { Call } from "../../era/era.js";
import type { Asker } from "../../server/call/asker.js";
import type { Exchange } from "../../transport/transport.js";
import type { ExtendedServer, PreparedCall } from "../seam/extended-server.js";

/** The call of a tool that runs as a task, or may become one. The id of its request is that of the task. */
export class TaskCall {
  readonly slot = new TaskSlot();
  /** The call as the server runs it: members of its answer, what it has asked and done, and how it is observed. */
  served: Pick<PreparedCall, "reply" | "recorded" | "detach"> | undefined;
  #call: PreparedCall | undefined;

  /**
   * Runs a call whose questions and steps are kept by `asker`. Waits for `create` when everything about the call has been checked,
   * before its handler begins; without it the task exists already.
   */
  run(server: ExtendedServer, request: Call, exchange: Exchange, asker: Asker, create?: () => Promise<void>) {
    return server.run(request, exchange, (call) => {
      this.#begin(call, async () => true);
      this.keep(asker);
      if (create === undefined) call.detach?.();
      else if (call.admission !== undefined) call.admission.beforeTool = create;
    });
  }

  /** Runs a call that becomes a task when its handler calls `ctx.startTask`. */
  runLate(server: ExtendedServer, request: Call, exchange: Exchange, start: () => Promise<boolean>): Promise<object> {
    return server.run(request, exchange, (call) => this.#begin(call, start));
  }

  #begin(call: PreparedCall, start: () => Promise<boolean>): void {
    this.#call = call;
    this.served = call;
    call.admission = { slot: this.slot, startTask: start };
  }

  /** Lets `asker` keep the questions and steps. The handler may wait for its slots from now on as long as it takes. */
  keep(asker: Asker): void {
    if (this.#call === undefined) return;
    this.#call.resume(String(this.#call.request.id), asker);
    this.slot.waits = true;
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
