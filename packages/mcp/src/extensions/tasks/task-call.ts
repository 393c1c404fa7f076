// Connects tasks to the calls of a server: sets the asker, the concurrency slots and the start of a task in a call.

import type { Call } from "../../era/era.js";
import type { Asker } from "../../server/call/asker.js";
import type { Exchange } from "../../transport/transport.js";
import type { ExtendedServer, PreparedCall } from "../seam/extended-server.js";

/** A tool call that runs as a task, or may become one. The id of its request is the id of the task. */
export class TaskCall {
  readonly slot = new TaskSlot();
  /**
   * The call as the server runs it, for its reply, its recorded answers and steps, and its observers. Undefined until
   * the server has prepared the call.
   */
  served: Pick<PreparedCall, "reply" | "recorded" | "detach"> | undefined;
  #call: PreparedCall | undefined;

  /**
   * Runs a call whose questions and steps `asker` stores. Waits for `create` after all checks of the call and before
   * its handler starts. Omit `create` if the task already exists.
   */
  run(server: ExtendedServer, request: Call, exchange: Exchange, asker: Asker, create?: () => Promise<void>) {
    return server.run(request, exchange, (call) => {
      this.#begin(call, async () => true);
      this.useAsker(asker);
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

  /** Replaces the asker of the call. From now on the handler may wait for its slots without a time limit. */
  useAsker(asker: Asker): void {
    if (this.#call === undefined) return;
    this.#call.resume(String(this.#call.request.id), asker);
    this.slot.waits = true;
  }
}

/** Sets the function that `ctx.startTask` calls, for a call that is not a task. */
export function onStartTask(call: PreparedCall, start: () => Promise<boolean>): void {
  call.admission = { ...call.admission, startTask: start };
}

/** Replaces the asker of a call that is not a task. */
export function askThrough(call: PreparedCall, asker: Asker): void {
  call.resume(undefined, asker);
}

/** The concurrency slots of a task's handler. Other calls may use them while the handler waits for answers. */
export class TaskSlot {
  waits = false;
  /** Undefined while no handler runs. */
  #slot: { enter(): undefined | Promise<void>; leave(): void } | undefined;
  #isHeld = false;
  #questions = 0;

  hold(enter: () => undefined | Promise<void>, leave: () => void): () => void {
    const slot = { enter, leave };
    this.#slot = slot;
    this.#isHeld = true;
    return () => {
      this.#release();
      this.#slot = undefined;
    };
  }

  /** Releases the slots until every concurrent question is answered. */
  async lend<T>(answer: Promise<T>): Promise<T> {
    if (this.#questions++ === 0) this.#release();
    try {
      return await answer;
    } finally {
      if (--this.#questions === 0) await this.#reacquire();
    }
  }

  #release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#slot?.leave();
  }

  async #reacquire(): Promise<void> {
    const slot = this.#slot;
    if (slot === undefined) return;
    await slot.enter();
    // If the handler has ended or asked again in the meantime, it does not need the slots.
    if (this.#slot !== slot || this.#isHeld || this.#questions > 0) slot.leave();
    else this.#isHeld = true;
  }
}
