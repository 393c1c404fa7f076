import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { CacheHint, Call } from "../../era/era.js";
import { type NotificationMiddleware, passNotification } from "../../era/notification-middleware.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { MethodRow } from "../../protocol/methods.js";
import type { Coercion } from "../../schema/coerce.js";
import type { Answer, Exchange } from "../../transport/transport.js";
import type { HandlerContext } from "../contract/context.js";
import type { CallEnd, CallFollower } from "../contract/observer.js";
import type { FoundOffer, SourceCall } from "../contract/source.js";
import type { Asker, InputOutcome, RecordedAnswers } from "./asker.js";
import type { CallDeadline } from "./call-deadline.js";
import type { ServerConfig } from "./server-config.js";

const NO_COERCIONS: readonly Coercion[] = [];

/** Serves one method. The result goes through the layers of the server and is then encoded by the era. */
export type MethodHandler = (call: ServerCall) => MaybePromise<object>;

/** The parts of a server that each of its calls has. */
export interface CallOwner {
  readonly config: ServerConfig;
  readonly contextOf: (call: ServerCall) => HandlerContext;
  readonly usualAsker: (call: ServerCall) => Asker;
  /** True if no middleware can change the results of handlers. */
  straight: boolean;
  /** The middleware around notifications. Only read where the server is mounted: else it is around the endpoint. */
  readonly notifications?: readonly NotificationMiddleware[];
}

/** Holds the slots of a call whose handler may run for long. */
export interface SlotHolder {
  /** Whether the call waits for its slots however many others do. */
  readonly waits: boolean;
  /** The handler begins, with its slots. Returns what frees them when it ends. */
  hold(enter: () => undefined | Promise<void>, leave: () => void): () => void;
}

/** How the handler of a tool begins and ends. An extension sets its part before the call runs, the tool the rest. */
export interface Admission {
  /** Awaited once before the handler runs, when everything about the call has been checked. */
  beforeTool?: (() => Promise<void>) | undefined;
  /** Holds the slots that limit how many handlers run at once. */
  slot?: SlotHolder | undefined;
  /** The implementation of `ctx.startTask`. */
  startTask?: (() => Promise<boolean>) | undefined;
  /** Frees the slots when questions are sent, because an interrupted handler may never settle. */
  release?: (() => void) | undefined;
  /** Limits how long the handler may run. */
  deadline?: CallDeadline | undefined;
}

/** The state of a handler that questions without an answer interrupt. */
export interface Interruption {
  /** Settles when the handler ends. */
  readonly handler: Promise<unknown>;
  /** True from the first unanswered question on: the handler's own outcome counts no more. */
  interrupted: boolean;
  /** The questions to send instead of a result, whatever middleware makes of it. */
  interim: InputOutcome | undefined;
  /** Settle the call in place of the handler. */
  resolve(interim: InputOutcome): void;
  reject(reason: unknown): void;
}

/** The questions of a call; created with the first of them, or by a handler that they may interrupt. */
export interface QuestionState {
  /** Sends questions and steps to the client. */
  asker?: Asker | undefined;
  /** Names of the questions and steps that have not settled yet. Of the root. */
  unsettled?: string[] | undefined;
  interruption?: Interruption | undefined;
}

/** The questions of a call, to be changed. */
function questionsOf(call: { questions: QuestionState | undefined }): QuestionState {
  call.questions ??= {};
  return call.questions;
}

