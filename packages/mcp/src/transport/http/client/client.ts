import type { CancelRequest, Sender, SendResponse } from "../../../http/http.js";
import { shownUrl } from "../../../http/shown-url.js";
import { RpcError } from "../../../jsonrpc/error.js";
import { type ClassifiedMessage, classify, type Id, parseMessage } from "../../../jsonrpc/message.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import { DEFAULT_MAX_MESSAGE_BYTES } from "../../framing/frame-decoder.js";
import { type NetworkInfo, networkOf, type Outgoing, type Receiver, type Transport } from "../../transport.js";
import { AnswerStream, GetStream, isEventStream, type StreamedExchange } from "./event-streams.js";
import { describeBody, networkError, StreamFaults } from "./failure.js";
import { REDIRECTS, type RedirectPolicy } from "./redirect.js";
import { type HandshakeState, HttpRequests, SESSION_HEADER } from "./requests.js";

/** Options for connecting to a server over HTTP. */
export interface HttpConnectionOptions extends RedirectPolicy {
  /** Headers that are sent with every request, but never to another origin. */
  headers?: Record<string, string> | undefined;
  /** Time limits for operations that no call deadline covers. Each has its own default. */
  timeouts?: HttpTimeouts | undefined;
  /** Largest event or body that the client accepts, in bytes. Default 16 MiB. */
  maxMessageBytes?: number | undefined;
  /** True to open the GET stream, for messages outside requests, on a server with sessions. Default true. */
  getStream?: boolean | undefined;
  /**
   * Maximum number of consecutive attempts without an event before the client gives up a stream. Default: 8 for the
   * stream of a request, no limit for the GET stream. The client pauses between attempts in both cases.
   */
  maxReconnects?: number | undefined;
}

/** The options of an HTTP transport with the parts of the runtime that it uses. */
export interface HttpClientOptions extends HttpConnectionOptions {
  sender: Sender;
  platform: Platform;
}

/** Time limits for operations that no call deadline covers, in milliseconds. */
export interface HttpTimeouts {
  /** Time for the server to accept a notification or an answer. Default 30 s. */
  sendMs?: number | undefined;
  /** Time for `close` to end the session. Default 2 s. */
  closeMs?: number | undefined;
}

const SEND_MS = 30_000;
const CLOSE_MS = 2_000;

/**
 * Connects to a server over Streamable HTTP, in every revision that has this transport: each message is a POST,
 * answered by JSON or by a stream.
 *
 * Rejects as every `Transport` does, and also with `auth_required`, `insufficient_scope` and `transport_error`, which
 * have an `HttpFailure` in `data`. An `RpcError` that arrived with an error status has a `transport_error` as `cause`.
 * `httpStatusOf` reads the status from both. When the GET stream finds the session lost, `Receiver.fault` receives an
 * error of kind `session_lost`.
 */
export function httpClientTransport(url: string | URL, options: HttpClientOptions): Transport {
  return new HttpTransport(httpAddress(url), options);
}

