import type { HeaderList, Incoming } from "./incoming.js";
import { corsOrigins } from "./origin.js";

/** Allows pages of other origins to call the server from a browser. */
export interface CorsOptions {
  /** Origins such as `https://app.example.com`, or `"*"` for every page. These origins also pass the Origin check. */
  origins: readonly string[] | "*";
  /** Allows the browser to send cookies and client certificates. Cannot be combined with `"*"`. Default false. */
  credentials?: boolean | undefined;
  /** Further request headers that pages may send, beyond those of the protocol. */
  headers?: readonly string[] | undefined;
  /**
   * Time for which a browser may cache the preflight response. Default 2 hours, the longest time that Chromium accepts.
   */
  maxAgeMs?: number | undefined;
}

const PROTOCOL_HEADERS = [
  "accept",
  "authorization",
  "content-type",
  "dpop",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "traceparent",
  "tracestate",
  "baggage",
];
const EXPOSED = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After";

/** Builds the CORS headers of replies. */
export interface Cors {
  /** True if pages of this origin may read replies. */
  allows(origin: string): boolean;
  /** The headers of a reply to `origin`. */
  reply(origin: string): HeaderList;
  /** The headers of the reply to a preflight from an origin that passed the Origin check. */
  preflight(incoming: Incoming, origin: string): HeaderList;
}

export function createCors(options: CorsOptions): Cors {
  const { credentials = false } = options;
  const origins = corsOrigins(options);
  const allows = (origin: string) => origins === "*" || origins.includes(origin);
  const allowed = new Set([...PROTOCOL_HEADERS, ...(options.headers ?? []).map((name) => name.toLowerCase())]);
  const maxAge = String(Math.floor((options.maxAgeMs ?? 7_200_000) / 1000));
  const base = (origin: string): string[] => {
    if (origins === "*" && !credentials) return ["access-control-allow-origin", "*"];
    if (!allows(origin)) return ["vary", "origin"];
    const headers = ["access-control-allow-origin", origin, "vary", "origin"];
    if (credentials) headers.push("access-control-allow-credentials", "true");
    return headers;
  };
  return {
    allows,
    reply: (origin) => [...base(origin), "access-control-expose-headers", EXPOSED],
    preflight(incoming, origin) {
      const requested = (incoming.header("access-control-request-headers") ?? "").toLowerCase().split(",", 64);
      // The names of `Mcp-Param-*` headers depend on the tools, so all such names are allowed.
      const names = requested
        .map((name) => name.trim())
        .filter((name) => allowed.has(name) || /^mcp-param-[!#$%&'*+.^_`|~\w-]+$/.test(name));
      const headers = [...base(origin), "access-control-allow-methods", "GET, POST, DELETE"];
      if (names.length > 0) headers.push("access-control-allow-headers", names.join(", "));
      headers.push("access-control-max-age", maxAge);
      return headers;
    },
  };
}
