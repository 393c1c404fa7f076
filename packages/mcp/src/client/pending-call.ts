import type { Id } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import type { ProgressNotificationParams } from "../protocol/lifecycle.js";
import type { Deadline } from "./deadlines.js";
import type { CallOptions, Timeouts } from "./options.js";

/** One request that waits for its answer. */
export class PendingCall implements Deadline {
  readonly id: Id;
  readonly method: string;
  readonly started: number;
  heard: number;
  readonly idle: number;
  readonly total: number;
  readonly #stop: (reason: McpError) => void;
  readonly #onProgress: CallOptions["onProgress"];

  constructor(
    id: Id,
    method: string,
    now: number,
    bounds: Pick<Timeouts, "idle" | "total">,
    onProgress: CallOptions["onProgress"],
    stop: (reason: McpError) => void,
  ) {
    this.id = id;
    this.method = method;
    this.started = now;
    this.heard = now;
    this.idle = bounds.idle;
    this.total = bounds.total;
    this.#onProgress = onProgress;
    this.#stop = stop;
  }

  /** The server gave a sign of life. */
  progress(params: ProgressNotificationParams, now: number): void {
    this.heard = now;
    this.#onProgress?.(params);
  }

  expire(which: "idle" | "total"): void {
    const silent =
      this.heard === this.started ? "nothing was heard" : `last heard ${this.heard - this.started} ms after the start`;
    this.#stop(
      new McpError("timeout", `${this.method} passed its ${which} deadline of ${this[which]} ms; ${silent}`, {
        data: { deadline: which, ms: this[which] },
        fix: `Raise \`timeouts.${which}\`, for this call or in \`connect\`, or let the server report progress.`,
      }),
    );
  }
}
