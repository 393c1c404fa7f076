import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { type ChildExit, type ChildSpec, DEFAULT_START_MS, failure } from "./child-spec.js";
import { isNestedSupervisor, type NestedSupervisor } from "./nested-supervisor.js";
import { endWatched, stopMsOf, watchChild, withinMs } from "./watch-child.js";

/** Who hears of an attempt. */
export interface AttemptOwner {
  readonly platform: Platform;
  /** It works. Called at most once, and never after `abandon`. */
  works(value: unknown): void;
  /** It failed or took too long. Called at most once, and never after `abandon`. */
  fails(exit: ChildExit): void;
  /** The instance is a supervisor, which is about to be started. */
  nests(supervisor: NestedSupervisor): void;
  /** It did not end in time after it was abandoned, and may still be going on until `settled` resolves. */
  leftBehind(afterMs: number, settled: Promise<void>): void;
}

/** One start of one instance. */
export class StartAttempt {
  readonly #spec: ChildSpec;
  readonly #owner: AttemptOwner;
  readonly #controller = new AbortController();
  readonly #settled: Promise<void>;
  #deadline: Timer | undefined;
  #ending: Promise<void> | undefined;
  #wanted = true;
  #nested: NestedSupervisor | undefined;

  /** Begins when `before`, which must not reject, has resolved. */
  constructor(spec: ChildSpec, owner: AttemptOwner, before: Promise<void> | undefined) {
    this.#spec = spec;
    this.#owner = owner;
    this.#settled = this.#run(before);
  }

  /** Nobody wants it any more: aborts its signal and ends what comes of it. Resolves when that is gone or left behind. */
  abandon(): Promise<void> {
    this.#wanted = false;
    this.#ending ??= this.#end(new McpError("cancelled", `the start of "${this.#spec.id}" is not wanted any more`));
    return this.#ending;
  }

  async #run(before: Promise<void> | undefined): Promise<void> {
    await before;
    const { signal } = this.#controller;
    if (signal.aborted) return;
    this.#setDeadline(this.#spec.startMs ?? DEFAULT_START_MS);
    try {
      const value = await this.#spec.start(signal);
      if (isNestedSupervisor(value)) await this.#startNested(value);
      // The state may have changed while the instance was on its way.
      if (signal.aborted) await endWatched(this.#owner.platform, watchChild(this.#spec, value));
      else this.#owner.works(value);
    } catch (error) {
      if (!signal.aborted) this.#owner.fails(failure(error));
    } finally {
      this.#deadline?.cancel();
    }
  }

  async #startNested(supervisor: NestedSupervisor): Promise<void> {
    if (this.#spec.startMs === undefined) this.#deadline?.cancel();
    this.#nested = supervisor;
    const { signal } = this.#controller;
    if (signal.aborted) return;
    this.#owner.nests(supervisor);
    signal.addEventListener("abort", () => void supervisor.close(), { once: true });
    await supervisor.start();
  }

  #setDeadline(ms: number): void {
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#deadline = this.#owner.platform.timer(ms, () => this.#timeOut(ms), true);
  }

  #timeOut(ms: number): void {
    const error = new McpError("timeout", `"${this.#spec.id}" did not start within ${ms} ms`, {
      fix: "Raise `startMs` of the child, or look at what its `start` waits for.",
      data: { deadline: "startMs" },
    });
    this.#ending = this.#end(error);
    // Whoever abandons it meanwhile waits for the same end, and is not told of the failure.
    void this.#ending.then(() => {
      if (this.#wanted) this.#owner.fails(failure(error));
    });
  }

  async #end(reason: McpError): Promise<void> {
    this.#deadline?.cancel();
    this.#controller.abort(reason);
    let gone = false;
    const settled = this.#settled.then(() => {
      gone = true;
    });
    const stopMs = stopMsOf(this.#spec, this.#nested);
    await withinMs(this.#owner.platform, stopMs, settled);
    if (!gone) this.#owner.leftBehind(stopMs, settled);
  }
}
