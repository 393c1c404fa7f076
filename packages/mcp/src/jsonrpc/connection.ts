import { isThenable } from "../encoding/maybe-promise.js";
import { readBatch } from "./batch.js";
import { faultData, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, RpcError } from "./error.js";
import {
  type ClassifiedMessage,
  DEFAULT_PARSE_LIMITS,
  type ErrorMessage,
  errorText,
  type Id,
  type NotificationMessage,
  type ParseLimits,
  parseMessage,
  type RequestMessage,
  type ResultMessage,
} from "./message.js";
import { LazyAbort, PendingRequests } from "./pending-requests.js";

/** The response to one request, as JSON text. */
export interface Reply {
  text: string;
}

/**
 * The functions that a connection calls. If `request` throws or rejects, the connection answers with the thrown
 * `RpcError`, or with -32603. The other functions must not throw.
 */
export interface ConnectionHandler<P> {
  /** Serves a request of the peer. */
  request(message: RequestMessage, inbound: InboundRequest<P>): Reply | Promise<Reply>;
  /** Handles a notification of the peer. */
  notification(message: NotificationMessage): void;
  /** Called once, after all pending requests were rejected. */
  closed(reason: Error | undefined): void;
  /**
   * Reports input that is not a message: garbage, an oversized frame, or an error response without an id. If the input
   * was an unreadable response to a request sent by this side, `asked` is the id of that request.
   */
  fault?(error: Error, asked?: Id): void;
  /** Reports a result that no request waits for: the request was abandoned or never sent. */
  late?(message: ResultMessage): void;
  /** Returns true if batches are allowed at this moment. */
  acceptsBatch?(): boolean;
}

/** Options that differ between clients and servers. */
export interface ConnectionOptions {
  /**
   * True to answer invalid input with an error response, as servers do. Clients do not answer invalid input. Default:
   * false.
   */
  answerFaults?: boolean;
  /** Maximum number of requests of the peer that run at once. Further requests are refused. Default: unlimited. */
  maxInFlight?: number;
  /**
   * Number of consecutive invalid inputs after which the connection closes. Applies with `answerFaults`. Default:
   * unlimited.
   */
  maxFaults?: number;
  /** Limits on parsed input. */
  parseLimits?: ParseLimits;
}

/**
 * JSON-RPC over one duplex channel: requests and responses in both directions, with exactly one outcome per request.
 * Independent of the methods of MCP.
 */
export class Connection<P> {
  readonly peer: P;
  readonly #channel: Channel;
  readonly #handler: ConnectionHandler<P>;
  readonly #options: ConnectionOptions;
  readonly #limits: ParseLimits;
  readonly #pending = new PendingRequests();
  readonly #inFlight = new Map<Id, InboundRequest<P>>();
  readonly #idleWaiters: (() => void)[] = [];
  /** Number of running handlers. Handlers of aborted requests count too, because they still use resources. */
  #running = 0;
  /** Number of consecutive invalid inputs. */
  #faults = 0;
  /** Set after too many invalid inputs: all further input is ignored. */
  #ignoresInput = false;
  #ended = false;
  #reason: Error | undefined;

  constructor(channel: Channel, handler: ConnectionHandler<P>, peer: P, options: ConnectionOptions = {}) {
    this.#channel = channel;
    this.#handler = handler;
    this.#options = options;
    this.#limits = options.parseLimits ?? DEFAULT_PARSE_LIMITS;
    this.peer = peer;
  }

  /** Starts delivery. Call it once, when the handler is ready. */
  open(): void {
    this.#channel.open({
      message: (text) => {
        // A chunk may contain many messages after the one that ended the connection. They are ignored.
        if (!this.#ignoresInput) this.#receive(parseMessage(text, this.#limits));
      },
      fault: (error) => {
        if (!this.#ignoresInput) this.#fault(PARSE_ERROR, error);
      },
      closed: (reason) => this.#close(reason),
    });
  }

  get closed(): boolean {
    return this.#ended;
  }

