import { thrownMessage } from "../../../encoding/thrown-message.js";
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError } from "../../../jsonrpc/error.js";
import { classify, type Id, isObject, type Params, type RequestMessage } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import { type AppLimits, type AppRefusal, type HostWindow, MAX_TIMER_MS } from "./app-options.js";
import { messageFlaw, messageRate } from "./message-limits.js";
import { DENIED, type ViewRequestHandler } from "./view-requests.js";

/** Options of `ViewDialogue`. */
export interface ViewDialogueOptions {
  readonly window: HostWindow;
  readonly limits: AppLimits;
  readonly requestMs: number;
  /** Posts a message to the page. */
  post(message: object): void;
  /**
   * Returns the handler of a method. Undefined if the host does not offer the method, or offers it only after the
   * handshake.
   */
  handlerOf(method: string): ViewRequestHandler | undefined;
  /** Called with each notification of the page. */
  notified(method: string, params: Params): void;
  /** Called when the page has sent far more messages than the rate limit allows. */
  flooded(): void;
  /** Called with each refused message and each failed request. */
  refused(refusal: AppRefusal): void;
  /** Called when a function of the host failed. */
  warn(message: string): void;
}

/** A request of the page that is being handled. */
interface ActiveRequest {
  readonly abort: AbortController;
  readonly stop: () => void;
}

/**
 * A JSON-RPC connection to the page of an app. Validates and limits incoming messages, and answers every request in
 * time.
 */
export class ViewDialogue {
  readonly #options: ViewDialogueOptions;
  readonly #rate: ReturnType<typeof messageRate>;
  readonly #active = new Map<Id, ActiveRequest>();
  #sent: { id: Id; settle: () => void } | undefined;
  #lastId = 0;
  #ended = false;

  constructor(options: ViewDialogueOptions) {
    this.#options = options;
    this.#rate = messageRate(options.window, options.limits.maxMessagesPerSecond);
  }

  notify(method: string, params: object): void {
    if (!this.#ended) this.#options.post({ jsonrpc: "2.0", method, params });
  }

  /** Sends a request to the page. Resolves when the page answers with a result or an error, or after `ms`. */
  request(method: string, params: object, ms: number): Promise<void> {
    const id = `host-${++this.#lastId}`;
    return new Promise((resolve) => {
      const stop = this.#after(ms, resolve);
      this.#sent = { id, settle: () => [stop(), resolve()] };
      this.#options.post({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Handles a message of the page, which can be any value. */
  receive(data: unknown): void {
    if (this.#ended) return;
    const rate = this.#rate();
    if (rate === "flood") return this.#options.flooded();
    const flaw = rate === "refused" ? "the app sends too many messages" : messageFlaw(data, this.#options.limits);
    if (flaw !== undefined) return this.#refuse(data, flaw);
    const message = classify(data);
    switch (message.kind) {
      case "request":
        return this.#answer(message.message);
      case "notification": {
        const { method, params = {} } = message.message;
        return method === "notifications/cancelled" ? this.#cancel(params) : this.#options.notified(method, params);
      }
      case "result":
      case "error":
        if (message.message.id === this.#sent?.id) this.#sent?.settle();
        return;
      default:
        this.#refuse(data, message.kind === "invalid" ? message.reason : "batches are not allowed");
    }
  }

  /** Aborts all requests. Nothing is sent afterwards. */
  end(): void {
    this.#ended = true;
    for (const { abort, stop } of this.#active.values()) {
      stop();
      abort.abort(new RpcError(DENIED, "the app is closed"));
    }
    this.#active.clear();
    this.#sent?.settle();
  }

  /** Refuses a message. Answers it with an error if it has a method and a usable id. */
  #refuse(data: unknown, reason: string): void {
    const id = ownOf(data, "id");
    const method = ownOf(data, "method");
    this.#options.refused({ method: typeof method === "string" ? method.slice(0, 100) : undefined, reason });
    if (method === undefined || !(Number.isSafeInteger(id) || (typeof id === "string" && id.length <= 100))) return;
    this.#options.post({ jsonrpc: "2.0", id, error: { code: INVALID_REQUEST, message: reason } });
  }

  #answer({ id, method, params = {} }: RequestMessage): void {
    const handler = this.#options.handlerOf(method);
    if (this.#active.has(id)) return this.#refuse({ id, method }, "this id is in use");
    if (this.#active.size >= this.#options.limits.maxRequests) {
      return this.#fail(
        id,
        method,
        new RpcError(DENIED, `more than ${this.#options.limits.maxRequests} requests at once`),
      );
    }
    if (handler === undefined)
      return this.#fail(id, method, new RpcError(METHOD_NOT_FOUND, `${method} is not offered, or not yet`));
    const abort = new AbortController();
    const stop = this.#after(this.#options.requestMs, () => {
      const late = new RpcError(DENIED, `${method} took longer than ${this.#options.requestMs} ms`);
      if (this.#finish(id)) this.#fail(id, method, late);
      abort.abort(late);
    });
    this.#active.set(id, { abort, stop });
    handler(params, abort.signal).then(
      (result) => {
        if (!this.#finish(id)) return;
        try {
          this.#options.post({ jsonrpc: "2.0", id, result });
        } catch (error) {
          // `postMessage` cannot clone the result.
          this.#fail(id, method, error);
        }
      },
      (error: unknown) => {
        if (this.#finish(id)) this.#fail(id, method, error);
      },
    );
  }

  /** Removes a request. Returns false if the request was already answered or cancelled, or if the app is closed. */
  #finish(id: Id): boolean {
    this.#active.get(id)?.stop();
    return this.#active.delete(id) && !this.#ended;
  }

  #cancel({ requestId }: Params): void {
    // The cast is harmless: ids of other types are not in the map.
    const request = this.#active.get(requestId as Id);
    if (request === undefined || !this.#finish(requestId as Id)) return;
    request.abort.abort(new RpcError(DENIED, "the app cancelled the request"));
  }

  #fail(id: Id, method: string, error: unknown): void {
    const { code, message, reason } = errorForApp(error);
    this.#options.refused({ method, reason });
    if (message !== reason) this.#options.warn(`${method} of an app failed: ${reason}`);
    this.#options.post({ jsonrpc: "2.0", id, error: { code, message } });
  }

  #after(ms: number, run: () => void): () => void {
    const { window } = this.#options;
    const timer = window.setTimeout(run, Math.min(ms, MAX_TIMER_MS));
    // Safe: this window created the timer.
    return () => window.clearTimeout(timer as never);
  }
}

/**
 * Returns the error for the app and the reason for the host. The app does not learn about failures inside the host.
 */
function errorForApp(error: unknown): { code: number; message: string; reason: string } {
  if (error instanceof RpcError || (McpError.is(error) && error.remote)) {
    return { code: error.code, message: error.message, reason: error.message };
  }
  return { code: INTERNAL_ERROR, message: "the host failed", reason: thrownMessage(error) };
}

function ownOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
