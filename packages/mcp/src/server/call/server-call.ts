import type { CacheHint, Call } from "../../era/era.js";
import type { Session } from "../../era/session.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { MethodRow } from "../../protocol/methods.js";
import type { Coercion } from "../../schema/coerce.js";
import type { Answer, Exchange } from "../../transport/transport.js";
import type { HandlerContext } from "../contract/context.js";
import type { CallEnd, CallFollower } from "../contract/observer.js";
import type { Asker, RecordedAnswers } from "./asker.js";
import type { CallDeadline } from "./call-deadline.js";
import type { ServerFacts } from "./facts.js";
import type { InputOutcome } from "./input-required.js";

const NO_COERCIONS: readonly Coercion[] = [];

/** Creates the parts of a call. Passed in by dispatch, so that this file imports neither contexts nor askers. */
export interface CallMakers {
  context(call: ServerCall): HandlerContext;
  asker(call: ServerCall): Asker;
}

/** Holds the slots of a call whose handler may run for long. */
export interface SlotHolder {
  /** Whether the call waits for its slots however many others do. */
  readonly waits: boolean;
  /** The handler begins, with its slots. Returns what frees them when it ends. */
  hold(enter: () => undefined | Promise<void>, leave: () => void): () => void;
}

/** One call to the server. What few calls need is created on first use. */
export class ServerCall {
  readonly request: Call;
  readonly row: MethodRow;
  readonly exchange: Exchange;
  readonly facts: ServerFacts;
  /** The context that handlers and middleware get. */
  readonly ctx: HandlerContext;
  /** The call of the server that this one is mounted in. Its asker and its signal serve this call too. */
  readonly outer: ServerCall | undefined;
  /** The call that the client sent: this one, or the outermost call that it is part of. */
  readonly root: ServerCall;
  /** True when an unanswered question interrupts the handler, which runs again with the answer. */
  readonly replays: boolean;
  /** How long the client may cache the result; a handler may change it. */
  cache: CacheHint;
  /** The session that a handshake opened. */
  session: Session | undefined;
  /** To be called when that session ends, where it has no peer yet. */
  sessionEnded: Answer["sessionEnded"];
  /** Scopes that the caller lacks, when a handler refused for that reason. */
  scopes: string[] | undefined;
  /** What a transport is told of a limit that refused the call. */
  limited: Pick<Answer, "status" | "retryAfterMs"> | undefined;
  /** Arguments that were converted from text to the type in the schema. */
  coercions: readonly Coercion[] = NO_COERCIONS;
  /** Limits how long the handler may run. */
  deadline: CallDeadline | undefined;
  /** What a tool's handler threw, where the caller gets a result instead. */
  failure: unknown;
  /** How the call ended; kept only if there are observers. */
  end: CallEnd | undefined;
  /** Those who follow the call, and the call that it is part of; only if there are observers. */
  followers: readonly CallFollower[] | undefined;
  /** The questions to send instead of a result, whatever middleware makes of it. */
  interim: InputOutcome | undefined;
  /** Called when an unanswered question interrupts the handler. */
  interrupt: (() => void) | undefined;
  /** Frees the handler's slot when its questions are sent, because an interrupted handler may never settle. Root only. */
  release: (() => void) | undefined;
  /** Awaited once before the handler of a tool runs, when everything about the call has been checked. Root only. */
  beforeTool: (() => Promise<void>) | undefined;
  /** Holds its slots, if an extension does. Root only. */
  slot: SlotHolder | undefined;
  /** Lets observers see it as a call of its own from now on; of a call that an extension runs. Root only. */
  detach: (() => void) | undefined;
  /** Makes the call a task; set by an extension. Root only. */
  startTask: (() => Promise<boolean>) | undefined;
  /** Called before the answer is sent, to flush progress and to withdraw open questions. */
  beforeAnswer: ((ok: boolean) => void)[] | undefined;
  /** True if no middleware can change the handler's result. */
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
    this.followers = outer?.followers;
    this.ctx = makers.context(this);
  }

  /** Creates a call to a mounted server, on behalf of the same client. */
  inner(facts: ServerFacts, row: MethodRow, params: Params): ServerCall {
    return new ServerCall(facts, { ...this.request, params }, row, this.exchange, this.#makers, this);
  }

  /** A parameter that must be a string. */
  stringParam(name: string): string {
    const value = this.request.params[name];
    if (typeof value === "string") return value;
    throw this.#malformed(name, "a string");
  }

  /** A parameter that must be an object if it is given. */
  objectParam(name: string): Record<string, unknown> {
    const { [name]: value = {} } = this.request.params;
    if (isObject(value)) return value;
    throw this.#malformed(name, "an object");
  }

  #malformed(name: string, expected: string): McpError {
    return new McpError("invalid_params", `\`params.${name}\` of ${this.request.method} must be ${expected}`, {
      data: { issues: [{ path: `/${name}`, message: `must be ${expected}` }] },
    });
  }

  /** The same in every round of one call, and different for every other call. */
  get callId(): string {
    this.#callId ??= this.outer?.callId ?? this.facts.randomId();
    return this.#callId;
  }

  set callId(id: string) {
    this.#callId = id;
  }

  /** Follows the exchange's signal and can be aborted by the server itself. */
  get signal(): AbortSignal {
    return this.#abortable().signal;
  }

  /** Aborts the handler's signal without notifying the peer. */
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

  /** Carries questions to the client; created by the first question or step. */
  get asker(): Asker {
    this.#asker ??= this.outer?.asker ?? this.#makers.asker(this);
    return this.#asker;
  }

  /** What a later run of the handler need not ask or do again. */
  async recorded(): Promise<RecordedAnswers | undefined> {
    return this.#asker?.recorded?.();
  }

  /** Sets the asker of a call whose request has answers. */
  useAsker(asker: Asker): void {
    this.#asker = asker;
  }

  /** Registers a function that is called before the answer is sent, whatever the answer is; `ok` unless it is an error. */
  whenAnswered(act: (ok: boolean) => void): void {
    this.beforeAnswer ??= [];
    this.beforeAnswer.push(act);
  }

  /** Sends a notification that belongs to this call. */
  notify(method: string, params: object): void {
    // Spec: Streamable HTTP, "Receiving Messages": a subscription's stream carries only what was subscribed to.
    // https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
    if (this.row.deadlineExempt === true) return;
    const text = this.request.era.notification(method, params, this.request);
    if (text !== undefined) this.exchange.say(text);
  }
}

/** The result of a call in a form of an extension, which no middleware sees. */
export class ExtensionResult {
  /** The value of `resultType`, in revisions that have it. */
  readonly resultType: string;
  readonly members: object;

  constructor(resultType: string, members: object) {
    this.resultType = resultType;
    this.members = members;
  }
}
