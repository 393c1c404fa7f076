import type { Timer } from "../../platform/platform.js";
import type { ProgressOptions } from "../contract/context.js";
import type { ServerCall } from "./server-call.js";

/**
 * Maximum number of notifications of one call that are sent without delay. Later notifications are limited to one per
 * `INTERVAL_MS`, so that a busy loop does not flood the peer.
 */
const BURST = 64;
const INTERVAL_MS = 50;

/**
 * Sends the progress of one call: always increasing, never after the answer, and always including the newest value.
 *
 * Spec: Progress, "Behavior Requirements",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#behavior-requirements
 */
export class ProgressReporter {
  readonly #call: ServerCall;
  #last = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #held: object | undefined;
  #timer: Timer | undefined;

  constructor(call: ServerCall) {
    this.#call = call;
    call.whenAnswered(() => this.flush());
  }

  report(progress: number, options: ProgressOptions = {}): void {
    const { request } = this.#call;
    if (request.progressToken === undefined || !Number.isFinite(progress)) return;
    // Spec: Progress, "Progress Flow": the value must increase with each notification.
    // https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#progress-flow
    if (progress <= this.#last) return;
    this.#last = progress;
    const params = {
      progressToken: request.progressToken,
      progress,
      total: options.total,
      message: options.message,
    };
    if (this.#sent < BURST) this.#send(params);
    else {
      this.#held = params;
      this.#timer ??= this.#call.config.platform.timer(INTERVAL_MS, () => this.flush());
    }
  }

  /** Sends the newest value if it was delayed. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#send(held);
  }

  #send(params: object): void {
    this.#sent++;
    this.#call.notify("notifications/progress", params);
  }
}
