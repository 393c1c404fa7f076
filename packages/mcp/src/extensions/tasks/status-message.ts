/** How often the message of a task's progress is stored at most. */
const STATUS_INTERVAL_MS = 1000;

/**
 * Keeps the message of progress reports as the status message of a task.
 *
 * Spec: Tasks extension, "Notifications": tasks have neither progress nor log notifications.
 */
export class StatusMessage {
  readonly #store: (message: string) => Promise<unknown>;
  readonly #pause: (ms: number) => Promise<void>;
  #message: string | undefined;
  #stored: string | undefined;
  #isStoring = false;

  /** `store` rejects when the task is over or elsewhere. */
  constructor(store: (message: string) => Promise<unknown>, pause: (ms: number) => Promise<void>) {
    this.#store = store;
    this.#pause = pause;
  }

  /** Takes the parameters of a progress notification. */
  note({ message, progress, total }: Record<string, unknown>): void {
    const reached = `${String(progress)}${total === undefined ? "" : ` of ${String(total)}`}`;
    this.#message = typeof message === "string" ? message : reached;
    if (!this.#isStoring) void this.#storeAll();
  }

  async #storeAll(): Promise<void> {
    this.#isStoring = true;
    try {
      while (this.#message !== undefined && this.#message !== this.#stored) {
        const message = this.#message;
        await this.#store(message);
        this.#stored = message;
        await this.#pause(STATUS_INTERVAL_MS);
      }
    } catch {
      // Nobody waits for the message.
    } finally {
      this.#isStoring = false;
    }
  }
}
