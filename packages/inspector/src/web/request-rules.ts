import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "./refusal.js";

/**
 * Headers that decide about access. Requests that repeat one of them are refused, because an intermediary could use a
 * different value than this server.
 */
const SINGLE_HEADERS = new Set([
  "host",
  "origin",
  "cookie",
  "content-type",
  "x-parley-token",
  "sec-fetch-site",
  "sec-fetch-dest",
]);

const OPEN_THE_ADDRESS = "Open the address that the terminal printed.";

/**
 * Checks the origin of a request, before any secret is compared. Returns undefined if the request may proceed.
 *
 * - `Host` must name this machine, because an attacker can make another name resolve to this machine.
 * - `Origin` and `Sec-Fetch-Site` show which page sends the request. Only the inspector's own page may send requests.
 *   A user may also open the address directly.
 */
export function checkRequest(request: IncomingMessage, port: number): Refusal | undefined {
  const { headers, method, url = "" } = request;
  const once = request.rawHeaders.filter((name, at) => at % 2 === 0 && SINGLE_HEADERS.has(name.toLowerCase()));
  if (new Set(once.map((name) => name.toLowerCase())).size < once.length) {
    return refusal(400, "a header that must be unique was sent twice", OPEN_THE_ADDRESS);
  }
  if (!isOwnHost(headers.host, port)) {
    return refusal(403, "the `Host` header does not name this machine", OPEN_THE_ADDRESS);
  }
  if (method !== "GET" && method !== "POST")
    return refusal(405, "the method is neither GET nor POST", OPEN_THE_ADDRESS);
  if (!url.startsWith("/") || headers.upgrade !== undefined) {
    return refusal(400, "the page does not send requests like this one", OPEN_THE_ADDRESS);
  }
  const origin = headers.origin;
  if (origin === undefined ? method === "POST" : origin !== `http://${headers.host}`) {
    return refusal(403, "the request does not come from the inspector's own page", OPEN_THE_ADDRESS);
  }
  return checkFetchMetadata(request);
}

/**
 * Checks the fetch metadata, which browsers add and pages cannot change. Programs other than browsers do not send it.
 */
function checkFetchMetadata({ headers, url = "" }: IncomingMessage): Refusal | undefined {
  const [site, dest] = [headers["sec-fetch-site"], headers["sec-fetch-dest"]];
  const isPage = pathOf(url) === "/";
  const siteFits = site === undefined || site === "same-origin" || (site === "none" && isPage);
  const destFits = dest === undefined || !isPage || dest === "document";
  if (siteFits && destFits) return undefined;
  return refusal(403, "the request does not come from the inspector's own page", OPEN_THE_ADDRESS);
}

/** True if the `Host` header names this machine and port, in one of the two spellings of the page's address. */
export function isOwnHost(host: string | undefined, port: number): boolean {
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}

/** Returns the path of a request as sent, neither decoded nor normalized. Lookups compare the exact text. */
export function pathOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? url : url.slice(0, at);
}
