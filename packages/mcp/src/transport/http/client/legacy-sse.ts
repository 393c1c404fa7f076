import type { CancelRequest } from "../../../http/http.js";
import { shownUrl } from "../../../http/shown-url.js";
import type { Channel, ChannelReceiver } from "../../../jsonrpc/connection.js";
import type { Id } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import { channelTransport } from "../../channel/client.js";
import { DEFAULT_MAX_MESSAGE_BYTES } from "../../framing/frame-decoder.js";
import { type NetworkInfo, networkOf, type Outgoing, type Receiver, type Transport } from "../../transport.js";
import { type HttpClientOptions, httpAddress } from "./client.js";
import { type EventSink, isEventStream, readEvents } from "./event-streams.js";
import { networkError, protocolFault } from "./failure.js";
import { type HandshakeState, HttpRequests } from "./requests.js";

/** Options of the HTTP+SSE transport. It cannot resume streams, so it has no options for that. */
export type LegacySseTransportOptions = Omit<HttpClientOptions, "getStream" | "maxReconnects">;

const SEND_MS = 30_000;

/**
 * Connects to a server over HTTP+SSE, the transport of 2024-11-05: one stream carries all messages of the server, and
 * the response to a POST only acknowledges the message. `open` resolves when the server has sent the address for posts,
 * which must have the same origin.
 *
 * The transport behaves like a channel: when the stream ends, all pending requests reject and the connection is closed.
 *
 * Spec: Transports, "HTTP with SSE",
 * https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 *
 * @deprecated Only for old servers; new ones use Streamable HTTP.
 */
export function legacySseTransport(url: string | URL, options: LegacySseTransportOptions): Transport {
  return new LegacySseTransport(httpAddress(url), options);
}

class LegacySseTransport implements Transport {
  readonly kind = "channel";
  readonly target: string;
  readonly network: NetworkInfo;
  readonly #pipe: SsePipe;
  readonly #channel: Transport;

  constructor(url: string, options: LegacySseTransportOptions) {
    this.target = shownUrl(url);
    this.network = networkOf(url, "http");
    this.#pipe = new SsePipe(url, options, (id, error) => this.#channel.abandon(id, error));
    this.#channel = channelTransport(this.#pipe, this.target);
  }

  async open(receiver: Receiver): Promise<void> {
    await this.#channel.open(receiver);
    await this.#pipe.connect(receiver);
  }

  request(request: Outgoing & { id: Id }): Promise<unknown> {
    return this.#pipe.naming(request, () => this.#channel.request(request));
  }

  notify(notification: Outgoing): Promise<void> {
    return this.#pipe.post(notification.text, notification.method);
  }

  abandon(id: Id, reason: Error): void {
    this.#channel.abandon(id, reason);
  }

  close(): Promise<void> {
    return this.#channel.close();
  }
}

/** Combines the incoming stream and the outgoing posts into one channel. */
class SsePipe implements Channel, EventSink {
  readonly #url: string;
  /** The address without secrets, for messages. */
  readonly #shown: string;
  readonly #options: LegacySseTransportOptions;
  readonly #lost: (id: Id, error: Error) => void;
  /** Ends the stream. */
  #cancel: CancelRequest | undefined;
  readonly #handshake: HandshakeState = { hasSessions: true, session: undefined, headers: {}, retired: false };
  #receiver: ChannelReceiver | undefined;
  #faults: Receiver | undefined;
  #posts: HttpRequests | undefined;
  #request: (Outgoing & { id: Id }) | undefined;
  #ready: { resolve(): void; reject(error: Error): void } | undefined;
  #ended = false;

