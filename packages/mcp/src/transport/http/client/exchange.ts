import type { CancelRequest, SendResponse } from "../../../http/http.js";
import { RpcError } from "../../../jsonrpc/error.js";
import { type Classified, classify, type Id, parseMessage } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import type { HttpFailure } from "../../../protocol/http-failure.js";
import { pause, ReconnectPacer } from "../../reconnect.js";
import type { Outgoing } from "../../transport.js";
import { type EventSink, isEventStream, readEvents } from "./events.js";
import { networkError, whatInstead } from "./failure.js";
import { type HandshakeFacts, type HttpRequests, sessionOf } from "./requests.js";

/** How long a stream may stay open after its answer before it is cut; most servers end it in the same packet. */
const LINGER_MS = 1_000;
/** Attempts in a row that bring nothing before a broken stream is given up. */
const RESUME_ATTEMPTS = 8;

/** One posted request, everything said about it, and its one outcome. */
export class ClientExchange implements EventSink {
  readonly #requests: HttpRequests;
  readonly #facts: HandshakeFacts;
  readonly #request: Outgoing & { id: Id };
  readonly #open: Map<Id, ClientExchange>;
  readonly #resolve: (result: unknown) => void;
  readonly #reject: (error: Error) => void;
  /** Ends the connection of the moment. */
  #cancel: CancelRequest | undefined;
  #settled = false;
  #lastEventId: string | undefined;
  /** The session that the answer opens if it is a result. */
  #offered: string | undefined;
  #pacer: ReconnectPacer | undefined;

