import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { CacheHint, Call } from "../../era/era.js";
import { type NotificationMiddleware, passNotification } from "../../era/notification-middleware.js";
import { isObject, type Params } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { MethodRow } from "../../protocol/methods.js";
import type { Coercion } from "../../schema/coerce.js";
import { checkSend } from "../../transport/check-send.js";
import type { Answer, Exchange } from "../../transport/transport.js";
import type { HandlerContext } from "../contract/context.js";
import type { CallEnd, CallFollower } from "../contract/observer.js";
import type { FoundOffer, SourceCall } from "../contract/source.js";
import type { Asker, InputOutcome, RecordedAnswers } from "./asker.js";
import type { CallDeadline } from "./call-deadline.js";
import type { ServerConfig } from "./server-config.js";

const NO_COERCIONS: readonly Coercion[] = [];

/** Serves one method. The result passes through the layers of the server and is then encoded by the era. */
export type MethodHandler = (call: ServerCall) => MaybePromise<object>;

/** The parts of a server that each of its calls uses. */
export interface CallOwner {
  readonly config: ServerConfig;
  readonly contextOf: (call: ServerCall) => HandlerContext;
  readonly usualAsker: (call: ServerCall) => Asker;
  /** True if no middleware can change the results of handlers. */
  straight: boolean;
  /** The middleware around notifications. Used only if the server is mounted. Otherwise the endpoint applies it. */
  readonly notifications?: readonly NotificationMiddleware[];
}

/** Holds the slots of a call whose handler may run for a long time. */
export interface SlotHolder {
  /** True if the call waits for its slots no matter how many other calls wait. */
  readonly waits: boolean;
  /**
   * Called when the handler starts with its slots. `leave` releases the slots and `enter` acquires them again. Returns
   * the function to call when the handler ends.
   */
  hold(enter: () => undefined | Promise<void>, leave: () => void): () => void;
}

/**
 * Hooks around the handler of a tool. An extension sets some members before the call runs, and the tool sets the
 * others.
 */
export interface Admission {
  /** Awaited once before the handler runs, after all checks of the call. */
  beforeTool?: (() => Promise<void>) | undefined;
  /** Holds the slots that limit how many handlers run at once. */
  slot?: SlotHolder | undefined;
  /** The implementation of `ctx.startTask`. */
  startTask?: (() => Promise<boolean>) | undefined;
  /** Releases the slots when questions are sent, because an interrupted handler may never settle. */
  release?: (() => void) | undefined;
  /** Limits how long the handler may run. */
  deadline?: CallDeadline | undefined;
}

/** The state of a handler that unanswered questions interrupt. */
export interface Interruption {
  /** Settles when the handler ends. */
  readonly handler: Promise<unknown>;
  /** True from the first unanswered question on. The handler's own outcome is then ignored. */
  interrupted: boolean;
  /** The questions to send instead of a result, whatever middleware returns. */
  interim: InputOutcome | undefined;
  /** Settles the call with the questions, in place of the handler. */
  resolve(interim: InputOutcome): void;
  /** Fails the call, in place of the handler. */
  reject(reason: unknown): void;
}

/** The questions of a call. Created by the first question, or by a handler that questions may interrupt. */
export interface QuestionState {
  /** Sends questions to the client and runs steps. */
  asker?: Asker | undefined;
  /** Names of the questions and steps that have not settled yet. Set on the root call only. */
  unsettled?: string[] | undefined;
  interruption?: Interruption | undefined;
}

/** Returns the question state of a call, and creates it if it is missing. */
function questionsOf(call: { questions: QuestionState | undefined }): QuestionState {
  call.questions ??= {};
  return call.questions;
}

