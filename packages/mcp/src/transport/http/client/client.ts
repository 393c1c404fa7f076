import type { Sender } from "../../../http/http.js";
import { shownUrl } from "../../../http/shown-url.js";
import type { Id } from "../../../jsonrpc/message.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import { DEFAULT_MAX_MESSAGE_BYTES } from "../../framing/frame-decoder.js";
import type { Outgoing, Receiver, Transport } from "../../transport.js";
import { ClientExchange } from "./exchange.js";
import { GetStream } from "./get-stream.js";
import type { RedirectPolicy } from "./redirect.js";
import { type HandshakeFacts, HttpRequests } from "./requests.js";

/** How an HTTP transport reaches its server. */
export interface HttpConnectionOptions extends RedirectPolicy {
  /** Sent with every request, and never to another origin. */
  headers?: Record<string, string> | undefined;
  timeouts?: HttpTimeouts | undefined;
  /** The longest event or body that is read. Default 16 MiB. */
  maxMessageBytes?: number | undefined;
  /** Whether a server with sessions is asked for a stream of what belongs to no request. Default true. */
  standingStream?: boolean | undefined;
  /**
   * Attempts in a row without any news before a stream is given up. Default: 8 for the stream of a request, no end for the
   * standing stream; the pace is bounded in any case.
   */
  maxReconnects?: number | undefined;
}

/** What an HTTP transport takes from the runtime. */
export interface HttpClientParts extends HttpConnectionOptions {
  sender: Sender;
  platform: Platform;
}

/** Waits that no call's own deadline bounds, in milliseconds. */
export interface HttpTimeouts {
  /** For the server to take a notification or an answer. Default 30 s. */
  sendMs?: number | undefined;
  /** For the end of the session on `close`. Default 2 s. */
  closeMs?: number | undefined;
}

const SEND_MS = 30_000;
const CLOSE_MS = 2_000;

/**
 * Reaches a server by Streamable HTTP, in every revision that has it: each message is a POST, answered by JSON or by a stream.
 *
 * Rejections beside those of `Transport`: `auth_required`, `insufficient_scope` and `transport_error` carry an `HttpFailure` in
 * `data`; an `RpcError` that came with an error status has one behind its `cause`; `httpStatusOf` reads both. Of a session
 * that the standing stream finds lost, `Receiver.fault` hears by an error of kind `session_lost`.
 */
export function httpClientTransport(url: string | URL, options: HttpClientParts): Transport {
  return new HttpTransport(httpAddress(url), options);
}

/** The address without its fragment. Throws when a request could never go there. */
export function httpAddress(address: string | URL): string {
  if (!URL.canParse(String(address)))
    throw badAddress(`"${address}" is not a URL`, "Write it with its scheme, for example `https://host/mcp`.");
  const url = new URL(String(address));
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw badAddress(`"${address}" has the scheme ${url.protocol}, which is not HTTP's`, schemeFix(url.protocol));
  }
  if (url.username !== "" || url.password !== "") {
    throw badAddress("the address holds credentials", "Move them into `headers` as `authorization`.");
  }
  url.hash = "";
  return url.href;
}

function schemeFix(protocol: string): string {
  if (protocol === "ws:" || protocol === "wss:")
    return "Pass `webSocketTransport(address)` of `@parley/mcp/transport` to `connect`.";
  return "Write it with its scheme, for example `http://localhost:3000/mcp`.";
}

function badAddress(message: string, fix: string): McpError {
  return new McpError("connect_failed", message, { fix });
}

class HttpTransport implements Transport {
  readonly kind = "http";
  readonly target: string;
  readonly #url: string;
  readonly #options: HttpClientParts;
  readonly #exchanges = new Map<Id, ClientExchange>();
  #requests: HttpRequests | undefined;
  #facts: HandshakeFacts = newFacts({});
  #getStream: GetStream | undefined;
  /** Notifications on their way; the standing stream is opened behind them, as some servers want to hear them first. */
  #telling: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(url: string, options: HttpClientParts) {
    this.#url = url;
    this.target = shownUrl(url);
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
    const told = this.#requests.tell(this.#facts, notification.text, notification.method, notification.headers);
    this.#telling = told.catch(() => {});
    return told;
  }

  abandon(id: Id, reason: Error): void {
    this.#exchanges.get(id)?.fail(reason);
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
    if (!hasSessions || this.#options.standingStream === false) return;
    const stream = new GetStream(requests, facts);
    this.#getStream = stream;
    requests.platform.defer(() => void this.#telling.then(() => stream.run()));
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
