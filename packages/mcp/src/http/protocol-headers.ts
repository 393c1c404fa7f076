import { isThenable } from "../encoding/maybe-promise.js";

/** The request headers to which HTTP or MCP gives a meaning on the way in, each as it was sent. */
export interface ProtocolHeaders {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
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

/** Headers by their lower-case names, as `node:http` gives them. */
export type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

/** Reads all of them at once, so that nothing behind an adapter has to look a header up again. */
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

/** One header as one text. */
export function headerValue(value: string | string[] | undefined): string | undefined {
  return typeof value === "object" ? value.join(", ") : value;
}

/** The names and values of a flat list of headers, pair by pair. */
export function* headerPairs(list: readonly string[]): Generator<[name: string, value: string]> {
  // The list holds whole pairs, so that no member is missing.
  for (let at = 0; at < list.length; at += 2) yield [list[at] as string, list[at + 1] as string];
}

/**
 * The headers of one request as a flat list. What the request itself says replaces what every request says, because a name
 * must not be sent twice. Names are in lower case already.
 */
export function headerList(always: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): string[] {
  const list: string[] = [];
  for (const name in always) if (!Object.hasOwn(own, name)) list.push(name, always[name] as string);
  for (const name in own) list.push(name, own[name] as string);
  return list;
}

/** The same headers with their names in lower case. */
export function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) result[name.toLowerCase()] = value;
  return result;
}

/** A token of RFC 9110, 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** Without the control characters that could end a header (RFC 9110, 5.5). */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** They delimit the reply, so only the transport may set them. */
const FRAMING = /^(content-length|transfer-encoding|connection|trailer|upgrade)$/i;

/**
 * Whether an answer of the application holds headers that can be sent. Every such answer passes here, because a runtime finds
 * out only while it writes, when the request can no longer be refused.
 */
export function areReplyHeaders(headers: unknown): headers is Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null || isThenable(headers)) return false;
  return Object.entries(headers).every(
    ([name, value]) => NAME.test(name) && !FRAMING.test(name) && typeof value === "string" && VALUE.test(value),
  );
}
