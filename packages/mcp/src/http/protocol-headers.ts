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
