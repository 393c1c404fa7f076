import { isThenable } from "../encoding/maybe-promise.js";
import { readBatch } from "./batch.js";
import { faultData, INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, RpcError } from "./error.js";
import {
  type Classified,
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
import { LazyAbort, PendingAsks } from "./pending-asks.js";

/** The answer to one request, as the text that goes on the wire. */
export interface Reply {
  text: string;
}

/** What a connection calls. Rejections and throws of `request` become -32603 answers; the others may not throw. */
export interface ConnectionHandler<P> {
  request(message: RequestMessage, inbound: InboundRequest<P>): Reply | Promise<Reply>;
  notification(message: NotificationMessage): void;
  /** Called once, after everything pending was rejected. */
  closed(reason: Error | undefined): void;
  /** Input that was not a message: garbage, an oversized frame, an answer to nothing, or one to `asked` that cannot be read. */
  fault?(error: Error, asked?: Id): void;
  /** A result that nothing waits for: its request was given up, or never sent. */
  late?(message: ResultMessage): void;
  /** Whether arrays of messages are understood at this moment. */
  acceptsBatch?(): boolean;
}

/** Behaviour that differs between the two ends of a pipe. */
export interface ConnectionOptions {
  /** Answer unreadable input with an error without id, as servers do; clients stay silent. */
  answerFaults?: boolean;
  /** Requests of the peer that may run at once; more are refused. */
  maxInFlight?: number;
  /** Inputs in a row that are not messages, after which a peer whose faults are answered is cut off. Default: none is. */
  maxFaults?: number;
  parseLimits?: ParseLimits;
}

/**
 * JSON-RPC over one duplex channel: asks and answers in both directions, with exactly one outcome per request.
 * It knows no method.
 */
export class Connection<P> {
  readonly peer: P;
  readonly #channel: Channel;
  readonly #handler: ConnectionHandler<P>;
  readonly #options: ConnectionOptions;
  readonly #limits: ParseLimits;
  readonly #asks = new PendingAsks();
  readonly #inFlight = new Map<Id, InboundRequest<P>>();
  readonly #idleWaiters: (() => void)[] = [];
  /** Handlers that have not ended; those of aborted requests count too, for they still take what they take. */
  #running = 0;
  /** Inputs in a row that were not messages. */
  #faults = 0;
  /** Set once they were too many: nothing is read any more. */
  #deaf = false;
  #ended = false;
  #reason: Error | undefined;

  constructor(channel: Channel, handler: ConnectionHandler<P>, peer: P, options: ConnectionOptions = {}) {
    this.#channel = channel;
    this.#handler = handler;
    this.#options = options;
    this.#limits = options.parseLimits ?? DEFAULT_PARSE_LIMITS;
    this.peer = peer;
  }

  /** Starts delivery. Call once, when the handler is ready. */
  open(): void {
    this.#channel.open({
      message: (text) => {
        // A chunk may hold many more lines than those that ended the connection.
        if (!this.#deaf) this.#receive(parseMessage(text, this.#limits));
      },
      fault: (error) => {
        if (!this.#deaf) this.#fault(PARSE_ERROR, error);
      },
      closed: (reason) => this.#close(reason),
    });
  }

  get closed(): boolean {
    return this.#ended;
  }

  /** Requests of the peer that have no answer yet. */
  get inFlightCount(): number {
    return this.#inFlight.size;
  }

  /** Sends a text that needs no answer. After the end it does nothing; a peer that stopped reading is cut off. */
  send(text: string): void {
    if (this.#ended) return;
    try {
      this.#channel.send(text);
    } catch (error) {
      this.#handler.fault?.(error instanceof Error ? error : new Error(String(error)));
      void this.#channel.close();
    }
  }

  /** Sends a request and settles once: with its result, its error, `signal`, or the end of the connection. */
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown> {
    const { id, text } = request;
    if (id === undefined) return Promise.reject(new TypeError("a request needs an id"));
    if (this.#ended) return Promise.reject(this.#closedError());
    return this.#asks.ask(id, text, (message) => this.#channel.send(message), signal);
  }

  /** Stops waiting for an answer; the promise of `ask` rejects with `reason`, and `late` gets a result that comes yet. */
  forget(id: Id, reason: Error): void {
    this.#asks.take(id)?.reject(reason);
  }

  /** As `forget`, for everything that waits for an answer. */
  forgetAll(reason: Error): void {
    this.#asks.rejectAll(reason);
  }

  /** Ends a request of the peer without an answer. False when no such request is in flight. */
  abort(id: Id, reason?: unknown): boolean {
    const inbound = this.#inFlight.get(id);
    if (inbound === undefined) return false;
    inbound.abort(reason);
    this.#settled(id, inbound);
    return true;
  }

  /** The peer will send no more, so what was asked of it rejects; its own requests are still answered. */
  inputEnded(): void {
    this.#asks.rejectAll(this.#closedError());
  }

  /** Resolves when no request of the peer is in flight. */
  whenIdle(): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  close(): void | Promise<void> {
    return this.#channel.close();
  }

  #receive(item: Classified): void {
    if (item.kind !== "invalid") this.#faults = 0;
    switch (item.kind) {
      case "request":
        return this.#answer(item.message);
      case "notification":
        return this.#handler.notification(item.message);
      case "result": {
        const asked = this.#asks.take(item.message.id);
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
    this.#asks.take(id)?.reject(failure);
  }

  #answer(message: RequestMessage): void {
    const reply = this.#run(message, false);
    if (reply === undefined) return;
    if (!isThenable(reply)) return this.send(reply.text);
    void reply.then((settled) => settled && this.send(settled.text));
  }

  /** Runs one request of the peer. Undefined means: aborted, nothing is to be sent. Never rejects. */
  #run(message: RequestMessage, batched: boolean): Reply | undefined | Promise<Reply | undefined> {
    const { id } = message;
    const refusal = this.#refusal(id);
    if (refusal !== undefined) return refusal;
    const inbound = new InboundRequest<P>(this, id, batched);
    // Registered before the handler runs, so that a handler may look itself up and be aborted by what it does.
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
    // An aborted id may be in use again by the time its handler settles.
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
    // It will not come again.
    if (answers !== undefined) this.forget(answers, error);
    if (this.#options.answerFaults !== true) return;
    if (silent !== true) this.send(errorText(id, code, error.message, faultData(code)));
    const { maxFaults = Number.POSITIVE_INFINITY } = this.#options;
    if (++this.#faults < maxFaults) return;
    this.#deaf = true;
    const data = { limit: "maxFaults" };
    this.send(errorText(undefined, INVALID_REQUEST, `${maxFaults} inputs in a row were not messages`, data));
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
    this.#asks.rejectAll(error);
    this.#handler.closed(reason);
  }

  #closedError(): Error {
    return this.#reason ?? new ConnectionClosed();
  }
}

/** The pipe ended in an orderly way while an answer was awaited. */
class ConnectionClosed extends Error {
  override readonly name = "ConnectionClosed";

  constructor() {
    super("the connection was closed");
  }
}

function internalError(id: Id, error: unknown): Reply {
  if (error instanceof RpcError) return { text: errorText(id, error.code, error.message, error.data) };
  return { text: errorText(id, INTERNAL_ERROR, "the request failed inside the receiver") };
}

/** What an inbound request needs of its connection. */
export interface InboundOwner<P> {
  readonly peer: P;
  send(text: string): void;
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown>;
}

/** A request on its way out: its id and its whole text. */
export interface OutboundRequest {
  id?: Id | undefined;
  text: string;
}

/** One request that the peer sent and that has no answer yet. What is said after its end is dropped. */
export class InboundRequest<P> {
  readonly id: Id;
  /** True when it came inside a batch array. */
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

  /** Asks the peer something while this request runs; `signal` ends the wait. */
  ask(request: OutboundRequest, signal?: AbortSignal): Promise<unknown> {
    return this.#owner.ask(request, signal);
  }

  /** Ends the request without an answer and tells its handler by `signal`. */
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
 * A duplex pipe of whole texts: one `send` here is one `message` there, in order.
 *
 * Contract: `open` is called once, before anything else; nothing is delivered before it. `closed` is called exactly once,
 * after the last `message`, whichever side closed the pipe. After it, `send` does nothing.
 */
export interface Channel {
  open(receiver: ChannelReceiver): void;
  /** Queues one text. Throws when the queue's bound is reached; the error says which bound. Never blocks. */
  send(text: string): void;
  /** Ends the pipe; what was sent before still leaves if it can. Safe to call twice. */
  close(): void | Promise<void>;
}

/** What a channel calls. No method may throw. */
export interface ChannelReceiver {
  message(text: string): void;
  /** One unit of input could not be read (too long, not UTF-8); the channel lives on. */
  fault(error: Error): void;
  closed(reason?: Error): void;
}
