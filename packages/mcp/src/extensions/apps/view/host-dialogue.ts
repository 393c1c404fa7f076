/** The part of its window that a page uses; every browser's window fits. */
export interface ViewWindow {
  readonly parent: { postMessage(message: unknown, targetOrigin: string): void };
  readonly document: { readonly documentElement: ViewElement; readonly body: ViewElement | null };
  readonly console: { warn(message: string): void };
  readonly ResizeObserver?: new (changed: () => void) => { observe(element: never): void; disconnect(): void };
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  requestAnimationFrame(run: () => void): number;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: never): void;
}

/** The part of an element that its size is read from. */
export interface ViewElement {
  readonly style: { height: string };
  getBoundingClientRect(): { readonly width: number; readonly height: number };
  readonly scrollWidth: number;
}

/** A request that the host refused, or that it did not answer. */
export class HostError extends Error {
  override readonly name = "HostError";
  /** The host's code; -32000 if there was no answer. */
  readonly code: number;
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
  /** Answers a request of the host; undefined if there is no such method. Never rejects. */
  answer(method: string, params: Members): Promise<object | undefined>;
}

const NO_ANSWER = -32000;
const CANCELLED = "was given up";
const closedError = () => new HostError(NO_ANSWER, "the page has left its host");
/** Timers that are longer end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** JSON-RPC with the host, by messages of the window. */
export class HostDialogue {
  readonly window: ViewWindow;
  readonly #listeners: Listeners;
  readonly #pending = new Map<number, { resolve: (result: Members) => void; reject: (error: HostError) => void }>();
  /** The origin of the first answer; messages of another one are not the host's. */
  #origin: string | undefined;
  #lastId = 0;
  #closed = false;
  /** Called when the dialogue ends. */
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
        // Safe: the timer is this window's.
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
        // It cannot be cloned.
        end();
        throw error;
      }
    });
  }

  /** The error for a request that the host answered, but did not do. */
  refusal(method: string): HostError {
    return new HostError(NO_ANSWER, `the host refused ${method}`);
  }

  close(): void {
    this.#closed = true;
    for (const close of this.closers.splice(0)) close();
    for (const { reject } of [...this.#pending.values()]) reject(closedError());
  }

  #post(message: object): void {
    // The page cannot know its host before; what it sends first is its name and version.
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
    // Pages of files, and of sandboxes, have no origin that a message could be addressed to.
    if (origin !== "null" && origin !== "") this.#origin = origin;
    if (error === undefined) pending.resolve(result ?? {});
    else pending.reject(new HostError(Number(error?.code), String(error?.message), error?.data));
  }

  async #answer(id: unknown, method: string, params: Members): Promise<void> {
    const result = await this.#listeners.answer(method, params);
    if (result === undefined) this.#post({ id, error: { code: -32601, message: `this page does not know ${method}` } });
    else this.#post({ id, result });
  }
}
