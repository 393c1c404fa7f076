import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "./refusal.js";

/** Headers by which access is decided: a second one could be read differently by something in between. */
const ONCE = new Set([
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
 * Judges where a request comes from, before any secret is compared. Undefined means that it may go on.
 *
 * - The name in `Host` must be this machine's, because a foreign name can be made to point here.
 * - Browsers say by `Origin` and `Sec-Fetch-Site` which page asks; only our own may, and a person who opens the address.
 */
export function judgeRequest(request: IncomingMessage, port: number): Refusal | undefined {
  const { headers, method, url = "" } = request;
  const once = request.rawHeaders.filter((name, at) => at % 2 === 0 && ONCE.has(name.toLowerCase()));
  if (new Set(once.map((name) => name.toLowerCase())).size < once.length) {
    return refusal(400, "a header that may be there once was sent twice", OPEN_THE_ADDRESS);
  }
  if (!isOwnHost(headers.host, port)) {
    return refusal(403, "the request names another host than this machine", OPEN_THE_ADDRESS);
  }
  if (method !== "GET" && method !== "POST")
    return refusal(405, "the method is neither GET nor POST", OPEN_THE_ADDRESS);
  if (!url.startsWith("/") || headers.upgrade !== undefined) {
    return refusal(400, "the request is none that the page sends", OPEN_THE_ADDRESS);
  }
  const origin = headers.origin;
  if (origin === undefined ? method === "POST" : origin !== `http://${headers.host}`) {
    return refusal(403, "the request does not come from the inspector's own page", OPEN_THE_ADDRESS);
  }
  return judgeFetch(request);
}

/** The metadata that browsers add and pages cannot change. Programs that are no browsers do not send it. */
function judgeFetch({ headers, url = "" }: IncomingMessage): Refusal | undefined {
  const [site, dest] = [headers["sec-fetch-site"], headers["sec-fetch-dest"]];
  const isPage = pathOf(url) === "/";
  const siteFits = site === undefined || site === "same-origin" || (site === "none" && isPage);
  const destFits = dest === undefined || !isPage || dest === "document";
  if (siteFits && destFits) return undefined;
  return refusal(403, "the request does not come from the inspector's own page", OPEN_THE_ADDRESS);
}

/** Whether a value of `Host` is this machine at a port, in the two spellings that the page may be opened by. */
export function isOwnHost(host: string | undefined, port: number): boolean {
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}

/** The path of a request as it was sent: nothing is decoded or resolved, and what is looked up by it is an exact name. */
export function pathOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? url : url.slice(0, at);
}
