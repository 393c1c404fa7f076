import type { CancelRequest, SendResponse } from "../../../http/http.js";
import { type Classified, classify, parseMessage } from "../../../jsonrpc/message.js";
import { pause } from "../../../platform/pause.js";
import { McpError } from "../../../protocol/error.js";
import { ReconnectPacer } from "../../reconnect.js";
import { type EventSink, isEventStream, readEvents } from "./events.js";
import { protocolFault } from "./failure.js";
import type { HandshakeFacts, HttpRequests } from "./requests.js";
import { StreamFaults } from "./stream-faults.js";

/**
 * The stream, opened by GET, for messages of the server that belong to no request. It is reopened after the last event for as
 * long as the session lasts. 405 means that the server has no such stream, and ends the attempts.
 *
 * Spec: Transports, "Listening for Messages from the Server",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
export class GetStream implements EventSink {
  readonly #requests: HttpRequests;
  readonly #facts: HandshakeFacts;
  /** Aborted by `stop`. */
  readonly #stopped = new AbortController();
  readonly #pacer: ReconnectPacer;
  readonly #faults: StreamFaults;
  #lastEventId: string | undefined;
  /** True after the first connection. */
  #reopens = false;
  /** Ends the current connection. */
  #cancel: CancelRequest | undefined;

  constructor(requests: HttpRequests, facts: HandshakeFacts) {
    this.#requests = requests;
    this.#facts = facts;
    this.#faults = new StreamFaults(requests.receiver);
    this.#pacer = new ReconnectPacer(requests.platform, requests.maxAttempts ?? Number.POSITIVE_INFINITY);
  }

  /** Runs until `stop`, or until the server refuses the stream for good. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#pacer.begun();
      const end = await this.#connect();
      if (end === "over" || signal.aborted) return;
      const wait = this.#pacer.ended(end === "clean");
      if (wait === undefined) return;
      // An unreachable server must not keep a finished program alive.
      await pause(this.#requests.platform, wait, signal, false);
    }
  }

  stop(): void {
    this.#stopped.abort();
    this.#cancel?.(new Error("the stream was stopped"));
  }

  /** One connection from its start to its end. */
  async #connect(): Promise<"clean" | "broken" | "over"> {
    const hold = (cancel: CancelRequest): void => {
      this.#cancel = cancel;
    };
    try {
      const response = await this.#requests.get(this.#facts, hold, this.#lastEventId);
      if (response.status !== 200 || !isEventStream(response)) return await this.#refused(response);
      this.#pacer.opened();
      if (this.#reopens && this.#lastEventId === undefined) this.#requests.receiver.missed?.();
      this.#reopens = true;
      await readEvents(response, this, this.#requests.maxBytes);
      return "clean";
    } catch {
      // Proxies and runtimes often close idle streams; that is not worth reporting.
      return "broken";
    }
  }

  async #refused(response: SendResponse): Promise<"broken" | "over"> {
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
      status < 300 ? noStream(this.#requests.shown) : await this.#requests.failure(response, this.#facts, "GET");
    if (status < 300) response.cancel();
    const expected = status === 405 || (status === 404 && this.#facts.session === undefined);
    if (!expected && !this.#stopped.signal.aborted) this.#requests.receiver.fault(failure);
    return "over";
  }

  text(text: string): void {
    this.#pacer.progressed();
    this.#deliver(parseMessage(text));
  }

  eventId(id: string | undefined): void {
    this.#lastEventId = id;
  }

  ready(): Promise<void> | undefined {
    return this.#requests.replyRoom;
  }

  retry(ms: number): void {
    this.#pacer.retry(ms);
  }

  oversized(error: McpError): void {
    this.#requests.receiver.fault(error);
  }

  #deliver(received: Classified): void {
    if (this.#stopped.signal.aborted) return;
    const { receiver } = this.#requests;
    if (received.kind === "request" || received.kind === "notification") this.#faults.sound();
    switch (received.kind) {
      case "notification":
        receiver.notification(received.message);
        break;
      case "request":
        this.#requests.answer(this.#facts, received.message);
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