  /** `open` holds the exchange until its last connection is done with; one of the two functions is called once. */
  constructor(
    requests: HttpRequests,
    facts: HandshakeFacts,
    request: Outgoing & { id: Id },
    open: Map<Id, ClientExchange>,
    resolve: (result: unknown) => void,
    reject: (error: Error) => void,
  ) {
    this.#requests = requests;
    this.#facts = facts;
    this.#request = request;
    this.#open = open;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  send(): void {
    const { id, text, headers } = this.#request;
    this.#open.set(id, this);
    this.#cancel = this.#requests.post(
      this.#facts,
      text,
      headers,
      (response) => this.#read(response),
      (error) => this.#broke(error),
    );
  }

  /** Ends the exchange with `reason` and cuts its connection; does nothing to an outcome that stands. */
  fail(reason: Error): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#reject(reason);
    this.#cancel?.(reason);
  }

  /** Cuts what is still open after the outcome. */
  cut(reason: Error): void {
    this.fail(reason);
    this.#cancel?.(reason);
  }

  /** Begins to read the body in the turn in which the response came; later it would wait in a buffer first. */
  #read(response: SendResponse): void {
    try {
      if (this.#facts.hasSessions === undefined && this.#facts.session === undefined) {
        this.#offered = sessionOf(response);
      }
    } catch (error) {
      return this.#broke(error);
    }
    if (response.status === 200 && isJson(response)) {
      response.text(this.#requests.maxBytes).then(
        (text) => this.#readWhole(response, text),
        (error: unknown) => this.#broke(error),
      );
    } else {
      this.#readOther(response).then(
        () => this.#over(),
        (error: unknown) => this.#broke(error),
      );
    }
  }

  #readWhole(response: SendResponse, text: string): void {
    const message = parseMessage(text);
    this.#deliver(message);
    if (!this.#settled) this.#refuse(this.#wrong(whatInstead(response, text, message)));
    this.#over();
  }

  /** Reads what is not said to be JSON: a refusal, a stream, no answer at all, or a text of another type. */
  async #readOther(response: SendResponse): Promise<void> {
    const { status } = response;
    if (status < 200 || status > 299) {
      const { method, id } = this.#request;
      return this.#refuse(await this.#requests.failure(response, this.#facts, method, id));
    }
    if (isEventStream(response)) return this.#stream(response);
    if (status !== 202 && status !== 204) {
      return this.#readWhole(response, await response.text(this.#requests.maxBytes));
    }
    response.cancel();
    return this.#refuse(this.#wrong(`with HTTP ${status}, which is for messages that need no answer`));
  }

  #broke(error: unknown): void {
    this.fail(networkError(error, this.#request.method, this.#requests.shown));
    this.#over();
  }

  #over(): void {
    this.#open.delete(this.#request.id);
  }

  async #stream(first: SendResponse): Promise<void> {
    let response: SendResponse | undefined = first;
    while (response !== undefined) {
      const broken = await this.#readStream(response);
      if (this.#settled) return;
      response = await this.#resume(broken);
    }
  }

  /** Reads to the end of one connection; gives the error that broke it, if one did. */
  async #readStream(response: SendResponse): Promise<Error | undefined> {
    let lingering: { cancel(): void } | undefined;
    try {
      await readEvents(response, this, this.#requests.maxBytes, () => {
        if (!this.#settled || lingering !== undefined) return;
        lingering = this.#requests.platform.timer(LINGER_MS, () => this.cut(this.#wrong("and left its stream open")));
      });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      lingering?.cancel();
    }
  }

  /** Opens the rest of a stream that ended without the answer, or fails the exchange. Never posts again. */
  async #resume(broken: Error | undefined): Promise<SendResponse | undefined> {
    if (this.#lastEventId === undefined || this.#facts.hasSessions === false) {
      this.#refuse(this.#ended(broken));
      return undefined;
    }
    const pacer = this.#paced();
    let cause = broken;
    for (let clean = broken === undefined; ; clean = false) {
      const wait = pacer.ended(clean);
      if (wait === undefined) break;
      await this.#pause(wait);
      if (this.#settled) return undefined;
      pacer.begun();
      const again = await this.#reopen(this.#lastEventId);
      if (again.stream !== undefined) {
        pacer.opened();
        return again.stream;
      }
      cause = again.error;
      if (again.final) break;
    }
    const lost = McpError.is(cause) && cause.kind === "session_lost" ? cause : undefined;
    // Only the rest of the stream was refused: the request itself had been taken.
    if (lost !== undefined) (lost.data as HttpFailure).resumed = true;
    this.#refuse(lost ?? this.#ended(cause, "and could not be resumed"));
    return undefined;
  }

  /** Waits `ms`, or until the exchange is ended. */
  #pause(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#cancel = () => woken.abort();
    return pause(this.#requests.platform, ms, woken.signal, true);
  }

  async #reopen(lastEventId: string): Promise<{ stream?: SendResponse; error?: Error; final?: boolean }> {
    try {
      const hold = (cancel: CancelRequest): void => {
        this.#cancel = cancel;
      };
      const response = await this.#requests.get(this.#facts, hold, lastEventId, this.#session());
      if (response.status === 200 && isEventStream(response)) return { stream: response };
      const error = await this.#requests.failure(response, this.#facts, "GET", undefined, this.#session());
      return { error, final: response.status !== 429 && response.status < 500 };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  #paced(): ReconnectPacer {
    this.#pacer ??= new ReconnectPacer(this.#requests.platform, this.#requests.maxAttempts ?? RESUME_ATTEMPTS);
    return this.#pacer;
  }

  #session(): string | undefined {
    return this.#facts.session ?? this.#offered;
  }

  text(text: string): void {
    this.#pacer?.progressed();
    this.#deliver(parseMessage(text));
  }

  eventId(id: string | undefined): void {
    this.#lastEventId = id;
  }

  retry(ms: number): void {
    this.#paced().retry(ms);
  }

  oversized(error: Error): void {
    this.fail(error);
  }

  #deliver(received: Classified): void {
    const { receiver } = this.#requests;
    if (this.#settled) {
      receiver.fault(this.#wrong("more than once, or went on after the answer"));
      return;
    }
    switch (received.kind) {
      case "notification":
        receiver.notification(received.message, this.#request.id);
        break;
      case "request":
        this.#requests.answer(this.#facts, received.message);
        break;
      case "batch":
        for (const item of received.items) this.#deliver(classify(item));
        break;
      case "invalid":
        if (received.id === this.#request.id) this.#refuse(this.#wrong(`wrongly: ${received.reason}`));
        else receiver.fault(this.#wrong(`with something that is no message: ${received.reason}`, "decode_error"));
        break;
      default:
        this.#answer(received);
    }
  }

  #answer(received: Classified & { kind: "result" | "error" }): void {
    const { id } = received.message;
    const own = id === this.#request.id || (received.kind === "error" && (id === undefined || id === null));
    if (!own) {
      this.#refuse(
        this.#wrong(`with the id ${JSON.stringify(id)}, but the request has ${JSON.stringify(this.#request.id)}`),
      );
    } else if (received.kind === "error") {
      const { code, message, data } = received.message.error;
      this.#refuse(new RpcError(code, message, data));
    } else {
      if (this.#facts.hasSessions === undefined) this.#facts.session ??= this.#offered;
      this.#settled = true;
      this.#resolve(received.message.result);
    }
  }

  /** Rejects without cutting the connection: it has ended, or the server may still use it well. */
  #refuse(error: Error): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#reject(error);
  }

  #wrong(how: string, kind: "invalid_response" | "decode_error" = "invalid_response"): McpError {
    return new McpError(kind, `${this.#requests.shown} answered ${this.#request.method} ${how}`, {
      fix: "Check that the address leads to an MCP server; if it does, report this to its author.",
    });
  }

  #ended(cause: Error | undefined, more = "and cannot be resumed"): McpError {
    const why = cause === undefined ? "" : `: ${cause.message}`;
    const how = cause === undefined ? "ended" : "broke";
    const what = `the stream of ${this.#request.method} from ${this.#requests.shown} ${how} without an answer ${more}${why}`;
    return new McpError("connection_closed", what, {
      cause,
      fix: "The request may or may not have run: repeat it only if that is safe, and look for a proxy that cuts streams.",
    });
  }
}

function isJson(response: SendResponse): boolean {
  return response.header("content-type")?.startsWith("application/json") === true;
}
