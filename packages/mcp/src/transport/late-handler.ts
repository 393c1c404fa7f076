/** What can be told to every HTTP handler beside its requests. */
interface Handler {
  drain(graceMs?: number): Promise<void>;
  close(): void | Promise<void>;
}

/**
 * A handler whose code is still being loaded. Calls made before then are queued in order; later calls run at once.
 */
export class LateHandler<H extends Handler> {
  readonly #loading: Promise<H>;
  #loaded: H | undefined;

  constructor(loading: Promise<H>) {
    this.#loading = loading.then((handler) => {
      this.#loaded = handler;
      return handler;
    });
  }

  use<R>(run: (handler: H) => R | Promise<R>): R | Promise<R> {
    return this.#loaded === undefined ? this.#loading.then(run) : run(this.#loaded);
  }

  async drain(graceMs?: number): Promise<void> {
    await this.use((handler) => handler.drain(graceMs));
  }

  async close(): Promise<void> {
    await this.use((handler) => handler.close());
  }
}
