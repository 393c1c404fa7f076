import { isThenable } from "../encoding/maybe-promise.js";

/** The request headers that HTTP or MCP defines, each as it was sent. */
export interface ProtocolHeaders {
  /** `Host`. */
  readonly host: string | undefined;
  /** `Origin`. */
  readonly origin: string | undefined;
  /** `Accept`. */
  readonly accept: string | undefined;
  /** `Content-Type`. */
  readonly contentType: string | undefined;
  /** `Content-Encoding`. */
  readonly contentEncoding: string | undefined;
  /** `Last-Event-ID`. */
  readonly lastEventId: string | undefined;
  /** `Mcp-Session-Id`. */
  readonly sessionId: string | undefined;
  /** `MCP-Protocol-Version`. */
  readonly protocolVersion: string | undefined;
  /** `Mcp-Method`. */
  readonly method: string | undefined;
  /** `Mcp-Name`. */
  readonly name: string | undefined;
}

/** Headers by their lower-case names, as in `node:http`. */
export type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

/** Reads all protocol headers at once, so that later code does not search for a header again. */
export function protocolHeaders(values: HeaderValues): ProtocolHeaders {
  return {
    host: headerValue(values["host"]),
    origin: headerValue(values["origin"]),
    accept: headerValue(values["accept"]),
    contentType: headerValue(values["content-type"]),
    contentEncoding: headerValue(values["content-encoding"]),
    lastEventId: headerValue(values["last-event-id"]),
    sessionId: headerValue(values["mcp-session-id"]),
    protocolVersion: headerValue(values["mcp-protocol-version"]),
    method: headerValue(values["mcp-method"]),
    name: headerValue(values["mcp-name"]),
  };
}

/** Returns a header as one text. Several values are joined by `, `. */
export function headerValue(value: string | string[] | undefined): string | undefined {
  return typeof value === "object" ? value.join(", ") : value;
}

/** Iterates over the names and values of a flat list of headers. */
export function* headerPairs(list: readonly string[]): Generator<[name: string, value: string]> {
  // Safe: the list consists of whole pairs.
  for (let at = 0; at < list.length; at += 2) yield [list[at] as string, list[at + 1] as string];
}

/**
 * Returns the headers of one request as a flat list. Headers in `own` replace those in `always`, because a name must
 * not occur twice. All names are already in lower case.
 */
export function headerList(always: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): string[] {
  const list: string[] = [];
  for (const name in always) if (!Object.hasOwn(own, name)) list.push(name, always[name] as string);
  for (const name in own) list.push(name, own[name] as string);
  return list;
}

/** Returns the same headers with their names in lower case. */
export function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) result[name.toLowerCase()] = value;
  return result;
}

/** A header name: a token of RFC 9110, 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** A header value. Control characters are excluded, because they could end the header (RFC 9110, 5.5). */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that delimit the reply. Only the transport may set them. */
const FRAMING = /^(content-length|transfer-encoding|connection|trailer|upgrade)$/i;

/**
 * True if headers from the application can be sent. They are checked in advance, because a runtime reports invalid
 * headers only while writing, when the request can no longer be refused.
 */
export function areReplyHeaders(headers: unknown): headers is Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null || isThenable(headers)) return false;
  return Object.entries(headers).every(
    ([name, value]) => NAME.test(name) && !FRAMING.test(name) && typeof value === "string" && VALUE.test(value),
  );
}
