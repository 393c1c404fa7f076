import type { Sender, SendRequest, SendResponse } from "../../http/http.js";
import { shownUrl } from "../../http/shown-url.js";
import { onAbort } from "../../platform/on-abort.js";
import type { Platform } from "../../platform/platform.js";
import type { UrlPolicy } from "./url-policy.js";

/** A request of the authorization flow: never with cookies, never beyond the policy, bounded in size and time. */
export type BoundedFetch = (url: string, init?: BoundedRequest) => Promise<Response>;

/** A request of the flow. */
export interface BoundedRequest {
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  /** False returns a redirect as it is. Default: true, within the same origin. */
  followRedirects?: boolean | undefined;
  /** Default: 5 s, for a POST 30 s. */
  timeoutMs?: number | undefined;
}

/** The parts of a bounded fetch. */
export interface BoundedFetchParts {
  readonly sender: Sender;
  readonly policy: UrlPolicy;
  readonly platform: Platform;
  /** Cancels the requests that are under way, and refuses later ones. */
  readonly signal?: AbortSignal | undefined;
}

const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 5_000;
/** Token endpoints of busy providers take longer than a document. */
const POST_TIMEOUT_MS = 30_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses for which a `Response` may have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);
/** Headers that the flow reads; no others are kept. */
const KEPT = ["content-type", "www-authenticate", "dpop-nonce", "date", "cache-control", "retry-after"];

/** Sends the requests of an authorization flow. Rejects with an `Error` whose message says what must change. */
export function boundedFetch({ sender, policy, platform, signal }: BoundedFetchParts): BoundedFetch {
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
    if (method !== "GET" && method !== "POST") throw new Error(`the flow sends no ${method} requests`);
    const list = Object.entries(headers).flatMap(([name, value]) => [name.toLowerCase(), value]);
    let target = checked(url, policy);
    for (let hops = 0; ; hops++) {
      const admits = policy.isServer(target) ? undefined : policy.admits;
      const request: SendRequest = { method, url: target, headers: list, admits };
      if (body !== undefined) request.body = body;
      const response = await send(request, timeoutMs ?? (method === "GET" ? TIMEOUT_MS : POST_TIMEOUT_MS));
      const location = response.headers.get("location");
      if (!REDIRECTS.has(response.status) || location === null || !followRedirects) return response;
      if (method !== "GET") throw new Error(`${shownUrl(target)} redirects a ${method}, which is never followed`);
      if (hops >= MAX_REDIRECTS) throw new Error(`${shownUrl(url)} redirects more than ${MAX_REDIRECTS} times`);
      target = redirected(target, location, policy);
    }
  };
}

async function read(response: SendResponse): Promise<Response> {
  const headers = new Headers();
  for (const name of REDIRECTS.has(response.status) ? ["location"] : KEPT) {
    const value = response.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  if (EMPTY.has(response.status) || REDIRECTS.has(response.status) || response.status < 200 || response.status > 599) {
    response.cancel();
    // A status that `Response` cannot have is as good as none.
    return new Response(null, {
      status: response.status < 200 || response.status > 599 ? 599 : response.status,
      headers,
    });
  }
  return new Response(await response.text(MAX_BYTES), { status: response.status, headers });
}

function checked(url: string, policy: UrlPolicy): string {
  const problem = policy.problemOf(url);
  if (problem !== undefined) throw new Error(`${shownUrl(url.slice(0, 200))} ${problem}, so it is not contacted`);
  return url;
}

function redirected(from: string, location: string, policy: UrlPolicy): string {
  const next = URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (next === undefined || next.origin !== new URL(from).origin) {
    throw new Error(`${shownUrl(from)} redirects to another origin, which is never followed`);
  }
  return checked(next.href, policy);
}
