/** The part of a browser's window that `connectToHost` uses. */
export interface ViewWindow {
  /** The window of the host, or of its sandbox. */
  readonly parent: { postMessage(message: unknown, targetOrigin: string): void };
  /** The document whose size is reported. */
  readonly document: { readonly documentElement: ViewElement; readonly body: ViewElement | null };
  /** The target of warnings about failed hooks. */
  readonly console: { warn(message: string): void };
  /** The observer of size changes. If absent, the size is reported only once. */
  readonly ResizeObserver?: new (
    changed: () => void,
  ) => { observe(element: never): void; disconnect(): void };
  /** Registers the listener for messages of the host. */
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  /** Removes the listener for messages of the host. */
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  /** Runs a function before the next frame is drawn. */
  requestAnimationFrame(run: () => void): number;
  /** Starts a timer. */
  setTimeout(run: () => void, ms: number): unknown;
  /** Stops a timer. */
  clearTimeout(timer: never): void;
}

/** The part of an element that is needed to measure it. */
export interface ViewElement {
  /** The inline style. Its height is changed temporarily during a measurement. */
  readonly style: { height: string };
  /** Returns the size of the element. */
  getBoundingClientRect(): { readonly width: number; readonly height: number };
  /** The width of the content, in pixels. */
  readonly scrollWidth: number;
}

/**
 * The error of a request that the host refused or did not answer.
 *
 * @example
 * ```ts
 * import { connectToHost, HostError } from "@parley/mcp/apps-view";
 *
 * const host = await connectToHost({ name: "chart", version: "1.0.0" });
 * await host.openLink("https://example.com").catch((error) => {
 *   if (error instanceof HostError) console.warn(`the host refused: ${error.code} ${error.message}`);
 * });
 * ```
 */
export class HostError extends Error {
  /** The name of the class. */
  override readonly name = "HostError";
  /**
   * The host's error code. -32000 if the host sent no error code: no answer, cancelled, connection closed, or refused
   * with `isError`.
   */
  readonly code: number;
  /** Further information from the host. Undefined if it sent none. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

type Members = Record<string, unknown>;

interface Listeners {
  notified(method: string, params: Members): void;
  /** Answers a request of the host. Resolves with undefined if the method is unknown. Never rejects. */
  answer(method: string, params: Members): Promise<object | undefined>;
}

const NO_ANSWER = -32000;
const CANCELLED = "was cancelled";
const closedError = () => new HostError(NO_ANSWER, "the connection to the host is closed");
/** The longest delay of a browser timer. A timer with a longer delay would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A JSON-RPC connection to the host, over window messages. */
export class HostDialogue {
  readonly window: ViewWindow;
  readonly #listeners: Listeners;
  readonly #pending = new Map<number, { resolve: (result: Members) => void; reject: (error: HostError) => void }>();
  /**
   * The host's origin, from its first answer. From then on, messages from other origins are ignored. Stays undefined
   * for an opaque origin.
   */
  #origin: string | undefined;
  #lastId = 0;
  #closed = false;
  /** Functions to call when the connection closes. */
  readonly closers: (() => void)[];

  constructor(window: ViewWindow, listeners: Listeners) {
    this.window = window;
    this.#listeners = listeners;
    const listener = (event: MessageEvent) => this.#receive(event);
    window.addEventListener("message", listener);
    this.closers = [() => window.removeEventListener("message", listener)];
  }

  notify(method: string, params: object): void {
    if (!this.#closed) this.#post({ method, params });
  }

  request(method: string, params: object, ms: number, signal?: AbortSignal): Promise<Members> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#closed) throw closedError();
      if (signal?.aborted) throw new HostError(NO_ANSWER, `${method} ${CANCELLED}`);
      const cancel = (message: string) => {
        end();
        this.notify("notifications/cancelled", { requestId: id, reason: message });
        reject(new HostError(NO_ANSWER, `${method} ${message}`));
      };
      const timer = this.window.setTimeout(
        () => cancel(`was not answered within ${ms} ms`),
        Math.min(ms, MAX_TIMER_MS),
      );
      const aborted = () => cancel(CANCELLED);
      const end = () => {
        this.#pending.delete(id);
        // Safe: this window created the timer.
        this.window.clearTimeout(timer as never);
        signal?.removeEventListener("abort", aborted);
      };
      this.#pending.set(id, {
        resolve: (result) => [end(), resolve(result)],
        reject: (error) => [end(), reject(error)],
      });
      signal?.addEventListener("abort", aborted);
      try {
        this.#post({ id, method, params });
      } catch (error) {
        // `postMessage` cannot clone the params.
        end();
        throw error;
      }
    });
  }

  /** The error for a request that the host answered with `isError`. */
  refusal(method: string): HostError {
    return new HostError(NO_ANSWER, `the host refused ${method}`);
  }

  close(): void {
    this.#closed = true;
    for (const close of this.closers.splice(0)) close();
    for (const { reject } of [...this.#pending.values()]) reject(closedError());
  }

  #post(message: object): void {
    // The host's origin is unknown until its first answer. Before that, the page only sends `ui/initialize` and its
    // cancellation, which contain nothing confidential.
    this.window.parent.postMessage({ jsonrpc: "2.0", ...message }, this.#origin ?? "*");
  }

  #receive({ source, origin, data }: MessageEvent): void {
    if (source !== (this.window.parent as unknown) || data?.jsonrpc !== "2.0") return;
    if (this.#origin !== undefined && origin !== this.#origin) return;
    const { id, method, params, result, error } = data;
    if (typeof method === "string") {
      if (id === undefined) this.#listeners.notified(method, params ?? {});
      else void this.#answer(id, method, params ?? {});
      return;
    }
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    // Pages from files and sandboxes have an opaque origin, which cannot be a target of `postMessage`.
    if (origin !== "null" && origin !== "") this.#origin = origin;
    if (error === undefined) pending.resolve(result ?? {});
    else pending.reject(new HostError(Number(error?.code), String(error?.message), error?.data));
  }

  async #answer(id: unknown, method: string, params: Members): Promise<void> {
    const result = await this.#listeners.answer(method, params);
    if (result === undefined)
      this.#post({ id, error: { code: -32601, message: `this page does not support ${method}` } });
    else this.#post({ id, result });
  }
}
