import { isThenable } from "../encoding/maybe-promise.js";
import type { Fetch } from "../platform/platform.js";
import { bodyTooLarge, readText } from "./body-limit.js";
import type { CancelRequest, Sender, SendRequest, SendResponse } from "./http.js";
import { headerPairs } from "./protocol-headers.js";

/**
 * Maximum size of a body that is read and discarded to reuse the connection. A longer body is cancelled, because a new
 * connection costs less than reading on.
 */
const MAX_DRAINED_BYTES = 64 * 1024;

/**
 * Sends requests with any `fetch`: that of the runtime, one that uses a proxy, or one of a test.
 *
 * Returns redirects instead of following them. In browsers, redirects have status 0. `fetch` decodes bodies, so limits
 * count decoded bytes.
 */
export function fetchSender(fetch: Fetch): Sender {
  return (request, onResponse, onError) => {
    // `fetch` accepts a signal only at the start, so every request needs a controller, even if it is never cancelled.
    const cancelled = new AbortController();
    send(fetch, request, cancelled.signal).then(onResponse, onError);
    return (reason) => cancelled.abort(reason);
  };
}

async function send(fetch: Fetch, request: SendRequest, signal: AbortSignal): Promise<SendResponse> {
  const { method, url, body } = request;
  const headers: Record<string, string> = {};
  for (const [name, value] of headerPairs(request.headers)) headers[name] = value;
  const init: RequestInit = { method, headers, redirect: "manual", signal };
  if (body !== undefined) init.body = body;
  return new FetchResponse(await fetch(url, init));
}

class FetchResponse implements SendResponse {
  readonly status: number;
  readonly #response: Response;

  constructor(response: Response) {
    this.#response = response;
    this.status = response.status;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  headers(): Record<string, string> {
    const { headers } = this.#response;
    // Looked up by name, because the entries list every `set-cookie` header separately.
    return Object.fromEntries([...headers.keys()].map((name) => [name, headers.get(name) ?? ""]));
  }

  async text(maxBytes: number): Promise<string> {
    const length = this.#plainLength();
    if (length === undefined) return readText(this.chunks(), maxBytes);
    if (length <= maxBytes) return this.#response.text();
    this.cancel();
    throw bodyTooLarge(maxBytes);
  }

  async *chunks(): AsyncIterable<Uint8Array> {
    const reader = this.#response.body?.getReader();
    if (reader === undefined) return;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      // Closes the connection without reading the rest of the body. Does nothing if the body has ended.
      reader.cancel().catch(() => {});
    }
  }

  cancel(): void {
    const { body } = this.#response;
    if (body === null || body.locked) return;
    const length = this.#plainLength();
    if (length !== undefined && length > MAX_DRAINED_BYTES) body.cancel().catch(() => {});
    else readText(this.chunks(), MAX_DRAINED_BYTES).catch(() => {});
  }

  /**
   * Returns the size of the body if it is known before reading, otherwise undefined. Browsers report the compressed
   * length and hide the encoding across origins, so the size of such bodies is unknown.
   */
  #plainLength(): number | undefined {
    const { headers, type } = this.#response;
    const length = headers.get("content-length");
    if (length === null || type === "cors" || headers.has("content-encoding")) return undefined;
    return /^\d+$/.test(length) ? Number(length) : undefined;
  }
}

/**
 * Wraps a sender of the application so that it meets the contract: if it throws, or returns a promise that rejects, the
 * request fails with that error.
 */
export function guardedSender(sender: Sender): Sender {
  // Programs without types may pass a promise instead of a sender. If it rejects before the first request, the
  // rejection must not be reported as unhandled.
  if (isThenable(sender)) sender.then(undefined, () => {});
  return (request, onResponse, onError) => {
    let cancel: unknown;
    try {
      cancel = isThenable(sender) ? sender : sender(request, onResponse, onError);
    } catch (error) {
      onError(error);
    }
    if (isThenable(cancel)) cancel.then(undefined, onError);
    // Safe: a function that a sender returns is its cancel function.
    return typeof cancel === "function" ? (cancel as CancelRequest) : onError;
  };
}
