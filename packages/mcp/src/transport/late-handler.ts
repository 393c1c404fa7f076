import { thrownMessage } from "../encoding/thrown-message.js";
import { INTERNAL_ERROR } from "../jsonrpc/error.js";
import { errorText } from "../jsonrpc/message.js";
import type { Platform } from "../platform/platform.js";

/** The methods of every HTTP handler, apart from the one that serves requests. */
interface Handler {
  drain(graceMs?: number): Promise<void>;
  close(): void | Promise<void>;
}

/**
 * A handler whose code may still be loading. Until it is loaded, calls are queued in order; afterwards they run at
 * once. If loading fails, `failed` returns the handler to use instead.
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

  /** Calls `run` with the handler, as soon as the handler is loaded. */
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

/**
 * Reports that the code of a handler could not be loaded. Returns the status and body for the answers to its requests.
 */
export function loadFailure(platform: Platform, error: unknown): { status: 500; body: string } {
  platform.warn(`the code that serves HTTP could not be loaded: ${thrownMessage(error)}`);
  return { status: 500, body: errorText(undefined, INTERNAL_ERROR, "the server could not be started") };
}
