import type { CacheHint, Call } from "../../era/era.js";
import type { Session } from "../../era/session.js";
import type { Params } from "../../jsonrpc/message.js";
import type { MethodRow } from "../../protocol/methods.js";
import type { Coercion } from "../../schema/coerce.js";
import type { Exchange } from "../../transport/transport.js";
import type { HandlerContext } from "../context.js";
import type { CallEnd } from "../observer.js";
import type { Asker } from "../questions/asker.js";
import type { CallDeadline } from "./call-deadline.js";
import type { ServerFacts } from "./facts.js";

const NO_COERCIONS: readonly Coercion[] = [];

/** Makes what few calls need, on first use. Given by dispatch, so that a call does not know what asks and what handlers see. */
export interface CallMakers {
  context(call: ServerCall): HandlerContext;
  asker(call: ServerCall): Asker;
}

/** One call on its way through the server. Everything that few calls need is made on first use. */
export class ServerCall {
  readonly request: Call;
  readonly row: MethodRow;
  readonly exchange: Exchange;
  readonly facts: ServerFacts;
  /** The call of the server that this one is mounted in. Its asker and its signal serve this call too. */
  readonly outer: ServerCall | undefined;
  /** How long the client may keep the result; a handler may change it. */
  cache: CacheHint;
  /** Set by the handshake. */
  opens: Session | undefined;
  /** Scopes that the caller lacks, when a handler refused for that reason. */
  scopes: string[] | undefined;
  /** What was turned from text into what the schema asks for. */
  coercions: readonly Coercion[] = NO_COERCIONS;
  /** Limits how long the handler may run; present while one does. */
  deadline: CallDeadline | undefined;
  /** What a tool's handler threw, where the caller gets a result instead. */
  failure: unknown;
  /** How the call ended; kept only while somebody observes. */
  end: CallEnd | undefined;
  /** Told when the handler was interrupted by an unanswered question. */
  interrupt: (() => void) | undefined;
  /** Sends what is held back, before the answer. */
  beforeAnswer: (() => void) | undefined;
  /** True when nobody between the handler and the wire may change a result. */
  straight = true;
  readonly #makers: CallMakers;
  #release: (() => void) | undefined;
  #asker: Asker | undefined;
  #controller: AbortController | undefined;
  #context: HandlerContext | undefined;
  #callId: string | undefined;

  constructor(
    facts: ServerFacts,
    request: Call,
    row: MethodRow,
    exchange: Exchange,
    makers: CallMakers,
    outer?: ServerCall,
  ) {
    this.facts = facts;
    this.#makers = makers;
    this.outer = outer;
    this.request = request;
    this.row = row;
    this.exchange = exchange;
    this.cache = facts.hints.read;
  }

  /** A call of the same client that is served within this one. */
  inner(facts: ServerFacts, row: MethodRow, params: Params): ServerCall {
    return new ServerCall(facts, { ...this.request, params }, row, this.exchange, this.#makers, this);
  }

  /** The same in every round of one call; another one for every other call. */
  get callId(): string {
    this.#callId ??= this.facts.randomId();
    return this.#callId;
  }

  set callId(id: string) {
    this.#callId = id;
  }

  get ctx(): HandlerContext {
    this.#context ??= this.#makers.context(this);
    return this.#context;
  }

  /** True when an unanswered question interrupts the handler, which runs again with the answer. */
  get replays(): boolean {
    return this.request.era.replays;
  }

  /** Follows the exchange's signal and can be aborted by the server itself. */
  get signal(): AbortSignal {
    return this.#abortable().signal;
  }

  /** Tells the handler to stop, without any word to the peer. */
  abort(reason: unknown): void {
    this.#abortable().abort(reason);
  }

  #abortable(): AbortController {
    if (this.#controller !== undefined) return this.#controller;
    const controller = new AbortController();
    this.#controller = controller;
    const { signal } = this.outer ?? this.exchange;
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    return controller;
  }

  /** Names what gives back a handler's place when its questions go out: an interrupted handler may never settle. */
  whenInterrupted(release: () => void): void {
    if (this.outer === undefined) this.#release = release;
    else this.outer.whenInterrupted(release);
  }

  /** The questions have gone out; this run of the handler is no longer waited for. */
  interrupted(): void {
    this.#release?.();
  }

  /** What carries questions to the client; made by the first question or step. */
  get asker(): Asker {
    this.#asker ??= this.outer?.asker ?? this.#makers.asker(this);
    return this.#asker;
  }

  /** Takes the asker of a call that brings answers. */
  useAsker(asker: Asker): void {
    this.#asker = asker;
  }

  /** The call has its outcome: what is held back is sent, and the client is not asked any more. */
  finish(): void {
    this.beforeAnswer?.();
    this.#asker?.withdraw?.();
  }

  /** Sends a notification that belongs to this call. */
  notify(method: string, params: object): void {
    const text = this.request.era.notification(method, params, this.request);
    if (text !== undefined) this.exchange.say(text);
  }
}
