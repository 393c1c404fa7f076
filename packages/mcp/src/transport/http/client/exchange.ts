import type { SendResponse } from "../../../http/http.js";
import { RpcError } from "../../../jsonrpc/error.js";
import { type Classified, classify, type Id, parseMessage } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import type { HttpFailure } from "../../../protocol/http-failure.js";
import { pause, ReconnectPacer } from "../../reconnect.js";
import type { Outgoing } from "../../transport.js";
import { type EventSink, isEventStream, readEvents } from "./events.js";
import { brokenOff } from "./failure.js";
import { type Epoch, type Line, sessionOf } from "./requests.js";

/** How long a stream may stay open after its answer before it is cut; most servers end it in the same packet. */
const LINGER_MS = 1_000;
/** Attempts in a row that bring nothing before a broken stream is given up. */
const RESUME_ATTEMPTS = 8;

/** One posted request, everything said about it, and its one outcome. */
export class ClientExchange implements EventSink {
  readonly outcome: Promise<unknown>;
  readonly #line: Line;
  readonly #epoch: Epoch;
  readonly #request: Outgoing & { id: Id };
  readonly #abort = new AbortController();
  #resolve!: (result: unknown) => void;
  #reject!: (error: Error) => void;
  #settled = false;
  #lastEventId: string | undefined;
  /** The session that the answer opens if it is a result. */
  #offered: string | undefined;
  #pacer: ReconnectPacer | undefined;

  constructor(line: Line, epoch: Epoch, request: Outgoing & { id: Id }) {
    this.#line = line;
    this.#epoch = epoch;
    this.#request = request;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Sends the request. The promise fulfils, never rejects, when the last connection of the exchange is done with. */
  async run(): Promise<void> {
    const { text, headers } = this.#request;
    try {
      const response = await this.#line.post(this.#epoch, text, this.#abort.signal, headers);
      if (this.#epoch.era === "unknown" && this.#epoch.session === undefined) this.#offered = sessionOf(response);
      await this.#read(response);
    } catch (error) {
      this.fail(brokenOff(error, this.#request.method, this.#line.shown));
    }
  }

  /** Ends the exchange with `reason` and cuts its connection; does nothing to an outcome that stands. */
  fail(reason: Error): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#reject(reason);
    this.#abort.abort(reason);
  }

  /** Cuts what is still open after the outcome. */
  cut(reason: Error): void {
    this.fail(reason);
    this.#abort.abort(reason);
  }

  async #read(response: SendResponse): Promise<void> {
    const { status } = response;
    if (status < 200 || status > 299) {
      return this.#refuse(await this.#line.failure(response, this.#epoch, this.#request.method, this.#request.id));
    }
    if (isEventStream(response)) return this.#stream(response);
    if (status === 202 || status === 204) {
      response.cancel();
      return this.#refuse(this.#wrong(`with HTTP ${status}, which is for messages that need no answer`));
    }
    const text = await response.text(this.#line.maxBytes);
    const message = parseMessage(text);
    this.#deliver(message);
    if (!this.#settled) this.#refuse(this.#wrong(whatInstead(response, text, message)));
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
      await readEvents(response, this, this.#line.maxBytes, () => {
        if (!this.#settled || lingering !== undefined) return;
        lingering = this.#line.platform.timer(LINGER_MS, () => this.#abort.abort());
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
    if (this.#lastEventId === undefined || this.#epoch.era === "stateless") {
      this.#refuse(this.#ended(broken));
      return undefined;
    }
    const { platform } = this.#line;
    const pacer = this.#paced();
    let cause = broken;
    for (let clean = broken === undefined; ; clean = false) {
      const wait = pacer.ended(clean);
      if (wait === undefined) break;
      await pause(platform, wait, this.#abort.signal, true);
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

  async #reopen(lastEventId: string): Promise<{ stream?: SendResponse; error?: Error; final?: boolean }> {
    try {
      const response = await this.#line.get(this.#epoch, this.#abort.signal, lastEventId, this.#session());
      if (response.status === 200 && isEventStream(response)) return { stream: response };
      const error = await this.#line.failure(response, this.#epoch, "GET", undefined, this.#session());
      return { error, final: response.status !== 429 && response.status < 500 };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  #paced(): ReconnectPacer {
    this.#pacer ??= new ReconnectPacer(this.#line.platform, this.#line.maxAttempts ?? RESUME_ATTEMPTS);
    return this.#pacer;
  }

  #session(): string | undefined {
    return this.#epoch.session ?? this.#offered;
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
    const { receiver } = this.#line;
    if (this.#settled) {
      receiver.fault(this.#wrong("more than once, or went on after the answer"));
      return;
    }
    switch (received.kind) {
      case "notification":
        receiver.notification(received.message, this.#request.id);
        break;
      case "request":
        this.#line.answer(this.#epoch, received.message);
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
      if (this.#epoch.era === "unknown") this.#epoch.session ??= this.#offered;
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
    return new McpError(kind, `${this.#line.shown} answered ${this.#request.method} ${how}`, {
      fix: "Check that the address leads to an MCP server; if it does, report this to its author.",
    });
  }

  #ended(cause: Error | undefined, more = "and cannot be resumed"): McpError {
    const why = cause === undefined ? "" : `: ${cause.message}`;
    const how = cause === undefined ? "ended" : "broke";
    const what = `the stream of ${this.#request.method} from ${this.#line.shown} ${how} without an answer ${more}${why}`;
    return new McpError("connection_closed", what, {
      cause,
      fix: "The request may or may not have run: repeat it only if that is safe, and look for a proxy that cuts streams.",
    });
  }
}

/** Says what a body was that held no answer. */
function whatInstead(response: SendResponse, text: string, message: Classified): string {
  if (text === "") return `with HTTP ${response.status} and an empty body`;
  if (message.kind !== "invalid") return `with a ${message.kind} instead of an answer`;
  const type = response.header("content-type");
  const json = type === undefined || /^application\/json\b/i.test(type);
  return json ? `wrongly: ${message.reason}` : `with ${type}, which is neither JSON nor an event stream`;
}
