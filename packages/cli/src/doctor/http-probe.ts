import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { META, REVISIONS } from "@parley/mcp/protocol";

/** One HTTP request of a checkup. */
export interface Probe {
  readonly url: string;
  readonly method: "GET" | "POST" | "OPTIONS";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer to a probe. */
export interface ProbeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The beginning of the body, at most `MAX_BODY_BYTES` bytes. */
  readonly body: string;
  /** The media type in lower case, without parameters. Empty if absent. */
  readonly type: string;
}

/** Maximum number of body bytes that are read, enough to recognize the content. A hostile body may never end. */
const MAX_BODY_BYTES = 64 * 1024;
/** Time limit for the body, counted from the arrival of the headers. */
const BODY_MS = 1_000;

/**
 * Sends one request without following redirects. Rejects with the network error, or with a `ProbeTimeout` if no
 * response begins within `ms`.
 */
export function sendProbe(probe: Probe, ms: number, signal: AbortSignal): Promise<ProbeAnswer> {
  const { url, method, headers, body } = probe;
  const start = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const all = { ...headers, ...length };
    const options = { method, headers: all, agent: false, signal, servername: nameOf(url), setHost: !hasHost(headers) };
    const sent = start(url, options, (incoming) => {
      clearTimeout(timer);
      readStart(incoming, (text) => {
        sent.destroy();
        resolve(answerOf(incoming, text));
      });
    });
    const timer = setTimeout(() => sent.destroy(new ProbeTimeout(ms)), ms);
    sent.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sent.end(body);
  });
}

/** Thrown if the server does not answer in time. */
export class ProbeTimeout extends Error {
  override readonly name = "ProbeTimeout";

  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/**
 * Reads until the body ends, is long enough, or takes too long. Reads only the first chunk of an event stream, because
 * the stream may stay open. Calls `done` with the text received so far.
 */
function readStart(incoming: IncomingMessage, done: (text: string) => void): void {
  const parts: Buffer[] = [];
  let bytes = 0;
  const finish = () => {
    clearTimeout(timer);
    incoming.off("data", collect);
    done(Buffer.concat(parts).subarray(0, MAX_BODY_BYTES).toString());
  };
  const collect = (chunk: Buffer) => {
    parts.push(chunk);
    bytes += chunk.length;
    const isFirstEvent = /^text\/event-stream/i.test(incoming.headers["content-type"] ?? "");
    if (bytes >= MAX_BODY_BYTES || isFirstEvent) finish();
  };
  const timer = setTimeout(finish, BODY_MS);
  incoming.on("data", collect);
  incoming.on("end", finish);
  // Bytes received before the connection broke are still useful.
  incoming.on("error", finish);
}

function answerOf({ statusCode = 0, headers }: IncomingMessage, body: string): ProbeAnswer {
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  return { status: statusCode, headers, body, type: type.trim().toLowerCase() };
}

/**
 * The TLS server name, which the certificate must match. Empty for an IP address. By default Node would use the `Host`
 * header, which some probes forge.
 */
function nameOf(url: string): string {
  const { hostname } = new URL(url);
  return isIP(hostname.replace(/^\[(.*)\]$/, "$1")) === 0 ? hostname : "";
}

function hasHost(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "host");
}

/** The newest revision, which clients try first. */
const NEWEST = REVISIONS.at(-1) ?? "";

/**
 * Builds `server/discover`, the first request of a client. It changes nothing, and servers of every revision answer it,
 * some of them with an error.
 */
export function discoverProbe(url: string, headers: Readonly<Record<string, string>>): Probe {
  const meta = {
    [META.protocolVersion]: NEWEST,
    [META.clientInfo]: { name: "parley", version: "0" },
    [META.clientCapabilities]: {},
  };
  return {
    url,
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": NEWEST,
      "mcp-method": "server/discover",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: meta } }),
  };
}

/** True if the body is a JSON-RPC message. */
export function isJsonRpc({ body }: ProbeAnswer): boolean {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && "jsonrpc" in value;
  } catch {
    return false;
  }
}
