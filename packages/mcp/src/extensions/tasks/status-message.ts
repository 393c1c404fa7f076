/** How often the message of a task's progress is stored at most. */
const STATUS_INTERVAL_MS = 1000;

/** A report of progress that is stored. */
interface StoredProgress {
  readonly statusMessage: string;
  readonly progress: number;
}

/**
 * Keeps the message of progress reports as the status message of a task.
 *
 * Spec: Tasks extension, "Notifications": tasks have neither progress nor log notifications.
 */
export class StatusMessage {
  readonly #store: (report: StoredProgress) => Promise<unknown>;
  readonly #pause: (ms: number) => Promise<void>;
  #reached: number;
  #message: string | undefined;
  #stored: string | undefined;
  #isStoring = false;

  /** `reached` is the progress of an earlier run of the handler. `store` rejects when the task is over or elsewhere. */
  constructor(
    reached: number | undefined,
    store: (report: StoredProgress) => Promise<unknown>,
    pause: (ms: number) => Promise<void>,
  ) {
    this.#reached = reached ?? Number.NEGATIVE_INFINITY;
    this.#store = store;
    this.#pause = pause;
  }

  /**
   * Takes the parameters of a progress notification. Returns false for a report that an earlier run made already: a handler that
   * begins again reports from the start, and clients must not see progress go back.
   */
  note({ message, progress, total }: Record<string, unknown>): boolean {
    const number = Number(progress);
    if (number <= this.#reached) return false;
    this.#reached = number;
    const reached = `${String(progress)}${total === undefined ? "" : ` of ${String(total)}`}`;
    this.#message = typeof message === "string" ? message : reached;
    if (!this.#isStoring) void this.#storeAll();
    return true;
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    try {
      while (this.#message !== undefined && this.#message !== this.#stored) {
        const statusMessage = this.#message;
        await this.#store({ statusMessage, progress: this.#reached });
        this.#stored = statusMessage;
        await this.#pause(STATUS_INTERVAL_MS);
      }
    } catch {
      // Nobody waits for the message.
    } finally {
      this.#isStoring = false;
    }
  }
}