  /** Number of requests of the peer without a response. */
  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /**
   * Sends a text that needs no answer. Does nothing after the connection has ended. Closes the connection if the queue
   * is full.
   */
  send(text: string): void {
    if (this.#ended) return;
    try {
      this.#channel.send(text);
    } catch (error) {
      this.#handler.fault?.(error instanceof Error ? error : new Error(String(error)));
      void this.#channel.close();
    }
  }

  /**
   * Sends a request. Settles once: with its result, its error, the reason of `signal`, or the end of the connection.
   */
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown> {
    const { id, text } = request;
    if (id === undefined) return Promise.reject(new TypeError("a request needs an id"));
    if (this.#ended) return Promise.reject(this.#closedError());
    return this.#pending.ask(id, text, (message) => this.#channel.send(message), signal);
  }

  /**
   * Stops waiting for a response. The promise of `ask` rejects with `reason`, and `late` receives a result that arrives
   * later.
   */
  forget(id: Id, reason: Error): void {
    this.#pending.remove(id)?.reject(reason);
  }

  /** Like `forget`, for all pending requests. */
  forgetAll(reason: Error): void {
    this.#pending.rejectAll(reason);
  }

  /**
   * Aborts a request of the peer. An aborted request gets no response. Returns false if no such request is in flight.
   */
  abort(id: Id, reason?: unknown): boolean {
    const inbound = this.#inFlight.get(id);
    if (inbound === undefined) return false;
    inbound.abort(reason);
    this.#settled(id, inbound);
    return true;
  }

  /**
   * Rejects all pending requests, because the peer sends no more messages. The requests of the peer are still answered.
   */
  inputEnded(): void {
    this.#pending.rejectAll(this.#closedError());
  }

  /** Resolves when no request of the peer is in flight. */
  whenIdle(): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  close(): void | Promise<void> {
    return this.#channel.close();
  }

  #receive(item: ClassifiedMessage): void {
    if (item.kind !== "invalid") this.#faults = 0;
    switch (item.kind) {
      case "request":
        return this.#answer(item.message);
      case "notification":
        return this.#handler.notification(item.message);
      case "result": {
        const asked = this.#pending.remove(item.message.id);
        if (asked === undefined) return this.#handler.late?.(item.message);
        return asked.resolve(item.message.result);
      }
      case "error":
        return this.#receiveError(item.message);
      case "batch":
        return this.#receiveBatch(item.items);
      case "invalid":
        return this.#fault(item.code, new Error(item.reason), item);
    }
  }

  #receiveError({ id, error }: ErrorMessage): void {
    const failure = new RpcError(error.code, error.message, error.data);
    if (id === undefined || id === null) return this.#handler.fault?.(failure);
    this.#pending.remove(id)?.reject(failure);
  }

