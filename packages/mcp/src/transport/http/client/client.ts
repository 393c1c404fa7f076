import type { Sender } from "../../../http/http.js";
import { shownUrl } from "../../../http/shown-url.js";
import type { Id } from "../../../jsonrpc/message.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import { DEFAULT_MAX_MESSAGE_BYTES } from "../../framing/frame-decoder.js";
import { type NetworkFacts, networkOf, type Outgoing, type Receiver, type Transport } from "../../transport.js";
import { GetStream } from "./event-streams.js";
import { ClientExchange } from "./exchange.js";
import type { RedirectPolicy } from "./redirect.js";
import { type HandshakeFacts, HttpRequests } from "./requests.js";

/** How an HTTP transport reaches its server. */
export interface HttpConnectionOptions extends RedirectPolicy {
  /** Sent with every request, but never to another origin. */
  headers?: Record<string, string> | undefined;
  /** Limits on waits that no deadline of a call covers; each has its own default. */
  timeouts?: HttpTimeouts | undefined;
  /** Bytes of the longest event or body that is accepted. Default 16 MiB. */
  maxMessageBytes?: number | undefined;
  /** Whether to open the GET stream, for messages that belong to no request, on a server with sessions. Default true. */
  getStream?: boolean | undefined;
  /**
   * Consecutive attempts without an event before a stream is given up. Default: 8 for the stream of a request, no limit for
   * the GET stream. Attempts are spaced out either way.
   */
  maxReconnects?: number | undefined;
}

/** The options of an HTTP transport, and what it needs from the runtime. */
export interface HttpClientParts extends HttpConnectionOptions {
  sender: Sender;
  platform: Platform;
}

/** Limits on waits that no deadline of a call covers, in milliseconds. */
export interface HttpTimeouts {
  /** For the server to accept a notification or an answer. Default 30 s. */
  sendMs?: number | undefined;
  /** For `close` to end the session. Default 2 s. */
  closeMs?: number | undefined;
}

const SEND_MS = 30_000;
const CLOSE_MS = 2_000;

/**
 * Connects to a server over Streamable HTTP, in every revision that has it: each message is a POST, answered by JSON or by a
 * stream.
 *
 * Rejects as every `Transport` does, and also with `auth_required`, `insufficient_scope` and `transport_error`, which carry an
 * `HttpFailure` in `data`; an `RpcError` that arrived with an error status has one in its `cause`. `httpStatusOf` reads both.
 * When the GET stream finds the session lost, `Receiver.fault` gets an error of kind `session_lost`.
 */
export function httpClientTransport(url: string | URL, options: HttpClientParts): Transport {
  return new HttpTransport(httpAddress(url), options);
}

/** The address without its fragment. Throws if HTTP cannot reach it. */
export function httpAddress(address: string | URL): string {
  if (!URL.canParse(String(address)))
    throw badAddress(`"${address}" is not a valid URL`, "Include the scheme, for example `https://host/mcp`.");
  const url = new URL(String(address));
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw badAddress(`"${address}" has the scheme ${url.protocol}, not http: or https:`, schemeFix(url.protocol));
  }
  if (url.username !== "" || url.password !== "") {
    throw badAddress("the address contains credentials", "Move them into `headers` as `authorization`.");
  }
  url.hash = "";
  return url.href;
}

function schemeFix(protocol: string): string {
  if (protocol === "ws:" || protocol === "wss:")
    return "Pass `webSocketTransport(address)` of `@parley/mcp/transport` to `connect`.";
  return "Include the scheme, for example `http://localhost:3000/mcp`.";
}

function badAddress(message: string, fix: string): McpError {
  return new McpError("connect_failed", message, { fix });
}

class HttpTransport implements Transport {
  readonly kind = "http";
  readonly target: string;
  readonly network: NetworkFacts;
  readonly #url: string;
  readonly #options: HttpClientParts;
  readonly #exchanges = new Map<Id, ClientExchange>();
  #requests: HttpRequests | undefined;
  #facts: HandshakeFacts = newFacts({});
  #getStream: GetStream | undefined;
  /** The last notification being sent. The GET stream opens after it, because some servers require that order. */
  #lastNotification: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(url: string, options: HttpClientParts) {
    this.#url = url;
    this.target = shownUrl(url);
    this.network = networkOf(url, "http");
    this.#options = options;
  }

  open(receiver: Receiver): void {
    const { sender, platform, headers, timeouts, maxMessageBytes, maxReconnects } = this.#options;
    this.#requests = new HttpRequests({
      sender,
      redirects: this.#options,
      platform,
      receiver,
      url: this.#url,
      headers: headers ?? {},
      maxBytes: maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
      maxAttempts: maxReconnects,
      sendMs: timeouts?.sendMs ?? SEND_MS,
    });
    this.reset();
  }

  request(request: Outgoing & { id: Id }): Promise<unknown> {
    const requests = this.#requests;
    if (requests === undefined || this.#closing !== undefined) return Promise.reject(notOpen(this.target));
    if (this.#exchanges.has(request.id)) return Promise.reject(idInUse(request.id));
    return new Promise((resolve, reject) => {
      new ClientExchange(requests, this.#facts, request, this.#exchanges, resolve, reject).send();
    });
  }

  notify(notification: Outgoing): Promise<void> {
    if (this.#requests === undefined || this.#closing !== undefined) return Promise.reject(notOpen(this.target));
    const sent = this.#requests.tell(this.#facts, notification.text, notification.method, notification.headers);
    this.#lastNotification = sent.catch(() => {});
    return sent;
  }

  abandon(id: Id, reason: Error): void {
    this.#exchanges.get(id)?.fail(reason);
  }

  get sessionId(): string | undefined {
    return this.#facts.session;
  }

  get hasSession(): boolean | undefined {
    const { hasSessions, session } = this.#facts;
    return hasSessions === true ? session !== undefined : undefined;
  }

  established({ headers, hasSessions }: { headers: Record<string, string>; hasSessions: boolean }): void {
    const requests = this.#requests;
    if (requests === undefined || this.#closing !== undefined) return;
    const facts = this.#facts;
    facts.headers = requests.headersOf(headers);
    facts.hasSessions = hasSessions;
    if (!hasSessions) facts.session = undefined;
    this.#getStream?.stop();
    this.#getStream = undefined;
    if (!hasSessions || this.#options.getStream === false) return;
    const stream = new GetStream(requests, facts);
    this.#getStream = stream;
    requests.platform.defer(() => void this.#lastNotification.then(() => stream.run()));
  }

  reset(): void {
    this.#getStream?.stop();
    this.#getStream = undefined;
    this.#facts.retired = true;
    this.#facts = newFacts(this.#requests?.headersOf({}) ?? {});
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#getStream?.stop();
    const reason = new McpError("connection_closed", `the connection to ${this.target} was closed by this program`);
    for (const exchange of this.#exchanges.values()) exchange.cut(reason);
    this.#requests?.stop(reason);
    await this.#requests?.end(this.#facts, this.#options.timeouts?.closeMs ?? CLOSE_MS);
  }
}

function newFacts(headers: Record<string, string>): HandshakeFacts {
  return { hasSessions: undefined, session: undefined, headers, retired: false };
}

function notOpen(target: string): McpError {
  return new McpError("connection_closed", `the transport to ${target} is not open`, { fix: "Call `connect` first." });
}

function idInUse(id: Id): McpError {
  return new McpError("internal_error", `the request id ${JSON.stringify(id)} is in use`, {
    fix: "Give every request of one connection its own id.",
  });
}
