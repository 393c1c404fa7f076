import { CORE_METHODS, type Revision, shownRevision } from "@parley/mcp/protocol";
import type { TargetInfo } from "../contract/connections.js";

/** A request or notification of the timeline, and what must be known to send it again. */
export interface CopiedRequest {
  /** As it was sent. */
  readonly message: Readonly<Record<string, unknown>>;
  readonly target: {
    readonly kind: TargetInfo["kind"];
    /** As a command line would name it, without secrets. */
    readonly shown: string;
    readonly url?: string | undefined;
    readonly command?: readonly string[] | undefined;
  };
  readonly revision: Revision | undefined;
  /** `sse`: it went over HTTP+SSE, the transport of 2024-11-05. Default: Streamable HTTP. */
  readonly transport?: "http" | "sse" | undefined;
  /** Of the HTTP request, secrets still in it. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Members of `_meta` that every client writes for itself. */
const OWN_META = /^(?:io\.modelcontextprotocol\/.*|progressToken|traceparent|tracestate|baggage)$/;

/** The method of a request or notification; empty where it has none. */
export function methodOf({ message }: CopiedRequest): string {
  return typeof message.method === "string" ? message.method : "";
}

/** What the user asked for: the parameters without what a client adds to them by itself. */
export function ownParams({ message }: CopiedRequest): Readonly<Record<string, unknown>> {
  const { _meta, ...params } = isObject(message.params) ? message.params : {};
  const meta = Object.entries(isObject(_meta) ? _meta : {}).filter(([key]) => !OWN_META.test(key));
  return meta.length === 0 ? params : { ...params, _meta: Object.fromEntries(meta) };
}

/** Whether the revision begins with a handshake. */
export function hasHandshake({ revision }: CopiedRequest): boolean {
  return revision === undefined || shownRevision(revision).era === "stateful";
}

/** The tool, prompt or resource that a request names, which HTTP repeats in a header. */
export function namedIn(request: CopiedRequest): string | undefined {
  const field = CORE_METHODS.find(({ method }) => method === methodOf(request))?.nameField;
  const name = field === undefined ? undefined : ownParams(request)[field];
  return typeof name === "string" ? name : undefined;
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
