import { isThenable } from "../encoding/maybe-promise.js";
import type { Fetch } from "../platform/platform.js";
import { bodyTooLarge, readText } from "./body-limit.js";
import type { CancelRequest, Sender, SendRequest, SendResponse } from "./http.js";
import { headerPairs } from "./protocol-headers.js";

/**
 * A body up to this size is read and discarded to keep the connection; a longer one is cancelled, because a new
 * connection then costs less than reading on.
 */
const DRAINED = 64 * 1024;

/**
 * Sends requests with any `fetch`: the runtime's, one behind a proxy, or a test's.
 *
 * Redirects are returned, not followed; in browsers they have status 0. `fetch` decodes bodies, and limits count the
 * decoded bytes.
 */
export function fetchSender(fetch: Fetch): Sender {
  return (request, onResponse, onError) => {
    // `fetch` takes its signal before it begins, so that it cannot wait for a cancellation.
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
    // By name, because the pairs tell each `set-cookie` for itself.
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
      // Closes the connection instead of reading on; does nothing if the body has ended.
      reader.cancel().catch(() => {});
    }
  }

  cancel(): void {
    const { body } = this.#response;
    if (body === null || body.locked) return;
    const length = this.#plainLength();
    if (length !== undefined && length > DRAINED) body.cancel().catch(() => {});
    else readText(this.chunks(), DRAINED).catch(() => {});
  }

  /**
   * The size of the body if it is certain before reading. Browsers report the compressed length and hide the encoding
   * across origins, so such bodies are counted while they arrive.
   */
  #plainLength(): number | undefined {
    const { headers, type } = this.#response;
    const length = headers.get("content-length");
    if (length === null || type === "cors" || headers.has("content-encoding")) return undefined;
    return /^\d+$/.test(length) ? Number(length) : undefined;
  }
}

/**
 * A sender that the application wrote, held to its contract: what it throws, or what a promise in place of its result is
 * rejected with, is the error of the request.
 */
export function guardedSender(sender: Sender): Sender {
  // Somebody who writes it as an async function has made a promise before anything is sent.
  if (isThenable(sender)) sender.then(undefined, () => {});
  return (request, onResponse, onError) => {
    let cancel: unknown;
    try {
      cancel = isThenable(sender) ? sender : sender(request, onResponse, onError);
    } catch (error) {
      onError(error);
    }
    if (isThenable(cancel)) cancel.then(undefined, onError);
    // Safe: a sender returns nothing else that can be called.
    return typeof cancel === "function" ? (cancel as CancelRequest) : onError;
  };
}
