import type { CancelRequest, SendResponse } from "../../../http/http.js";
import { type ClassifiedMessage, classify, parseMessage } from "../../../jsonrpc/message.js";
import { pause } from "../../../platform/pause.js";
import { McpError } from "../../../protocol/error.js";
import type { HttpFailure } from "../../../protocol/http-failure.js";
import { SseDecoder } from "../../framing/sse-decoder.js";
import { ReconnectPacer } from "../../reconnect.js";
import { protocolFault, StreamFaults } from "./failure.js";
import type { HandshakeState, HttpRequests } from "./requests.js";

/** Receives the events of a stream. */
export interface EventSink {
  /** Receives the text of one message. */
  text(text: string): void;
  /** Receives an event of a type other than `message`. */
  other?(type: string, data: string): void;
  /**
   * Receives the event id from which the stream can be resumed, as a header value. Undefined if the stream cannot be
   * resumed.
   */
  eventId(id: string | undefined): void;
  /** Returns a promise to wait for before reading more of the stream, if any. */
  ready?(): Promise<void> | undefined;
  /** Receives the time that the server asks to wait before reopening the stream. */
  retry(ms: number): void;
  /** Called for an event that is too long. The rest of the stream is not read. */
  oversized(error: McpError): void;
}

/** True if the response body is a stream of server-sent events. */
export function isEventStream(response: SendResponse, type = response.header("content-type")): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(type ?? "");
}

/**
 * Reads a stream to its end. Calls `afterChunk` after the events of each chunk. Rejects if the connection breaks. Only
 * events of type `message` with data are messages.
 */
export async function readEvents(
  response: SendResponse,
  sink: EventSink,
  maxBytes: number,
  afterChunk?: () => void,
): Promise<void> {
  let tooLong = false;
  const decoder = new SseDecoder(
    {
      event({ id, event, data }) {
        if (id !== undefined) sink.eventId(sendable(id));
        if (data === "") return;
        if (event === undefined || event === "message") sink.text(data);
        else sink.other?.(event, data);
      },
      retry: (ms) => sink.retry(ms),
      error() {
        tooLong = true;
      },
    },
    { maxEventLength: maxBytes },
  );
  for await (const chunk of response.chunks()) {
    decoder.feed(chunk);
    if (tooLong) return sink.oversized(oversizedEvent(maxBytes));
    afterChunk?.();
    const wait = sink.ready?.();
    if (wait !== undefined) await wait;
  }
}

function oversizedEvent(maxBytes: number): McpError {
  return new McpError("oversized_frame", `the server sent an event of more than ${maxBytes} bytes`, {
    fix: "Ask for less at once, or raise `maxMessageBytes` of `connect`.",
  });
}

/**
 * Maximum length of an event id. It is far below the size at which servers reject headers. A stream with a longer id
 * cannot be resumed.
 */
const MAX_EVENT_ID_LENGTH = 4_096;

/**
 * Encodes an event id as a header value: its UTF-8 bytes, one character each. Returns undefined if a header cannot
 * contain the id, or if the id is empty or too long.
 */
function sendable(id: string): string | undefined {
  if (id === "" || id.length > MAX_EVENT_ID_LENGTH) return undefined;
  if (/^[\x20-\x7e]+$/.test(id)) return id;
  let bytes = "";
  for (const byte of new TextEncoder().encode(id)) {
    if (byte < 0x20 || byte === 0x7f) return undefined;
    bytes += String.fromCharCode(byte);
  }
  return bytes;
}

/**
 * Time that a stream may stay open after its answer. After that, the client closes the stream. Most servers end the
 * stream in the packet that contains the answer.
 */
const LINGER_MS = 1_000;
/** Maximum number of consecutive attempts without an event. After that, the client gives up a broken stream. */
const RESUME_ATTEMPTS = 8;

/** An exchange whose answer arrives on a stream. */
export interface StreamedExchange {
  readonly method: string;
  /** True once the exchange has its result or error. */
  readonly settled: boolean;
  /** The session in which the stream can be resumed. */
  readonly session: string | undefined;
  /** Sets the function that ends the current connection. */
  hold(cancel: CancelRequest): void;
  /** Receives one message of the stream. */
  received(text: string): void;
  /** Rejects the exchange, because the stream can no longer deliver the answer. */
  refuse(error: Error): void;
  /** Ends the exchange and its connection. */
  cut(error: Error): void;
}