/** One call to the server. Rarely used members are created on first use. */
export class ServerCall implements SourceCall {
  readonly request: Call;
  readonly row: MethodRow;
  readonly exchange: Exchange;
  readonly owner: CallOwner;
  readonly config: ServerConfig;
  /** The context that handlers and middleware receive. */
  readonly ctx: HandlerContext;
  /**
   * The call to the server in which this call's server is mounted. This call uses the asker and the signal of the outer
   * call.
   */
  readonly outer: ServerCall | undefined;
  /** The call that the client sent: this call, or the outermost call that this call is part of. */
  readonly root: ServerCall;
  /**
   * True if no middleware of this server, or of the servers in which it is mounted, can change the handler's result.
   */
  readonly straight: boolean;
  /** True if an unanswered question interrupts the handler, which runs again with the answer. */
  readonly replays: boolean;
  cache: CacheHint;
  reply: Pick<Answer, "scopes" | "status" | "retryAfterMs" | "session" | "sessionEnded"> | undefined;
  /** The offer that the call addresses. Undefined before the lookup. */
  offer: MaybePromise<FoundOffer | undefined>;
  /** Arguments that were converted from text to the type in the schema. */
  coercions: readonly Coercion[] = NO_COERCIONS;
  /** The error that a tool's handler threw, if the caller receives a result instead. */
  failure: unknown;
  /** The followers of this call and of the call that it is part of. Undefined without observers. */
  followers: readonly CallFollower[] | undefined;
  /** Reports the end to observers. Undefined without observers. */
  ended: ((end: CallEnd, length: number) => void) | undefined;
  questions: QuestionState | undefined;
  /** Hooks around the handler of a tool. Set on the root call only. */
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

  /** Creates a call to a mounted server on behalf of the same client. */
  inner(owner: CallOwner, row: MethodRow, request: Call): ServerCall {
    return new ServerCall(owner, request, row, this.exchange, this);
  }

  /** Returns a parameter that must be a string. */
  stringParam(name: string): string {
    const value = this.request.params[name];
    if (typeof value === "string") return value;
    throw this.#malformed(name, "a string");
  }

  /** Returns a parameter that must be an object; `{}` if it is absent. */
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

  /** The id of the call: the same in all its rounds, different for every other call. */
  get callId(): string {
    this.#callId ??= this.outer?.callId ?? this.config.randomId();
    return this.#callId;
  }

  /** Sets the id and the asker of a call that continues an earlier call. */
  resume(id: string | undefined, asker: Asker | undefined): void {
    if (id !== undefined) this.#callId = id;
    if (asker !== undefined) questionsOf(this).asker = asker;
  }

  /** The signal for the handler. It follows the exchange's signal, and the server can abort it separately. */
  get signal(): AbortSignal {
    return this.#abortable().signal;
  }

  /** Aborts the handler's signal without notifying the peer. */
  abort(reason: unknown): void {
    // A controller that is created here need not follow the signal of the exchange, because it is aborted at once.
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

  /** Sends questions to the client and runs steps. Created on first use. */
  get asker(): Asker {
    const questions = questionsOf(this);
    questions.asker ??= this.outer?.asker ?? this.owner.usualAsker(this);
    return questions.asker;
  }

  /** Returns the answers and steps that a later run of the handler need not repeat. */
  async recorded(): Promise<RecordedAnswers | undefined> {
    return this.questions?.asker?.recorded?.();
  }

  /** Registers a function to call before any answer is sent. `ok` is false if the answer is an error. */
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
    // Safe: the params of notifications are JSON objects.
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
    if (text === undefined) return;
    try {
      this.exchange.send(text);
    } catch (error) {
      checkSend("Exchange", this.exchange);
      throw error;
    }
  }
}

/**
 * A result in the format of an extension. Middleware does not see it.
 *
 * @example
 * ```ts
 * import { ExtensionResult } from "@parley/mcp/extension";
 *
 * const parked = new ExtensionResult("parked", { parkedId: "42" });
 * ```
 */
export class ExtensionResult {
  /** The value of `resultType`, in revisions that have it. */
  readonly resultType: string;
  /** The other members of the result. */
  readonly members: object;

  constructor(resultType: string, members: object) {
    this.resultType = resultType;
    this.members = members;
  }
}
