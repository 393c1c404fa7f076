import { thrownMessage } from "../encoding/thrown-message.js";
import { INTERNAL_ERROR } from "../jsonrpc/error.js";
import { errorText } from "../jsonrpc/message.js";
import type { Platform } from "../platform/platform.js";

/** What can be told to every HTTP handler beside its requests. */
interface Handler {
  drain(graceMs?: number): Promise<void>;
  close(): void | Promise<void>;
}

/**
 * A handler whose code is still being loaded. Calls made before then are queued in order; later calls run at once. If it
 * cannot be loaded, the handler that `failed` returns takes its place.
 */
export class LateHandler<H extends Handler> {
  readonly #loading: Promise<H>;
  #loaded: H | undefined;

  constructor(loading: Promise<H>, failed: (error: unknown) => H) {
    this.#loading = loading.catch(failed).then((handler) => {
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

/** Reports that the code of a handler could not be loaded, and gives the status and body of the answers to its requests. */
export function unloaded(platform: Platform, error: unknown): { status: 500; body: string } {
  platform.warn(`the code that serves HTTP could not be loaded: ${thrownMessage(error)}`);
  return { status: 500, body: errorText(undefined, INTERNAL_ERROR, "the server could not be started") };
}
