import type { Id } from "./message.js";

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Requests that were sent and have no answer yet. Each settles once, whatever comes first. */
export class PendingAsks {
  readonly #pending = new Map<Id, Pending>();

  /** Sends `text` by `send` and waits; `signal` ends the wait with its reason. What `send` throws is the outcome. */
  ask(id: Id, text: string, send: (text: string) => void, signal?: AbortSignal): Promise<unknown> {
    if (this.#pending.has(id)) return Promise.reject(new TypeError(`request id ${JSON.stringify(id)} is in use`));
    if (signal?.aborted === true) return Promise.reject(reasonOf(signal));
    return new Promise((resolve, reject) => {
      const pending = signal === undefined ? { resolve, reject } : this.#watched(id, signal, resolve, reject);
      this.#pending.set(id, pending);
      try {
        send(text);
      } catch (error) {
        this.take(id)?.reject(error);
      }
    });
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** Takes out who waits for an answer with this id. */
  take(id: Id): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  rejectAll(error: Error): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  /** A signal may outlive many requests, so each takes its listener off again. */
  #watched(id: Id, signal: AbortSignal, resolve: Pending["resolve"], reject: Pending["reject"]): Pending {
    const stop = () => void this.take(id)?.reject(reasonOf(signal));
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

/** An abort signal that is made on first use: most requests end without it being used. */
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
