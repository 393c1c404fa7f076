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

/** Makes what a call has. Given by dispatch, so that a call knows neither what asks nor what handlers see. */
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
  /** What its handler and middleware see. */
  readonly ctx: HandlerContext;
  /** The call of the server that this one is mounted in. Its asker and its signal serve this call too. */
  readonly outer: ServerCall | undefined;
  /** The call that came in: this one, or the outermost that it is served in. */
  readonly root: ServerCall;
  /** True when an unanswered question interrupts the handler, which runs again with the answer. */
  readonly replays: boolean;
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
  /** How the call ended; kept only if there are observers. */
  end: CallEnd | undefined;
  /** Told when the handler was interrupted by an unanswered question. */
  interrupt: (() => void) | undefined;
  /** Gives back the handler's place when its questions go out: an interrupted handler may never settle. Of the root only. */
  release: (() => void) | undefined;
  /** Called before the answer: what is held back is sent, and the client is not asked any more. */
  beforeAnswer: (() => void)[] | undefined;
  /** True if nothing between the handler and the wire can change the result. */
  straight = true;
  readonly #makers: CallMakers;
  #asker: Asker | undefined;
  #controller: AbortController | undefined;
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
    this.root = outer?.root ?? this;
    this.replays = request.era.replays;
    this.request = request;
    this.row = row;
    this.exchange = exchange;
    this.cache = facts.hints.read;
    this.ctx = makers.context(this);
  }

  /** A call of the same client that is served within this one. */
  inner(facts: ServerFacts, row: MethodRow, params: Params): ServerCall {
    return new ServerCall(facts, { ...this.request, params }, row, this.exchange, this.#makers, this);
  }

  /** The same in every round of one call, and different for every other call. */
  get callId(): string {
    this.#callId ??= this.facts.randomId();
    return this.#callId;
  }

  set callId(id: string) {
    this.#callId = id;
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

  /** What carries questions to the client; made by the first question or step. */
  get asker(): Asker {
    this.#asker ??= this.outer?.asker ?? this.#makers.asker(this);
    return this.#asker;
  }

  /** Takes the asker of a call that brings answers. */
  useAsker(asker: Asker): void {
    this.#asker = asker;
  }

  /** Has something done before the answer leaves, whatever the answer is. */
  whenAnswered(act: () => void): void {
    this.beforeAnswer ??= [];
    this.beforeAnswer.push(act);
  }

  /** Sends a notification that belongs to this call. */
  notify(method: string, params: object): void {
    const text = this.request.era.notification(method, params, this.request);
    if (text !== undefined) this.exchange.say(text);
  }
}
