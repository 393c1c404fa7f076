import type { Sender, SendRequest, SendResponse } from "../../http/http.js";
import { shownUrl } from "../../http/shown-url.js";
import { onAbort } from "../../platform/on-abort.js";
import type { Platform } from "../../platform/platform.js";
import type { UrlPolicy } from "./url-policy.js";

/**
 * Sends a request of the authorization flow: without cookies, within the address policy, and with limits on size and
 * time.
 */
export type BoundedFetch = (url: string, init?: BoundedRequest) => Promise<Response>;

/** A request of the authorization flow. */
export interface BoundedRequest {
  /** `GET` or `POST`. Default: `GET`. */
  method?: string | undefined;
  /** Headers by name, in any case. Default: none. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The body to send. Default: none. */
  body?: string | undefined;
  /**
   * False returns a redirect unchanged. Default: true, which follows redirects of GET requests within the same origin.
   */
  followRedirects?: boolean | undefined;
  /** Timeout in milliseconds. Default: 5 s, and 30 s for a POST. */
  timeoutMs?: number | undefined;
}

/** Options for `boundedFetch`. */
export interface BoundedFetchOptions {
  readonly sender: Sender;
  readonly policy: UrlPolicy;
  readonly platform: Platform;
  /** Cancels pending requests and rejects later ones. */
  readonly signal?: AbortSignal | undefined;
}

const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 5_000;
/** Longer than the timeout for documents, because token endpoints of busy providers are slower. */
const POST_TIMEOUT_MS = 30_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses for which a `Response` must not have a body. */
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304]);
/** Response headers that the flow reads. All others are dropped. */
const RESPONSE_HEADERS = ["content-type", "www-authenticate", "dpop-nonce", "date", "cache-control", "retry-after"];

/**
 * Creates the function that sends the requests of an authorization flow. It rejects with an `Error` whose message
 * states the problem.
 */
export function boundedFetch({ sender, policy, platform, signal }: BoundedFetchOptions): BoundedFetch {
  const send = (request: SendRequest, ms: number) =>
    new Promise<Response>((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const end = (reason: Error) => {
        reject(reason);
        cancel(reason);
      };
      const timer = platform.timer(ms, () => end(new Error(`${shownUrl(request.url)} did not answer within ${ms} ms`)));
      const remove = onAbort(signal, () => end(signal?.reason));
      const settle = (outcome: Promise<Response>) => {
        outcome.then(resolve, reject).finally(() => {
          timer.cancel();
          remove();
        });
      };
      const cancel = sender(
        request,
        (response) => settle(read(response)),
        (error) => settle(Promise.reject(error)),
      );
    });
  return async (url, { method = "GET", headers = {}, body, timeoutMs, followRedirects = true } = {}) => {
    if (method !== "GET" && method !== "POST") throw new Error(`the method ${method} is not supported`);
    const list = Object.entries(headers).flatMap(([name, value]) => [name.toLowerCase(), value]);
    let target = checkedUrl(url, policy);
    for (let hops = 0; ; hops++) {
      const admits = policy.isServer(target) ? undefined : policy.admits;
      const request: SendRequest = { method, url: target, headers: list, admits };
      if (body !== undefined) request.body = body;
      const response = await send(request, timeoutMs ?? (method === "GET" ? TIMEOUT_MS : POST_TIMEOUT_MS));
      const location = response.headers.get("location");
      if (!REDIRECTS.has(response.status) || location === null || !followRedirects) return response;
      if (method !== "GET") throw new Error(`${shownUrl(target)} redirects a ${method}, which is never followed`);
      if (hops >= MAX_REDIRECTS) throw new Error(`${shownUrl(url)} redirects more than ${MAX_REDIRECTS} times`);
      target = redirectTarget(target, location, policy);
    }
  };
}

async function read(response: SendResponse): Promise<Response> {
  const headers = new Headers();
  for (const name of REDIRECTS.has(response.status) ? ["location"] : RESPONSE_HEADERS) {
    const value = response.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  if (
    BODYLESS.has(response.status) ||
    REDIRECTS.has(response.status) ||
    response.status < 200 ||
    response.status > 599
  ) {
    response.cancel();
    // `Response` rejects statuses outside 200 to 599, so 599 replaces them.
    return new Response(null, {
      status: response.status < 200 || response.status > 599 ? 599 : response.status,
      headers,
    });
  }
  return new Response(await response.text(MAX_BYTES), { status: response.status, headers });
}

function checkedUrl(url: string, policy: UrlPolicy): string {
  const problem = policy.problemOf(url);
  if (problem !== undefined) throw new Error(`${shownUrl(url.slice(0, 200))} ${problem}, so it is not contacted`);
  return url;
}

function redirectTarget(from: string, location: string, policy: UrlPolicy): string {
  const next = URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (next === undefined || next.origin !== new URL(from).origin) {
    throw new Error(`${shownUrl(from)} redirects to another origin, which is never followed`);
  }
  return checkedUrl(next.href, policy);
}