  #answer(message: RequestMessage): void {
    const reply = this.#run(message, false);
    if (reply === undefined) return;
    if (!isThenable(reply)) return this.send(reply.text);
    void reply.then((settled) => settled && this.send(settled.text));
  }

  /**
   * Runs one request of the peer. Returns or resolves with undefined if the request was aborted, in which case nothing
   * is sent. Never rejects.
   */
  #run(message: RequestMessage, batched: boolean): Reply | undefined | Promise<Reply | undefined> {
    const { id } = message;
    const refusal = this.#refusal(id);
    if (refusal !== undefined) return refusal;
    const inbound = new InboundRequest<P>(this, id, batched);
    // Registered before the handler runs, because the handler may abort its own request.
    this.#inFlight.set(id, inbound);
    this.#running++;
    let reply: Reply | Promise<Reply>;
    try {
      reply = this.#handler.request(message, inbound);
    } catch (error) {
      reply = internalError(id, error);
    }
    if (!isThenable(reply)) return this.#finish(id, inbound, reply);
    return reply.then(
      (settled) => this.#finish(id, inbound, settled),
      (error) => this.#finish(id, inbound, internalError(id, error)),
    );
  }

  #refusal(id: Id): Reply | undefined {
    if (this.#inFlight.has(id)) {
      return { text: errorText(id, INVALID_REQUEST, "a request with this id is still in flight") };
    }
    const limit = this.#options.maxInFlight;
    if (limit === undefined || this.#running < limit) return undefined;
    return {
      text: errorText(id, INTERNAL_ERROR, `more than ${limit} requests are in flight, or cancelled and still running`, {
        limit: "maxInFlight",
      }),
    };
  }

  #finish(id: Id, inbound: InboundRequest<P>, reply: Reply): Reply | undefined {
    this.#running--;
    this.#settled(id, inbound);
    if (inbound.aborted) return undefined;
    inbound.end();
    return reply;
  }

  #settled(id: Id, inbound: InboundRequest<P>): void {
    // The peer may reuse the id of an aborted request before the handler of that request settles.
    if (this.#inFlight.get(id) === inbound) this.#inFlight.delete(id);
    if (this.#inFlight.size === 0 && this.#idleWaiters.length > 0) this.#wakeIdleWaiters();
  }

  #wakeIdleWaiters(): void {
    for (const wake of this.#idleWaiters.splice(0)) wake();
  }

  #receiveBatch(items: unknown[]): void {
    if (items.length === 0 || this.#handler.acceptsBatch?.() !== true) {
      return this.#fault(INVALID_REQUEST, new Error("an array of messages is not accepted here"));
    }
    const replies: (Reply | undefined | Promise<Reply | undefined>)[] = [];
    for (const item of readBatch(items)) {
      if (item.kind === "request") replies.push(this.#run(item.message, true));
      else if (item.kind === "refused") replies.push({ text: item.text });
      else this.#receive(item);
    }
    void Promise.all(replies).then((settled) => {
      const texts = settled.flatMap((reply) => (reply === undefined ? [] : [reply.text]));
      if (texts.length > 0) this.send(`[${texts.join(",")}]`);
    });
  }

  #fault(code: number, error: Error, { id, silent, answers }: { id?: Id; silent?: true; answers?: Id } = {}): void {
    this.#handler.fault?.(error, answers);
    // The peer will send no other response to this request, so the request fails now.
    if (answers !== undefined) this.forget(answers, error);
    if (this.#options.answerFaults !== true) return;
    if (silent !== true) this.send(errorText(id, code, error.message, faultData(code)));
    const { maxFaults = Number.POSITIVE_INFINITY } = this.#options;
    if (++this.#faults < maxFaults) return;
    this.#ignoresInput = true;
    const data = { limit: "maxFaults" };
    this.send(errorText(undefined, INVALID_REQUEST, `${maxFaults} consecutive inputs were not messages`, data));
    void this.#channel.close();
  }

  #close(reason: Error | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reason = reason;
    const error = this.#closedError();
    for (const inbound of this.#inFlight.values()) inbound.abort(error);
    this.#inFlight.clear();
    for (const wake of this.#idleWaiters.splice(0)) wake();
    this.#pending.rejectAll(error);
    this.#handler.closed(reason);
  }

  #closedError(): Error {
    return this.#reason ?? new ConnectionClosed();
  }
}

/** The error of pending requests if the pipe closed normally. */
class ConnectionClosed extends Error {
  override readonly name = "ConnectionClosed";

  constructor() {
    super("the connection was closed");
  }
}

function internalError(id: Id, error: unknown): Reply {
  if (error instanceof RpcError) return { text: errorText(id, error.code, error.message, error.data) };
  return { text: errorText(id, INTERNAL_ERROR, "the request failed with an internal error") };
}

/** The part of a connection that an inbound request uses. */
export interface InboundOwner<P> {
  readonly peer: P;
  send(text: string): void;
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown>;
}

/** An outgoing request: its id and its whole text. */
export interface OutboundRequest {
  id?: Id | undefined;
  text: string;
}

/** A request of the peer that has not been answered yet. Texts sent after its end are dropped. */
export class InboundRequest<P> {
  readonly id: Id;
  /** True if the request arrived in a batch. */
  readonly batched: boolean;
  readonly #owner: InboundOwner<P>;
  #abort: LazyAbort | undefined;
  #ended = false;

  constructor(owner: InboundOwner<P>, id: Id, batched: boolean) {
    this.id = id;
    this.batched = batched;
    this.#owner = owner;
  }

  get peer(): P {
    return this.#owner.peer;
  }

  get signal(): AbortSignal {
    return this.#lazyAbort().signal;
  }

  get aborted(): boolean {
    return this.#abort?.aborted === true;
  }

  /** Sends a text that belongs to this request, unless the request has ended. */
  send(text: string): void {
    if (!this.#ended) this.#owner.send(text);
  }

  /** Sends a request to the peer while this request runs. If `signal` aborts, rejects with its reason. */
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown> {
    return this.#owner.ask(request, signal);
  }

  /** Ends the request without a response, and aborts its `signal`. */
  abort(reason: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#lazyAbort().abort(reason);
  }

  /** Marks the request as answered. */
  end(): void {
    this.#ended = true;
  }

  #lazyAbort(): LazyAbort {
    this.#abort ??= new LazyAbort();
    return this.#abort;
  }
}

/**
 * A duplex pipe of whole texts: each `send` on one end is one `message` on the other end, in order. The author of a
 * transport implements this interface, and the library calls it.
 *
 * Contract: `open` is called once, before `send`, and nothing is delivered before `open`. `closed` is called exactly
 * once, after the last `message`, whichever side closed the pipe. After `closed`, `send` does nothing.
 */
export interface Channel {
  /** Starts delivery to `receiver`. Called once. */
  open(receiver: ChannelReceiver): void;
  /** Queues one text and never blocks. Throws if a limit of the queue is reached; the error names the limit. */
  send(text: string): void;
  /** Closes the pipe. Texts sent before are still written if possible. Safe to call twice. */
  close(): void | Promise<void>;
}

/** The functions that a channel calls. None of them throws. */
export interface ChannelReceiver {
  /** Delivers one text, in the order of sending. */
  message(text: string): void;
  /** Reports a unit of input that could not be read, because it was too long or not UTF-8. The channel continues. */
  fault(error: Error): void;
  /** Reports the end of the pipe, exactly once and last. `reason` is absent if the pipe was closed normally. */
  closed(reason?: Error): void;
}