/**
 * The stream that answers one posted request. If the stream breaks before the answer, the client resumes it with GET.
 * The client never posts the request again.
 *
 * Spec: Transports, "Resumability and Redelivery",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export class AnswerStream implements EventSink {
  readonly #requests: HttpRequests;
  readonly #handshake: HandshakeState;
  readonly #exchange: StreamedExchange;
  /** Created on first use, because most streams deliver their answer without a reconnect. */
  #pacer: ReconnectPacer | undefined;
  #lastEventId: string | undefined;
  /** True if the current connection delivered a new event id. */
  #moved = false;
  /** True if the current connection delivered a message. */
  #progressed = false;

  constructor(requests: HttpRequests, handshake: HandshakeState, exchange: StreamedExchange) {
    this.#requests = requests;
    this.#handshake = handshake;
    this.#exchange = exchange;
  }

  /**
   * Reads the stream and its resumptions. Resolves when the exchange is settled and the last connection has ended.
   * Never rejects.
   */
  async read(first: SendResponse): Promise<void> {
    let response: SendResponse | undefined = first;
    while (response !== undefined) {
      this.#moved = this.#progressed = false;
      const broken = await this.#readToEnd(response);
      if (this.#exchange.settled) return;
      // Some servers close each connection on purpose to make clients poll. Such a close does not count as a failed
      // attempt. The deadline of the call limits the polling.
      if (this.#progressed || (broken === undefined && this.#moved)) this.#pace().progressed();
      response = await this.#resume(broken);
    }
  }

  text(text: string): void {
    this.#progressed = true;
    this.#exchange.received(text);
  }

  eventId(id: string | undefined): void {
    if (id !== this.#lastEventId) this.#moved = true;
    this.#lastEventId = id;
  }

  ready(): Promise<void> | undefined {
    return this.#requests.isFull ? this.#requests.replyRoom : undefined;
  }

  retry(ms: number): void {
    this.#pace().retry(ms);
  }

  oversized(error: Error): void {
    if (!this.#exchange.settled) this.#exchange.cut(error);
  }

  #pace(): ReconnectPacer {
    this.#pacer ??= new ReconnectPacer(this.#requests.platform, this.#requests.maxAttempts ?? RESUME_ATTEMPTS);
    return this.#pacer;
  }

  /** Reads one connection to its end. Returns the error that broke the connection, if any. */
  async #readToEnd(response: SendResponse): Promise<Error | undefined> {
    let lingering: { cancel(): void } | undefined;
    try {
      await readEvents(response, this, this.#requests.maxBytes, () => {
        if (!this.#exchange.settled || lingering !== undefined) return;
        lingering = this.#requests.platform.timer(LINGER_MS, () => {
          this.#exchange.cut(new Error("the stream stayed open after its answer"));
        });
      });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      lingering?.cancel();
    }
  }

  /** Resumes a stream that ended without the answer, or rejects the exchange. */
  async #resume(broken: Error | undefined): Promise<SendResponse | undefined> {
    const lastEventId = this.#lastEventId;
    if (lastEventId === undefined || this.#handshake.hasSessions === false) {
      this.#exchange.refuse(this.#ended(broken));
      return undefined;
    }
    const pacer = this.#pace();
    let cause = broken;
    // The exchange may settle while the stream reopens, if the caller gave up.
    for (let clean = broken === undefined; !this.#exchange.settled; clean = false) {
      const wait = pacer.ended(clean);
      if (wait === undefined) break;
      await this.#pause(wait);
      if (this.#exchange.settled) return undefined;
      pacer.begun();
      const reopened = await this.#reopen(lastEventId);
      if (reopened.stream !== undefined) {
        pacer.opened();
        return reopened.stream;
      }
      cause = reopened.error;
      if (reopened.final) break;
    }
    const lost = McpError.is(cause) && cause.kind === "session_lost" ? cause : undefined;
    // The server refused only to resume the stream. It had accepted the request itself, so the request may have run.
    if (lost !== undefined) (lost.data as HttpFailure).resumed = true;
    this.#exchange.refuse(lost ?? this.#ended(cause, "and could not be resumed"));
    return undefined;
  }

  /** Waits `ms`, or until the exchange ends. */
  #pause(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#exchange.hold(() => woken.abort());
    return pause(this.#requests.platform, ms, woken.signal, true);
  }

  async #reopen(lastEventId: string): Promise<{ stream?: SendResponse; error?: Error; final?: boolean }> {
    const { session } = this.#exchange;
    try {
      const hold = (cancel: CancelRequest) => this.#exchange.hold(cancel);
      const response = await this.#requests.get(this.#handshake, hold, lastEventId, session);
      if (response.status === 200 && isEventStream(response)) return { stream: response };
      const error = await this.#requests.failure(response, this.#handshake, "GET", undefined, session);
      return { error, final: response.status !== 429 && response.status < 500 };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  #ended(cause: Error | undefined, more = "and cannot be resumed"): McpError {
    const why = cause === undefined ? "" : `: ${cause.message}`;
    const how = cause === undefined ? "ended" : "broke";
    const from = `${this.#exchange.method} from ${this.#requests.shown}`;
    return new McpError("connection_closed", `the stream of ${from} ${how} without an answer ${more}${why}`, {
      cause,
      fix: "Repeat the request only if that is safe, because it may have run, and check for a proxy that cuts streams.",
    });
  }
}