/** One call to the server. What few calls need is created on first use. */
export class ServerCall implements SourceCall {
  readonly request: Call;
  readonly row: MethodRow;
  readonly exchange: Exchange;
  readonly owner: CallOwner;
  readonly config: ServerConfig;
  /** The context that handlers and middleware get. */
  readonly ctx: HandlerContext;
  /** The call of the server that this one is mounted in. Its asker and its signal serve this call too. */
  readonly outer: ServerCall | undefined;
  /** The call that the client sent: this one, or the outermost call that it is part of. */
  readonly root: ServerCall;
  /** True if no middleware of this server, and of those that it is mounted in, can change the handler's result. */
  readonly straight: boolean;
  /** True when an unanswered question interrupts the handler, which runs again with the answer. */
  readonly replays: boolean;
  cache: CacheHint;
  reply: Pick<Answer, "scopes" | "status" | "retryAfterMs" | "session" | "sessionEnded"> | undefined;
  /** The offer that the call is for, once it is looked for. */
  offer: MaybePromise<FoundOffer | undefined>;
  /** Arguments that were converted from text to the type in the schema. */
  coercions: readonly Coercion[] = NO_COERCIONS;
  /** The error that a tool's handler threw, where the caller gets a result instead. */
  failure: unknown;
  /** The followers of the call, and of the call that it is part of; only if there are observers. */
  followers: readonly CallFollower[] | undefined;
  /** Reports the end to observers; only if there are any. */
  ended: ((end: CallEnd, length: number) => void) | undefined;
  questions: QuestionState | undefined;
  /** Of the root. */
  admission: Admission | undefined;
  /** Called before the answer is sent, to flush progress and to withdraw open questions. */
  beforeAnswer: ((ok: boolean) => void)[] | undefined;
  #controller: AbortController | undefined;
  #callId: string | undefined;

  constructor(owner: CallOwner, request: Call, row: MethodRow, exchange: Exchange, outer?: ServerCall) {
    this.owner = owner;
    this.config = owner.config;
    this.outer = outer;
    this.root = outer?.root ?? this;
    this.straight = owner.straight && outer?.straight !== false;
    this.replays = request.era.replays;
    this.request = request;
    this.row = row;
    this.exchange = exchange;
    this.cache = this.config.hints.read;
    this.followers = outer?.followers;
    this.ctx = owner.contextOf(this);
  }

  /** Creates a call to a mounted server, on behalf of the same client. */
  inner(owner: CallOwner, row: MethodRow, request: Call): ServerCall {
    return new ServerCall(owner, request, row, this.exchange, this);
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
    this.#callId ??= this.outer?.callId ?? this.config.randomId();
    return this.#callId;
  }

  /** Sets the id and the asker of a call that goes on with an earlier one. */
  resume(id: string | undefined, asker: Asker | undefined): void {
    if (id !== undefined) this.#callId = id;
    if (asker !== undefined) questionsOf(this).asker = asker;
  }

  /** Follows the exchange's signal and can be aborted by the server itself. */
  get signal(): AbortSignal {
    return this.#abortable().signal;
  }

  /** Aborts the handler's signal without notifying the peer. */
  abort(reason: unknown): void {
    // An aborted signal need not follow that of the exchange.
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
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

  /** Carries questions and steps to the client; created on first use. */
  get asker(): Asker {
    const questions = questionsOf(this);
    questions.asker ??= this.outer?.asker ?? this.owner.usualAsker(this);
    return questions.asker;
  }

  /** The answers and steps that a later run of the handler need not ask or do again. */
  async recorded(): Promise<RecordedAnswers | undefined> {
    return this.questions?.asker?.recorded?.();
  }

  /** Registers a function that is called before the answer is sent, whatever the answer is; `ok` unless it is an error. */
  whenAnswered(act: (ok: boolean) => void): void {
    this.beforeAnswer ??= [];
    this.beforeAnswer.push(act);
  }

  /** Passes a notification of a mounted server's call through the middleware of that server. */
  passNotification(method: string, params: object, deliver: (params: object) => void): void {
    const { notifications = [] } = this.owner;
    if (notifications.length === 0) {
      deliver(params);
      return;
    }
    // Notifications are objects of JSON.
    const message = { jsonrpc: "2.0", method, params: params as Params } as const;
    const place = { direction: "outgoing", about: this.exchange.id } as const;
    passNotification(
      notifications,
      message,
      place,
      (passed) => deliver(passed.params ?? {}),
      (line) => this.config.platform.warn(line),
    );
  }

  /** Sends a notification that belongs to this call. */
  notify(method: string, params: object): void {
    // Spec: Streamable HTTP, "Receiving Messages": a subscription's stream carries only what was subscribed to.
    // https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
    if (this.row.deadlineExempt === true) return;
    const { outer } = this;
    if (outer !== undefined) {
      this.passNotification(method, params, (passed) => outer.notify(method, passed));
      return;
    }
    const text = this.request.era.notification(method, params, this.request);
    if (text !== undefined) this.exchange.send(text);
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