/** Returns the address without its fragment. Throws if it is not an http or https URL, or contains credentials. */
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
  readonly network: NetworkInfo;
  readonly #url: string;
  readonly #options: HttpClientOptions;
  readonly #exchanges = new Map<Id, ClientExchange>();
  #requests: HttpRequests | undefined;
  #handshake: HandshakeState = newHandshake({});
  #getStream: GetStream | undefined;
  /**
   * Resolves when the last notification was sent or has failed. The GET stream opens after that, because some servers
   * require this order.
   */
  #lastNotification: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(url: string, options: HttpClientOptions) {
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
      new ClientExchange(requests, this.#handshake, request, this.#exchanges, resolve, reject).send();
    });
  }

  notify(notification: Outgoing): Promise<void> {
    if (this.#requests === undefined || this.#closing !== undefined) return Promise.reject(notOpen(this.target));
    const sent = this.#requests.post(this.#handshake, notification.text, notification.method, notification.headers);
    this.#lastNotification = sent.catch(() => {});
    return sent;
  }

  abandon(id: Id, reason: Error): void {
    this.#exchanges.get(id)?.fail(reason);
  }

  get sessionId(): string | undefined {
    return this.#handshake.session;
  }

  get hasSession(): boolean | undefined {
    const { hasSessions, session } = this.#handshake;
    return hasSessions === true ? session !== undefined : undefined;
  }

  established({ headers, hasSessions }: { headers: Record<string, string>; hasSessions: boolean }): void {
    const requests = this.#requests;
    if (requests === undefined || this.#closing !== undefined) return;
    const handshake = this.#handshake;
    handshake.headers = requests.headersOf(headers);
    handshake.hasSessions = hasSessions;
    if (!hasSessions) handshake.session = undefined;
    this.#getStream?.stop();
    this.#getStream = undefined;
    if (!hasSessions || this.#options.getStream === false) return;
    const stream = new GetStream(requests, handshake);
    this.#getStream = stream;
    requests.platform.defer(() => void this.#lastNotification.then(() => stream.run()));
  }

  reset(): void {
    this.#getStream?.stop();
    this.#getStream = undefined;
    this.#handshake.retired = true;
    this.#handshake = newHandshake(this.#requests?.headersOf({}) ?? {});
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
    await this.#requests?.end(this.#handshake, this.#options.timeouts?.closeMs ?? CLOSE_MS);
  }
}

function newHandshake(headers: Record<string, string>): HandshakeState {
  return { hasSessions: undefined, session: undefined, headers, retired: false };
}

function notOpen(target: string): McpError {
  return new McpError("connection_closed", `the transport to ${target} is not open`, { fix: "Call `connect` first." });
}

function idInUse(id: Id): McpError {
  return new McpError("internal_error", `the request id ${JSON.stringify(id)} is in use`, {
    fix: "Use a different id for every request of one connection.",
  });
}

/** One posted request, the messages that belong to it, and its result or error. */
class ClientExchange implements StreamedExchange {
  readonly #requests: HttpRequests;
  readonly #handshake: HandshakeState;
  readonly #request: Outgoing & { id: Id };
  readonly #open: Map<Id, ClientExchange>;
  readonly #resolve: (result: unknown) => void;
  readonly #reject: (error: Error) => void;
  /** Ends the current connection. */
  #cancel: CancelRequest | undefined;
  settled = false;
  /** Created with the first fault. */
  #faults: StreamFaults | undefined;
  /** The session id in the response. The session begins if the answer is a result. */
  #offered: string | undefined;

  /**
   * The map `open` contains this exchange until its last connection ends. The exchange calls either `resolve` or
   * `reject`, once.
   */
  constructor(
    requests: HttpRequests,
    handshake: HandshakeState,
    request: Outgoing & { id: Id },
    open: Map<Id, ClientExchange>,
    resolve: (result: unknown) => void,
    reject: (error: Error) => void,
  ) {
    this.#requests = requests;
    this.#handshake = handshake;
    this.#request = request;
    this.#open = open;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get method(): string {
    return this.#request.method;
  }

  get session(): string | undefined {
    return this.#handshake.session ?? this.#offered;
  }

  send(): void {
    const { id, text, headers, resent } = this.#request;
    this.#open.set(id, this);
    const request = this.#requests.postRequest(this.#handshake, text, headers);
    if (resent === true) request.newConnection = true;
    request.onUserWait = () => this.#requests.userWait(id);
    const broke = (error: unknown) => this.#broke(error);
    this.#cancel = this.#requests.send(
      request,
      (response) => {
        if (!REDIRECTS.has(response.status)) return this.#read(response);
        const hold = (cancel: CancelRequest) => this.hold(cancel);
        this.#requests.follow(request, response, hold).then((final) => this.#read(final), broke);
      },
      broke,
    );
  }

  hold(cancel: CancelRequest): void {
    this.#cancel = cancel;
  }

  received(text: string): void {
    this.#deliver(parseMessage(text));
  }

  /** Rejects with `reason` and closes the connection, unless the exchange is settled. */
  fail(reason: Error): void {
    if (this.settled) return;
    this.settled = true;
    this.#reject(reason);
    this.#cancel?.(reason);
  }

  /** Closes the connection, even if the exchange is settled. If the exchange is not settled, rejects with `reason`. */
  cut(reason: Error): void {
    this.fail(reason);
    this.#cancel?.(reason);
  }

  /** Starts to read in the turn in which the response arrived, before the runtime buffers the body. */
  #read(response: SendResponse): void {
    try {
      if (this.#handshake.hasSessions === undefined && this.#handshake.session === undefined) {
        this.#offered = sessionOf(response);
      }
    } catch (error) {
      return this.#broke(error);
    }
    const type = response.header("content-type");
    if (response.status === 200 && type?.startsWith("application/json") === true) {
      response.text(this.#requests.maxBytes).then(
        (text) => this.#readWhole(response, text),
        (error: unknown) => this.#broke(error),
      );
    } else {
      this.#readOther(response, type).then(
        () => this.#remove(),
        (error: unknown) => this.#broke(error),
      );
    }
  }

  #readWhole(response: SendResponse, text: string): void {
    const message = parseMessage(text);
    this.#deliver(message);
    if (!this.settled) this.refuse(this.#wrong(describeBody(response, text, message)));
    this.#remove();
  }

  /** Reads any response except 200 with JSON: an error, a stream, an empty response, or another media type. */
  async #readOther(response: SendResponse, type: string | undefined): Promise<void> {
    const { status } = response;
    if (status < 200 || status > 299) {
      const { method, id } = this.#request;
      return this.refuse(await this.#requests.failure(response, this.#handshake, method, id));
    }
    if (isEventStream(response, type)) return new AnswerStream(this.#requests, this.#handshake, this).read(response);
    if (status !== 202 && status !== 204) {
      return this.#readWhole(response, await response.text(this.#requests.maxBytes));
    }
    response.cancel();
    return this.refuse(this.#wrong(`with HTTP ${status}, which is only valid for messages that need no answer`));
  }

  #broke(error: unknown): void {
    this.fail(networkError(error, this.method, this.#requests.shown));
    this.#remove();
  }

  #remove(): void {
    this.#open.delete(this.#request.id);
  }

  #deliver(received: ClassifiedMessage): void {
    const { receiver } = this.#requests;
    if (this.settled) {
      return this.#fault("late", () => this.#wrong("more than once, or sent messages after the answer"));
    }
    if (received.kind !== "invalid") this.#faults?.reset();
    switch (received.kind) {
      case "notification":
        receiver.notification(received.message, this.#request.id);
        break;
      case "request":
        this.#requests.answer(this.#handshake, received.message, this.#request.id);
        break;
      case "batch":
        for (const item of received.items) this.#deliver(classify(item));
        break;
      case "invalid":
        if (received.id === this.#request.id) this.refuse(this.#wrong(`with an invalid message: ${received.reason}`));
        else
          this.#fault("bad", () =>
            this.#wrong(`with something that is not a message: ${received.reason}`, "decode_error"),
          );
        break;
      default:
        this.#answer(received);
    }
  }

  #fault(cause: string, make: () => McpError): void {
    this.#faults ??= new StreamFaults(this.#requests.receiver);
    const enough = this.#faults.report(cause, make);
    if (enough !== undefined) this.cut(enough);
  }

  #answer(received: ClassifiedMessage & { kind: "result" | "error" }): void {
    const { id } = received.message;
    const matches = id === this.#request.id || (received.kind === "error" && (id === undefined || id === null));
    if (!matches) {
      this.refuse(
        this.#wrong(`with the id ${JSON.stringify(id)}, but the request has ${JSON.stringify(this.#request.id)}`),
      );
    } else if (received.kind === "error") {
      const { code, message, data } = received.message.error;
      this.refuse(new RpcError(code, message, data));
    } else {
      if (this.#handshake.hasSessions === undefined) this.#handshake.session ??= this.#offered;
      this.settled = true;
      this.#resolve(received.message.result);
    }
  }

  /**
   * Rejects without closing the connection, because the connection has ended, or the server may still end it properly.
   */
  refuse(error: Error): void {
    if (this.settled) return;
    this.settled = true;
    this.#reject(error);
  }

  #wrong(how: string, kind: "invalid_response" | "decode_error" = "invalid_response"): McpError {
    return new McpError(kind, `${this.#requests.shown} answered ${this.method} ${how}`, {
      fix: "Check that the address is that of an MCP server; if it is, report this to its author.",
    });
  }
}

/**
 * Returns the session id of a response, if any. Throws if the id cannot be sent back in a header.
 *
 * Spec: Transports, "Session Management",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
function sessionOf(response: SendResponse): string | undefined {
  const session = response.header(SESSION_HEADER);
  if (session === undefined || /^[\x21-\x7e]{1,4096}$/.test(session)) return session;
  throw new McpError("invalid_response", "the session id of the server is not 1 to 4096 visible ASCII characters", {
    fix: "Correct the server: `Mcp-Session-Id` may only contain the characters 0x21 to 0x7E.",
  });
}
