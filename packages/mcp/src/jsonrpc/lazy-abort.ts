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
