import type { CancelRequest, SendResponse } from "../../../http/http.js";
import { RpcError } from "../../../jsonrpc/error.js";
import { type Classified, classify, type Id, parseMessage } from "../../../jsonrpc/message.js";
import { McpError } from "../../../protocol/error.js";
import type { Outgoing } from "../../transport.js";
import { AnswerStream, isEventStream, type StreamedExchange } from "./event-streams.js";
import { networkError, StreamFaults, whatInstead } from "./failure.js";
import { REDIRECTS } from "./redirect.js";
import { type HandshakeFacts, type HttpRequests, SESSION_HEADER } from "./requests.js";

/** One posted request, the messages that belong to it, and its outcome. */
export class ClientExchange implements StreamedExchange {
  readonly #requests: HttpRequests;
  readonly #facts: HandshakeFacts;
  readonly #request: Outgoing & { id: Id };
  readonly #open: Map<Id, ClientExchange>;
  readonly #resolve: (result: unknown) => void;
  readonly #reject: (error: Error) => void;
  /** Ends the current connection. */
  #cancel: CancelRequest | undefined;
  settled = false;
  /** Made with the first fault. */
  #faults: StreamFaults | undefined;
  /** The session that begins if the answer is a result. */
  #offered: string | undefined;

  /** `open` holds the exchange until its last connection ends; either `resolve` or `reject` is called once. */
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

  get method(): string {
    return this.#request.method;
  }

  get session(): string | undefined {
    return this.#facts.session ?? this.#offered;
  }

  send(): void {
    const { id, text, headers, resent } = this.#request;
    this.#open.set(id, this);
    const request = this.#requests.posting(this.#facts, text, headers);
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

  /** Closes the connection, even after the outcome. */
  cut(reason: Error): void {
    this.fail(reason);
    this.#cancel?.(reason);
  }

  /** Starts to read in the turn in which the response arrived, before the runtime buffers the body. */
  #read(response: SendResponse): void {
    try {
      if (this.#facts.hasSessions === undefined && this.#facts.session === undefined) {
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
        () => this.#over(),
        (error: unknown) => this.#broke(error),
      );
    }
  }

  #readWhole(response: SendResponse, text: string): void {
    const message = parseMessage(text);
    this.#deliver(message);
    if (!this.settled) this.refuse(this.#wrong(whatInstead(response, text, message)));
    this.#over();
  }

  /** Reads any response except 200 with JSON: an error, a stream, no answer, or another media type. */
  async #readOther(response: SendResponse, type: string | undefined): Promise<void> {
    const { status } = response;
    if (status < 200 || status > 299) {
      const { method, id } = this.#request;
      return this.refuse(await this.#requests.failure(response, this.#facts, method, id));
    }
    if (isEventStream(response, type)) return new AnswerStream(this.#requests, this.#facts, this).read(response);
    if (status !== 202 && status !== 204) {
      return this.#readWhole(response, await response.text(this.#requests.maxBytes));
    }
    response.cancel();
    return this.refuse(this.#wrong(`with HTTP ${status}, which is only valid for messages that need no answer`));
  }

  #broke(error: unknown): void {
    this.fail(networkError(error, this.method, this.#requests.shown));
    this.#over();
  }

  #over(): void {
    this.#open.delete(this.#request.id);
  }

  #deliver(received: Classified): void {
    const { receiver } = this.#requests;
    if (this.settled) {
      return this.#fault("late", () => this.#wrong("more than once, or sent messages after the answer"));
    }
    if (received.kind !== "invalid") this.#faults?.sound();
    switch (received.kind) {
      case "notification":
        receiver.notification(received.message, this.#request.id);
        break;
      case "request":
        this.#requests.answer(this.#facts, received.message, this.#request.id);
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

  #answer(received: Classified & { kind: "result" | "error" }): void {
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
      if (this.#facts.hasSessions === undefined) this.#facts.session ??= this.#offered;
      this.settled = true;
      this.#resolve(received.message.result);
    }
  }

  /** Rejects without closing the connection: it has ended, or the server may end it properly. */
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
 * The session that a response opens, if any. Throws if its id cannot be sent back in a header.
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
