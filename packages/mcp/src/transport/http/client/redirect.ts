import type { SendRequest, SendResponse } from "../../../http/http.js";
import { headerPairs } from "../../../http/protocol-headers.js";
import { shownUrl } from "../../../http/shown-url.js";
import { McpError } from "../../../protocol/error.js";
import type { HttpFailure } from "../../../protocol/http-failure.js";

/** Options for following redirects. */
export interface RedirectPolicy {
  /**
   * Also follow 307 and 308 to another origin, without the session, credentials and headers of the application. Default
   * false, because the other origin can read the calls.
   */
  allowCrossOriginRedirects?: boolean | undefined;
}

/**
 * Maximum number of redirects in a row. Enough for a trailing slash, a moved path and a canonical name. Beyond it, the
 * request fails, which ends loops.
 */
const MAX_REDIRECTS = 5;
/** Statuses of redirects. Browsers report 0 instead of the actual status. */
export const REDIRECTS: ReadonlySet<number> = new Set([0, 301, 302, 303, 307, 308]);
/** Headers that reveal nothing about the caller. Any other header may be a credential. */
const HARMLESS = new Set(["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"]);

/**
 * Returns the request that follows a redirect. Throws an `McpError` if the redirect has no valid target, would change
 * the method, replaces https by http, or is the sixth in a row. Also throws if the target has another origin, unless
 * `policy` allows that.
 */
export function afterRedirect(
  request: SendRequest,
  response: SendResponse,
  hops: number,
  policy: RedirectPolicy,
): SendRequest {
  response.cancel();
  const location = response.header("location");
  if (hops === MAX_REDIRECTS) throw refused(response.status, request, location, `more than ${MAX_REDIRECTS} in a row`);
  return next(request, response.status, location, policy);
}

function next(request: SendRequest, status: number, location: string | undefined, policy: RedirectPolicy): SendRequest {
  const refuse = (why: string, fix?: string) => refused(status, request, location, why, fix);
  if (status === 0) throw refuse("this runtime does not reveal the target", "Connect to the final address.");
  if (location === undefined) throw refuse("it has no Location header");
  if (request.method !== "GET" && status !== 307 && status !== 308) {
    throw refuse(
      "301, 302 and 303 turn a POST into a GET",
      "Connect to the final address, or let the server answer 307 or 308.",
    );
  }
  const from = new URL(request.url);
  const to = parse(location, from);
  if (to === undefined) throw refuse("the location is not an http(s) URL without credentials");
  if (from.protocol === "https:" && to.protocol === "http:") throw refuse("it leads from https to http");
  if (to.origin === from.origin) return { ...request, url: to.href };
  if (policy.allowCrossOriginRedirects !== true) {
    throw refuse("it leads to another origin", "Connect to that address, or set `allowCrossOriginRedirects`.");
  }
  const headers: string[] = [];
  for (const [name, value] of headerPairs(request.headers)) if (HARMLESS.has(name)) headers.push(name, value);
  return { ...request, url: to.href, headers };
}

function parse(location: string, base: URL): URL | undefined {
  if (!URL.canParse(location, base)) return undefined;
  const to = new URL(location, base);
  to.hash = "";
  const isHttp = to.protocol === "https:" || to.protocol === "http:";
  return isHttp && to.username === "" && to.password === "" ? to : undefined;
}

function refused(
  status: number,
  request: SendRequest,
  location: string | undefined,
  why: string,
  fix?: string,
): McpError {
  const data: HttpFailure = { status, ...(location === undefined ? {} : { location }) };
  const target = location === undefined ? "" : ` to ${shownUrl(location).slice(0, 300)}`;
  return new McpError(
    "transport_error",
    `the redirect (${status}) from ${shownUrl(request.url)}${target} was refused: ${why}`,
    {
      data,
      fix: fix ?? "Connect to the final address.",
    },
  );
}
