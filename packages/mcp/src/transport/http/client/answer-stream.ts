import type { CancelRequest, SendResponse } from "../../../http/http.js";
import { pause } from "../../../platform/pause.js";
import { McpError } from "../../../protocol/error.js";
import type { HttpFailure } from "../../../protocol/http-failure.js";
import { ReconnectPacer } from "../../reconnect.js";
import { type EventSink, isEventStream, readEvents } from "./events.js";
import type { HandshakeFacts, HttpRequests } from "./requests.js";

/** How long a stream may stay open after its answer; most servers end it in the same packet. */
const LINGER_MS = 1_000;
/** Consecutive attempts without an event before a broken stream is given up. */
const RESUME_ATTEMPTS = 8;

/** An exchange whose answer arrives on a stream. */
export interface StreamedExchange {
  readonly method: string;
  /** True once it has its outcome. */
  readonly settled: boolean;
  /** The session in which the stream can be resumed. */
  readonly session: string | undefined;
  /** Sets the function that ends the current connection. */
  hold(cancel: CancelRequest): void;
  /** One message of the stream. */
  received(text: string): void;
  /** The stream can no longer deliver the answer. */
  refuse(error: Error): void;
  /** Ends the exchange and its connection. */
  cut(error: Error): void;
}

/**
 * The stream that answers one posted request. If it breaks before the answer, it is resumed with GET; the request is never
 * posted again.
 *
 * Spec: Transports, "Resumability and Redelivery",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export class AnswerStream implements EventSink {
  readonly #requests: HttpRequests;
  readonly #facts: HandshakeFacts;
  readonly #exchange: StreamedExchange;
  readonly #pacer: ReconnectPacer;
  #lastEventId: string | undefined;
  /** True if the current connection brought a new event id. */
  #moved = false;

  constructor(requests: HttpRequests, facts: HandshakeFacts, exchange: StreamedExchange) {
    this.#requests = requests;
    this.#facts = facts;
    this.#exchange = exchange;
    this.#pacer = new ReconnectPacer(requests.platform, requests.maxAttempts ?? RESUME_ATTEMPTS);
  }

  /** Settles when the exchange has its outcome and the last connection has ended. Never rejects. */
  async read(first: SendResponse): Promise<void> {
    let response: SendResponse | undefined = first;
    while (response !== undefined) {
      this.#moved = false;
      const broken = await this.#readToEnd(response);
      if (this.#exchange.settled) return;
      // A server that lets clients poll ends each connection on purpose; the deadline of the call bounds that.
      if (broken === undefined && this.#moved) this.#pacer.progressed();
      response = await this.#resume(broken);
    }
  }

  text(text: string): void {
    this.#pacer.progressed();
    this.#exchange.received(text);
  }

  eventId(id: string | undefined): void {
    if (id !== this.#lastEventId) this.#moved = true;
    this.#lastEventId = id;
  }

  ready(): Promise<void> | undefined {
    return this.#requests.replyRoom;
  }

  retry(ms: number): void {
    this.#pacer.retry(ms);
  }

  oversized(error: Error): void {
    if (!this.#exchange.settled) this.#exchange.cut(error);
  }

  /** Reads one connection to its end; returns the error that broke it, if any. */
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

  /** Resumes a stream that ended without the answer, or fails the exchange. */
  async #resume(broken: Error | undefined): Promise<SendResponse | undefined> {
    const lastEventId = this.#lastEventId;
    if (lastEventId === undefined || this.#facts.hasSessions === false) {
      this.#exchange.refuse(this.#ended(broken));
      return undefined;
    }
    let cause = broken;
    // Settled meanwhile if the client gave up while the stream was opened again.
    for (let clean = broken === undefined; !this.#exchange.settled; clean = false) {
      const wait = this.#pacer.ended(clean);
      if (wait === undefined) break;
      await this.#pause(wait);
      if (this.#exchange.settled) return undefined;
      this.#pacer.begun();
      const reopened = await this.#reopen(lastEventId);
      if (reopened.stream !== undefined) {
        this.#pacer.opened();
        return reopened.stream;
      }
      cause = reopened.error;
      if (reopened.final) break;
    }
    const lost = McpError.is(cause) && cause.kind === "session_lost" ? cause : undefined;
    // The server refused to resume the stream; it had accepted the request itself.
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
      const response = await this.#requests.get(this.#facts, hold, lastEventId, session);
      if (response.status === 200 && isEventStream(response)) return { stream: response };
      const error = await this.#requests.failure(response, this.#facts, "GET", undefined, session);
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
      fix: "The request may or may not have run: repeat it only if that is safe, and look for a proxy that cuts streams.",
    });
  }
}
