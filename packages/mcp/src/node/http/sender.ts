import type { LookupAddress } from "node:dns";
import type * as NodeHttp from "node:http";
import type * as NodeHttps from "node:https";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import type * as NodeZlib from "node:zlib";
import { bodyTooLarge } from "../../http/body-limit.js";
import type { Sender, SendRequest, SendResponse } from "../../http/http.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import { checkOptions } from "../../protocol/check-options.js";
import { builtin } from "../builtin.js";

/** Options for `nodeSender`. */
export interface NodeSenderOptions {
  /** Agents to use instead of the sender's own, for proxies, client certificates or Unix sockets. */
  agents?: { http?: NodeHttp.Agent | undefined; https?: NodeHttps.Agent | undefined } | undefined;
  /**
   * The `accept-encoding` header. Default: `identity`, because for small messages decompression costs more than it
   * saves.
   */
  acceptEncoding?: string | undefined;
}

/**
 * Time after which an idle connection is closed, in milliseconds. A Node server closes idle connections after 5 s.
 * Closing them earlier here means that requests rarely use a closing socket.
 */
const IDLE_MS = 4_000;
/**
 * Maximum number of connections to one server. Further requests wait. Far above any sensible number of streams, but
 * below the usual descriptor limit of a process.
 */
const MAX_SOCKETS = 512;
/** Time in milliseconds for the rest of an unwanted body to arrive. After that, its connection is closed. */
const DRAIN_MS = 100;
/** Maximum number of parsed addresses in the cache. Beyond it, the cache is cleared. */
const MAX_TARGETS = 64;

/**
 * Sends requests with `node:http` and `node:https` over persistent connections, several times faster than `fetch`.
 *
 * Loads both modules with the first request. Idle connections close after 4 s and do not keep the process alive. Never
 * repeats a failed request, even on a connection that the server just closed, because the server may have processed the
 * request.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/http.md | Serving over HTTP}
 */
export function nodeSender(options: NodeSenderOptions = {}): Sender {
  checkOptions("nodeSender", options, "agents acceptEncoding");
  const pool = new Pool(options);
  return (request, onResponse, onError) => {
    let incoming: NodeHttp.IncomingMessage | undefined;
    try {
      const outgoing = pool.start(request, (response) => {
        incoming = response;
        onResponse(new NodeResponse(response));
      });
      outgoing.on("error", onError);
      outgoing.end(request.body);
      // Once the response has begun, destroy the response instead of the request, so that the reader of the response
      // gets the reason.
      return (reason) => void (incoming ?? outgoing).destroy(reason);
    } catch (error) {
      // For example, a header is invalid. Reported asynchronously, like every other error.
      queueMicrotask(() => onError(error));
      return () => {};
    }
  };
}

/** The parsed form of an address. */
interface Target {
  protocol: string;
  host: string;
  hostname: string;
  port: string | undefined;
  path: string;
  agent: NodeHttp.Agent;
}

/** The agents, and a cache of parsed addresses. */
class Pool {
  readonly #options: NodeSenderOptions;
  readonly #targets = new BoundedMap<string, Target>(MAX_TARGETS, "all");
  readonly #acceptEncoding: string;
  #http: NodeHttp.Agent | undefined;
  #https: NodeHttps.Agent | undefined;

  constructor(options: NodeSenderOptions) {
    this.#options = options;
    this.#acceptEncoding = options.acceptEncoding ?? "identity";
  }

  start(request: SendRequest, onResponse: (incoming: NodeHttp.IncomingMessage) => void): NodeHttp.ClientRequest {
    const { protocol, host, hostname, port, path, agent } = this.#target(request.url);
    const { method } = request;
    if (request.newConnection === true) closeIdle(agent);
    // A flat list costs Node half as much as an object, but Node then adds no `host` header.
    const headers = [...request.headers];
    // A header of the program replaces the sender's own.
    if (!hasHeader(headers, "host")) headers.push("host", host);
    if (!hasHeader(headers, "accept-encoding")) headers.push("accept-encoding", this.#acceptEncoding);
    if (request.body !== undefined) headers.push("content-length", String(Buffer.byteLength(request.body)));
    const start = protocol === "https:" ? https().request : http().request;
    const options: NodeHttp.RequestOptions = { protocol, hostname, port, path, agent, method, headers };
    if (request.admits !== undefined) options.lookup = checkedLookup(request.admits);
    return start(options, onResponse);
  }

  #target(address: string): Target {
    const known = this.#targets.get(address);
    if (known !== undefined) return known;
    const url = new URL(address);
    const target: Target = {
      protocol: url.protocol,
      host: url.host,
      // An IPv6 literal has brackets in a URL, but not in socket options.
      hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: url.port === "" ? undefined : url.port,
      path: url.pathname + url.search,
      agent: url.protocol === "https:" ? this.#httpsAgent() : this.#httpAgent(),
    };
    this.#targets.set(address, target);
    return target;
  }

