import type { Id } from "./message.js";

/** The two functions that settle a pending request. */
interface PendingRequest {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Sent requests that have not been answered yet. Each settles once. */
export class PendingRequests {
  readonly #pending = new Map<Id, PendingRequest>();

  /**
   * Sends `text` with `send` and waits for the answer. If `signal` aborts, rejects with the reason of the signal. If
   * `send` throws, rejects with that error.
   */
  ask(id: Id, text: string, send: (text: string) => void, signal?: AbortSignal): Promise<unknown> {
    if (this.#pending.has(id)) return Promise.reject(new TypeError(`request id ${JSON.stringify(id)} is in use`));
    if (signal?.aborted === true) return Promise.reject(reasonOf(signal));
    return new Promise((resolve, reject) => {
      const pending = signal === undefined ? { resolve, reject } : this.#watched(id, signal, resolve, reject);
      this.#pending.set(id, pending);
      try {
        send(text);
      } catch (error) {
        this.remove(id)?.reject(error);
      }
    });
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** Removes and returns the pending request with this id. */
  remove(id: Id): PendingRequest | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  /** Rejects all pending requests. */
  rejectAll(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  /**
   * Creates a pending request that `signal` can abort. Removes the listener when the request settles, because a signal
   * may outlive many requests.
   */
  #watched(
    id: Id,
    signal: AbortSignal,
    resolve: PendingRequest["resolve"],
    reject: PendingRequest["reject"],
  ): PendingRequest {
    const stop = () => void this.remove(id)?.reject(reasonOf(signal));
    signal.addEventListener("abort", stop);
    return {
      resolve(result) {
        signal.removeEventListener("abort", stop);
        resolve(result);
      },
      reject(error) {
        signal.removeEventListener("abort", stop);
        reject(error);
      },
    };
  }
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** An abort signal that is created on first use, because most requests end without using it. */
export class LazyAbort {
  #controller: AbortController | undefined;
  #reason: unknown;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  /** Aborts once; a second reason is ignored. */
  abort(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason ?? new Error("the request was cancelled");
    this.#controller?.abort(this.#reason);
  }
}
