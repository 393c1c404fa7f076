import { CORE_METHODS, type Revision, shownRevision } from "@parley/mcp/protocol";
import type { TargetInfo } from "../contract/connections.js";

/** A request or notification of the timeline, with the context that is needed to send it again. */
export interface CopiedRequest {
  /** The message as sent. */
  readonly message: Readonly<Record<string, unknown>>;
  readonly target: {
    readonly kind: TargetInfo["kind"];
    /** The target as it would be written on a command line, without secrets. */
    readonly shown: string;
    readonly url?: string | undefined;
    readonly command?: readonly string[] | undefined;
  };
  readonly revision: Revision | undefined;
  /** `sse`: HTTP+SSE, the transport of 2024-11-05. Default: Streamable HTTP. */
  readonly transport?: "http" | "sse" | undefined;
  /** The headers of the HTTP request, which may contain secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Members of `_meta` that every client adds itself. */
const OWN_META = /^(?:io\.modelcontextprotocol\/.*|progressToken|traceparent|tracestate|baggage)$/;

/** Returns the method of the message. Empty if the message has none. */
export function methodOf({ message }: CopiedRequest): string {
  return typeof message.method === "string" ? message.method : "";
}

/** Returns the parameters without the members that a client adds itself. */
export function ownParams({ message }: CopiedRequest): Readonly<Record<string, unknown>> {
  const { _meta, ...params } = isObject(message.params) ? message.params : {};
  const meta = Object.entries(isObject(_meta) ? _meta : {}).filter(([key]) => !OWN_META.test(key));
  return meta.length === 0 ? params : { ...params, _meta: Object.fromEntries(meta) };
}

/**
 * True if connections in this revision start with a handshake. An unknown revision is treated as one with a handshake.
 */
export function hasHandshake({ revision }: CopiedRequest): boolean {
  return revision === undefined || shownRevision(revision).era === "stateful";
}

/** Returns the name of the tool, prompt or resource in a request. Over HTTP, a header repeats this name. */
export function namedIn(request: CopiedRequest): string | undefined {
  const field = CORE_METHODS.find(({ method }) => method === methodOf(request))?.nameField;
  const name = field === undefined ? undefined : ownParams(request)[field];
  return typeof name === "string" ? name : undefined;
}

/** True if a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