  #httpAgent(): NodeHttp.Agent {
    this.#http ??= this.#options.agents?.http ?? new (http().Agent)(AGENT_OPTIONS);
    return this.#http;
  }

  #httpsAgent(): NodeHttps.Agent {
    this.#https ??= this.#options.agents?.https ?? new (https().Agent)(AGENT_OPTIONS);
    return this.#https;
  }
}

/**
 * Closes idle connections, because a server or proxy that has closed one connection has often closed all of them. An
 * agent of another library may have no `freeSockets`.
 */
function closeIdle(agent: NodeHttp.Agent): void {
  for (const sockets of Object.values(agent.freeSockets ?? {})) for (const socket of sockets ?? []) socket.destroy();
}

/** True if a flat list of headers, with lower-case names, contains the header `name`. */
function hasHeader(headers: readonly string[], name: string): boolean {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return true;
  return false;
}

/** Reuses the most recently used connection first, so that the others reach their idle timeout. */
const AGENT_OPTIONS = { keepAlive: true, scheduling: "lifo", timeout: IDLE_MS, maxSockets: MAX_SOCKETS } as const;

/**
 * Resolves names, and fails if one of the addresses is not allowed. The connection uses the checked addresses, so a
 * name that resolves differently a moment later has no effect.
 */
function checkedLookup(admits: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    builtin("node:dns").lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const refused = error === null ? addresses.find(({ address }) => !admits(address)) : undefined;
      const [first] = addresses ?? [];
      if (error !== null) callback(error, []);
      else if (refused !== undefined) callback(refusedAddress(hostname), []);
      else if (options.all === true || first === undefined) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function refusedAddress(hostname: string): NodeJS.ErrnoException {
  const error = new Error(`${hostname} resolves to an address that must not be contacted`);
  return Object.assign(error, { code: "ERR_ADDRESS_REFUSED" });
}

class NodeResponse implements SendResponse {
  readonly status: number;
  readonly #incoming: NodeHttp.IncomingMessage;
  #broken: Error | undefined;

  constructor(incoming: NodeHttp.IncomingMessage) {
    this.#incoming = incoming;
    this.status = incoming.statusCode ?? 0;
    // Without a listener, a connection that breaks before the body is read would end the process.
    incoming.on("error", (error) => {
      this.#broken = error;
    });
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  headers(): Record<string, string> {
    return Object.fromEntries(Object.keys(this.#incoming.headers).map((name) => [name, this.header(name) ?? ""]));
  }

  text(maxBytes: number): Promise<string> {
    const body = decoded(this.#incoming);
    return new Promise((resolve, reject) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      let ended = false;
      body.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          this.#incoming.destroy();
          return reject(bodyTooLarge(maxBytes));
        }
        parts.push(chunk);
      });
      body.on("end", () => {
        ended = true;
        resolve(textOf(parts));
      });
      if (body !== this.#incoming) body.on("error", reject);
      body.on("close", () => {
        if (!ended) reject(this.#broken ?? new Error("the connection closed before the end of the body"));
      });
    });
  }

  chunks(): AsyncIterable<Uint8Array> {
    return decoded(this.#incoming);
  }

  cancel(): void {
    const incoming = this.#incoming;
    incoming.resume();
    if (incoming.complete) return;
    const timer = setTimeout(() => incoming.destroy(), DRAIN_MS).unref();
    incoming.once("close", () => clearTimeout(timer));
  }
}

/** Decodes like `fetch`: UTF-8, without a byte order mark. */
function textOf(parts: Buffer[]): string {
  const text = parts.length === 1 ? String(parts[0]) : Buffer.concat(parts).toString();
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Returns the decoded body. Some servers compress although `accept-encoding` forbids it. */
function decoded(incoming: NodeHttp.IncomingMessage): Readable {
  const encoding = incoming.headers["content-encoding"]?.trim().toLowerCase();
  if (encoding === undefined || encoding === "" || encoding === "identity") return incoming;
  const decoder = decoderFor(encoding);
  if (decoder === undefined) {
    const error = new Error(`the content encoding "${encoding}" is not supported`);
    incoming.destroy(Object.assign(error, { code: "ERR_CONTENT_ENCODING" }));
    return incoming;
  }
  incoming.on("error", (error) => decoder.destroy(error));
  decoder.on("close", () => incoming.destroy());
  return incoming.pipe(decoder);
}

function decoderFor(encoding: string) {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return zlib().createGunzip();
    case "deflate":
      return zlib().createInflate();
    case "br":
      return zlib().createBrotliDecompress();
    default:
      return undefined;
  }
}

// Loaded on first use, so that a program that uses stdio does not load HTTP and TLS.
let httpModule: typeof NodeHttp | undefined;
let httpsModule: typeof NodeHttps | undefined;
let zlibModule: typeof NodeZlib | undefined;

function http(): typeof NodeHttp {
  httpModule ??= builtin("node:http");
  return httpModule;
}

function https(): typeof NodeHttps {
  httpsModule ??= builtin("node:https");
  return httpsModule;
}

function zlib(): typeof NodeZlib {
  zlibModule ??= builtin("node:zlib");
  return zlibModule;
}