/**
 * The GET stream, for server messages that belong to no request. While the session lasts, the client reopens a closed
 * stream and resumes it from the last event that it received. 405 means that the server has no such stream, and ends
 * the attempts.
 *
 * Spec: Transports, "Listening for Messages from the Server",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
export class GetStream implements EventSink {
  readonly #requests: HttpRequests;
  readonly #handshake: HandshakeState;
  /** Aborted by `stop`. */
  readonly #stopped = new AbortController();
  readonly #pacer: ReconnectPacer;
  readonly #faults: StreamFaults;
  #lastEventId: string | undefined;
  /** True after the first connection. */
  #reopens = false;
  /** Ends the current connection. */
  #cancel: CancelRequest | undefined;

  constructor(requests: HttpRequests, handshake: HandshakeState) {
    this.#requests = requests;
    this.#handshake = handshake;
    this.#faults = new StreamFaults(requests.receiver);
    this.#pacer = new ReconnectPacer(requests.platform, requests.maxAttempts ?? Number.POSITIVE_INFINITY);
  }

  /** Runs until `stop`, or until the server permanently refuses the stream. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#pacer.begun();
      const end = await this.#connect();
      if (end === "refused" || signal.aborted) return;
      const wait = this.#pacer.ended(end === "clean");
      if (wait === undefined) return;
      // The pause does not keep the process alive, because an unreachable server must not prevent a program from
      // ending.
      await pause(this.#requests.platform, wait, signal, false);
    }
  }

  stop(): void {
    this.#stopped.abort();
    this.#cancel?.(new Error("the stream was stopped"));
  }

  /** Runs one connection from its start to its end. */
  async #connect(): Promise<"clean" | "broken" | "refused"> {
    const hold = (cancel: CancelRequest): void => {
      this.#cancel = cancel;
    };
    try {
      const response = await this.#requests.get(this.#handshake, hold, this.#lastEventId);
      if (response.status !== 200 || !isEventStream(response)) return await this.#refused(response);
      this.#pacer.opened();
      if (this.#reopens && this.#lastEventId === undefined) this.#requests.receiver.missed?.();
      this.#reopens = true;
      await readEvents(response, this, this.#requests.maxBytes);
      return "clean";
    } catch {
      // Proxies and runtimes often close idle streams, so a broken connection is not reported.
      return "broken";
    }
  }

  async #refused(response: SendResponse): Promise<"broken" | "refused"> {
    const { status } = response;
    if (status === 429 || status >= 500) {
      response.cancel();
      return "broken";
    }
    if (status === 400 && this.#lastEventId !== undefined) {
      // The event is too old to resume from. The missed messages are lost, but a new stream can begin.
      this.#lastEventId = undefined;
      response.cancel();
      return "broken";
    }
    const failure =
      status < 300 ? noStream(this.#requests.shown) : await this.#requests.failure(response, this.#handshake, "GET");
    if (status < 300) response.cancel();
    const expected = status === 405 || (status === 404 && this.#handshake.session === undefined);
    if (!expected && !this.#stopped.signal.aborted) this.#requests.receiver.fault(failure);
    return "refused";
  }

  text(text: string): void {
    this.#pacer.progressed();
    this.#deliver(parseMessage(text));
  }

  eventId(id: string | undefined): void {
    this.#lastEventId = id;
  }

  ready(): Promise<void> | undefined {
    return this.#requests.isFull ? this.#requests.replyRoom : undefined;
  }

  retry(ms: number): void {
    this.#pacer.retry(ms);
  }

  oversized(error: McpError): void {
    this.#requests.receiver.fault(error);
  }

  #deliver(received: ClassifiedMessage): void {
    if (this.#stopped.signal.aborted) return;
    const { receiver } = this.#requests;
    if (received.kind === "request" || received.kind === "notification") this.#faults.reset();
    switch (received.kind) {
      case "notification":
        receiver.notification(received.message);
        break;
      case "request":
        this.#requests.answer(this.#handshake, received.message);
        break;
      case "batch":
        for (const item of received.items) this.#deliver(classify(item));
        break;
      case "invalid":
        this.#fault("bad", `something that is not a message: ${received.reason}`);
        break;
      default:
        this.#fault("answer", `an answer (id ${JSON.stringify(received.message.id)})`);
    }
  }

  #fault(cause: string, what: string): void {
    const enough = this.#faults.report(cause, () => protocolFault(`the GET stream carried ${what}`));
    if (enough === undefined) return;
    this.#requests.receiver.fault(enough);
    this.stop();
  }
}

function noStream(url: string): McpError {
  return new McpError("invalid_response", `${url} answered GET with something that is not an event stream`, {
    fix: "Correct the server: it must answer GET with `text/event-stream` or 405.",
  });
}
