import type { Incoming } from "./incoming.js";
import { type Refusal, refusal } from "./refusal.js";

/** Returns why the headers of a body do not allow JSON, or undefined if they do. */
export function bodyTypeFault(http: Incoming): string | undefined {
  const { contentType, contentEncoding } = http.protocolHeaders;
  // A filter in front of the server may have checked one of the headers, and this server would use the other.
  if (http.contentTypeCount > 1) return "the request has more than one Content-Type";
  const fault = contentTypeFault(contentType);
  if (fault !== undefined) return fault;
  // The server never decompresses, so that a small body cannot expand a thousandfold.
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== "identity") {
    return "the body must not be encoded; send it without Content-Encoding";
  }
  return undefined;
}

/** Returns why a `Content-Type` is not JSON in UTF-8, or undefined if it is. */
function contentTypeFault(value: string | undefined): string | undefined {
  // Fast path: nearly every client sends exactly this.
  if (value === "application/json") return undefined;
  if (value === undefined) return "the request has no Content-Type; send application/json";
  // A substring search would accept `text/plain; a=application/json`, which any web page can send without a preflight.
  const [type, ...rest] = value.toLowerCase().split(";");
  const parameters = rest.filter((part) => part.trim() !== "").map((part) => part.split("="));
  const names = new Set(parameters.map(([name]) => name?.trim()));
  const isOdd = names.size < parameters.length || parameters.some((parameter) => parameter.length < 2);
  if (type?.trim() !== "application/json" || isOdd) return "the Content-Type must be application/json";
  const charset = parameters.find(([name]) => name?.trim() === "charset")?.[1];
  if (charset !== undefined && !/^\s*("?)utf-?8\1\s*$/.test(charset)) return "the charset must be utf-8";
  return undefined;
}

/** The media types that a client accepts as a reply. */
export interface Acceptance {
  json: boolean;
  events: boolean;
}

const BOTH: Acceptance = { json: true, events: true };

/**
 * Parses `Accept`. A missing header accepts everything, as in HTTP itself.
 *
 * Spec: Streamable HTTP, "Sending Messages",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
 */
export function acceptance(value: string | undefined): Acceptance {
  if (value === undefined || value === "application/json, text/event-stream" || value === "*/*") return BOTH;
  const accepted = { json: false, events: false };
  for (const item of value.toLowerCase().split(",")) {
    const [name, ...parameters] = item.split(";");
    if (parameters.some((parameter) => /^\s*q\s*=\s*0(\.0*)?\s*$/.test(parameter))) continue;
    const type = name?.trim();
    if (type === "*/*" || type === "application/json" || type === "application/*") accepted.json = true;
    if (type === "*/*" || type === "text/event-stream" || type === "text/*") accepted.events = true;
  }
  return accepted;
}

/**
 * True if `Accept` lists HTML and no event stream. Browsers list HTML. Clients of the protocol must list event streams
 * for a GET, and command-line tools accept any type.
 */
export function acceptsPage(value = ""): boolean {
  return (
    /(?:^|,)\s*text\/html\s*(?:$|,|;(?!\s*q\s*=\s*0(?:\.0*)?\s*(?:,|$)))/i.test(value) && !/event-stream/i.test(value)
  );
}

/** Returns the refusal of a POST with unacceptable headers, or undefined if the headers are acceptable. */
export function headerFault(http: Incoming): Refusal | undefined {
  const fault = bodyTypeFault(http);
  if (fault !== undefined) return refusal(415, fault);
  const accepted = acceptance(http.protocolHeaders.accept);
  if (accepted.json && accepted.events) return undefined;
  return refusal(406, "Accept must list both application/json and text/event-stream");
}
