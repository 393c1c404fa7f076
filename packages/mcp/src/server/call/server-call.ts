import type { CacheHint, Call } from "../../era/era.js";
import { notificationText } from "../../era/notification.js";
import type { Session } from "../../era/session.js";
import type { MethodRow } from "../../protocol/methods.js";
import type { Coercion } from "../../schema/coerce.js";
import type { Exchange } from "../../transport/transport.js";
import type { RunEnd } from "../observer.js";
import type { Asker } from "../questions/by-request.js";
import { CallContext } from "./call-context.js";
import type { CallDeadline } from "./call-deadline.js";
import type { ServerCore } from "./core.js";
import { ProgressReporter } from "./progress.js";

const NO_COERCIONS: readonly Coercion[] = [];

/** One call on its way through the server. Everything that few calls need is made on first use. */
export class Run {
  readonly call: Call;
  readonly row: MethodRow;
  readonly exchange: Exchange;
  readonly core: ServerCore;
  /** The run of the server that this one is mounted in: its questions and its signal count here too. */
  readonly outer: Run | undefined;
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
  /** How the run ended; kept only while somebody observes. */
  end: RunEnd | undefined;
  /** Told when the handler was interrupted by an unanswered question. */
  interrupt: (() => void) | undefined;
  #release: (() => void) | undefined;
  #asker: Asker | undefined;
  #progress: ProgressReporter | undefined;
  #controller: AbortController | undefined;
  #context: CallContext | undefined;
  #callId: string | undefined;

  constructor(core: ServerCore, call: Call, row: MethodRow, exchange: Exchange, outer?: Run) {
    this.core = core;
    this.outer = outer;
    this.call = call;
    this.row = row;
    this.exchange = exchange;
    this.cache = core.cacheHint;
  }

  /** The same in every round of one call; another one for every other call. */
  get callId(): string {
    this.#callId ??= this.core.randomId();
    return this.#callId;
  }

  set callId(id: string) {
    this.#callId = id;
  }

  get ctx(): CallContext {
    this.#context ??= new CallContext(this);
    return this.#context;
  }

  /** True when nobody between the handler and the wire may change a result. */
  get straight(): boolean {
    return this.core.middleware.length === 0 && (this.outer === undefined || this.outer.straight);
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
    this.#asker ??= this.outer?.asker ?? this.core.askers[this.call.era.asks](this);
    return this.#asker;
  }

  /** Takes the asker of a call that brings answers. */
  useAsker(asker: Asker): void {
    this.#asker = asker;
  }

  /** The call has its outcome: the client is not asked any more. */
  withdraw(): void {
    this.#asker?.withdraw?.();
  }

  get progress(): ProgressReporter {
    this.#progress ??= new ProgressReporter(this);
    return this.#progress;
  }

  /** Sends what is held back, before the answer. */
  flush(): void {
    this.#progress?.flush();
  }

  /** Sends a notification that belongs to this call. */
  notify(method: string, params: object): void {
    this.exchange.say(notificationText(method, params));
  }
}