  constructor(url: string, options: LegacySseTransportOptions, lost: (id: Id, error: Error) => void) {
    this.#url = url;
    this.#shown = shownUrl(url);
    this.#options = options;
    this.#lost = lost;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  /** Opens the stream. Resolves when the address for posts is known. */
  connect(receiver: Receiver): Promise<void> {
    this.#faults = receiver;
    return new Promise((resolve, reject) => {
      this.#ready = { resolve, reject };
      this.#read(this.#requestsTo(this.#url, receiver)).then(
        () => this.#end(endedEarly(this.#shown)),
        (error: unknown) => this.#end(networkError(error, "the event stream", this.#shown)),
      );
    });
  }

  #requestsTo(url: string, receiver: Receiver): HttpRequests {
    const { sender, platform, headers, timeouts, maxMessageBytes } = this.#options;
    const requests = new HttpRequests({
      sender,
      redirects: this.#options,
      platform,
      url,
      receiver,
      headers: headers ?? {},
      maxBytes: maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
      maxAttempts: undefined,
      sendMs: timeouts?.sendMs ?? SEND_MS,
    });
    this.#handshake.headers = requests.headersOf({});
    return requests;
  }

  async #read(requests: HttpRequests): Promise<void> {
    const response = await requests.get(this.#handshake, (cancel) => {
      this.#cancel = cancel;
    });
    if (response.status !== 200) throw await requests.failure(response, this.#handshake, "GET");
    if (!isEventStream(response)) {
      response.cancel();
      throw protocolFault(`${this.#shown} answered GET with something that is not an event stream`);
    }
    await readEvents(response, this, requests.maxBytes);
  }

  /** Runs `work`. Everything that `work` sends is attributed to `request`. */
  naming<T>(request: Outgoing & { id: Id }, work: () => T): T {
    this.#request = request;
    try {
      return work();
    } finally {
      this.#request = undefined;
    }
  }

  send(text: string): void {
    const request = this.#request;
    const sent = request === undefined ? this.#reply(text) : this.post(text, request.method, request.id);
    sent.catch((error: Error) => {
      if (request !== undefined) this.#lost(request.id, error);
      else if (!this.#ended) this.#faults?.fault(error);
    });
  }

  post(text: string, what: string, about?: Id): Promise<void> {
    if (this.#posts !== undefined && !this.#ended)
      return this.#posts.post(this.#handshake, text, what, undefined, about);
    return Promise.reject(
      new McpError("connection_closed", `the event stream of ${this.#shown} is not open`, { fix: "Connect again." }),
    );
  }

  #reply(text: string): Promise<void> {
    return this.#posts === undefined || this.#ended
      ? this.post(text, "an answer")
      : this.#posts.reply(this.#handshake, text, "an answer");
  }

  ready(): Promise<void> | undefined {
    return this.#posts?.isFull === true ? this.#posts.replyRoom : undefined;
  }

  close(): void {
    this.#end(undefined);
  }

  text(text: string): void {
    this.#receiver?.message(text);
  }

  /** Reads the address for posts from the first `endpoint` event. Ignores later `endpoint` events. */
  other(type: string, data: string): void {
    if (type !== "endpoint" || this.#posts !== undefined || this.#faults === undefined) return;
    const address = URL.canParse(data, this.#url) ? new URL(data, this.#url) : undefined;
    if (address === undefined || address.origin !== new URL(this.#url).origin) {
      this.#end(
        protocolFault(
          `${this.#shown} sent the address "${shownUrl(data).slice(0, 300)}" for posts, which has another origin`,
        ),
      );
      return;
    }
    this.#posts = this.#requestsTo(address.href, this.#faults);
    this.#ready?.resolve();
  }

  eventId(): void {}

  retry(): void {}

  oversized(error: McpError): void {
    this.#end(error);
  }

  #end(reason: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    const ended = reason ?? endedEarly(this.#shown);
    this.#ready?.reject(ended);
    this.#cancel?.(ended);
    this.#posts?.stop(ended);
    this.#receiver?.closed(reason);
  }
}

function endedEarly(url: string): McpError {
  return new McpError("connection_closed", `the event stream of ${url} ended`, {
    fix: "Connect again; a request without an answer may or may not have run.",
  });
}
