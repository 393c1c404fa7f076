import type { HttpRequestInfo } from "../../src/http/http.js";
import { protocolHeaders } from "../../src/http/protocol-headers.js";

/** The facts of a POST with these headers, by lower-case names. */
export function httpFacts(headers: Record<string, string>): HttpRequestInfo {
  return {
    method: "POST",
    path: "/mcp",
    protocolHeaders: protocolHeaders(headers),
    header: (name) => headers[name],
    headers: () => headers,
  };
}
