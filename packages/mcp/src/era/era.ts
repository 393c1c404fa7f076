import type { HttpFacts } from "../http/http.js";
import type { Id, NotificationMessage, Params, RequestMessage } from "../jsonrpc/message.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import type { McpError } from "../protocol/error.js";
import type { LoggingLevel } from "../protocol/features/logging.js";
import type { Implementation } from "../protocol/implementation.js";
import type { MethodRow, MethodTable } from "../protocol/methods.js";
import type { EraName, Revision } from "../protocol/revisions.js";
import type { ParamHeader, ParamHeaderTable } from "./param-headers.js";
import type { Session } from "./session.js";

/** What an era needs to know of the server that it speaks for. */
export interface ServerSelf {
  readonly info: Implementation;
  readonly instructions?: string | undefined;
  /** Revisions that this server speaks. */
  readonly revisions: readonly Revision[];
  capabilities(revision: Revision): ServerCapabilities;
  /** How long clients may keep what `server/discover` says. */
  readonly discoverCache: CacheHint;
  readonly methods: MethodTable;
}

/** How long and for whom a result may be kept. */
export interface CacheHint {
  ttlMs: number;
  scope: "public" | "private";
}

/** A message whose era is decided, with all that a transport has to know of it. */
export interface Accepted<M extends RequestMessage | NotificationMessage = RequestMessage> {
  readonly message: M;
  readonly era: ServerEra;
  /** Whether it belongs to a session where the transport keeps any; every other message stands alone. */
  readonly inSession: boolean;
  /** The request with which a session begins. */
  readonly opensSession: boolean;
  /** Lasts until its client or a shutdown ends it. */
  readonly endless: boolean;
}

/** A request in neutral form: what it asks, and all that is known of who asks. */
export interface Call {
  readonly id: Id;
  readonly method: string;
  readonly params: Params;
  readonly era: ServerEra;
  readonly revision: Revision;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** Where progress goes; absent when nobody wants it. */
  readonly progressToken: Id | undefined;
  /** The least level of log messages that the peer wants to read; absent when it wants none. */
  readonly logLevel: LoggingLevel | undefined;
  /** Answers to questions of an earlier round, and the state that went with them. */
  readonly inputs: CallInputs | undefined;
  /** The result of a method that belongs to the era itself; absent for all others. */
  readonly own: EraResult | undefined;
}

export interface CallInputs {
  responses: unknown;
  state: unknown;
}

/** Where a request came from, as far as an era cares. */
export interface RequestSource {
  session?: Session | undefined;
  http?: HttpFacts | undefined;
  batched?: boolean;
}

/** A question to the client in neutral form; it becomes a request or a part of an interim result. */
export interface Question {
  method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  params?: Params;
}

/** A question with the capabilities of the client that it needs. */
export interface AskedQuestion {
  readonly question: Question;
  readonly needs: readonly string[];
}

/** The result of a method that belongs to the era itself. */
export interface EraResult {
  result: object;
  cache?: CacheHint;
  /** The session that the handshake opened. */
  session?: Session;
}

/** The text of an answer, with what a transport has to know of it. */
export interface EncodedAnswer {
  text: string;
  status?: number;
}

/** Turns wire requests into neutral calls and neutral outcomes into wire answers, for one era. */
export interface ServerEra {
  readonly name: EraName;
  /** True when questions travel in interim results, and a handler runs again with the answers; else they are requests of their own. */
  readonly replays: boolean;
  /** Throws an `McpError` when the request cannot be served in this era. */
  decode(message: RequestMessage, source: RequestSource, self: ServerSelf): Call;
  /** Refuses arguments that the headers of the HTTP request ought to repeat and do not. */
  checkArguments(headers: readonly ParamHeader[], args: unknown, http: HttpFacts): void;
  /** Whether a question that needs this capability can be put to the client; `reachable` when requests can be sent to it. */
  canAsk(call: Call, capability: string, reachable: boolean): boolean;
  /** A question in the form that the client's revision has. */
  question(asked: AskedQuestion, call: Call): AskedQuestion;
  /** What the client answered to the question that was given to `question`, as the newest revision would have it. */
  answer(question: Question, answer: unknown, call: Call): unknown;
  /** The text of a notification about a call; undefined where the client's revision has no such notification. */
  notification(method: string, params: object, call: Call): string | undefined;
  /** The answer to a call that ended well. */
  result(call: Call, result: unknown, row: MethodRow, self: ServerSelf, cache: CacheHint): EncodedAnswer;
  /** The interim answer that asks the client something. Stateless only. */
  input(call: Call, questions: Record<string, Question>, state: string | undefined, self: ServerSelf): EncodedAnswer;
  /** The answer to a call that failed. */
  failure(call: Call, error: McpError): EncodedAnswer;
  /** The answer to a request that was refused before it became a call. */
  refusal(id: Id | undefined, error: McpError): EncodedAnswer;
}

/** What an era needs to know of the client that it speaks for. */
export interface ClientSelf {
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
  /** Whether the transport carries headers. */
  readonly headers: boolean;
}

/** A request in neutral form on its way out. */
export interface OutgoingCall {
  method: string;
  params: Params | undefined;
  progressToken?: Id | undefined;
  logLevel?: LoggingLevel | undefined;
  /** Answers for the next round of the same call. */
  inputs?: { responses?: Record<string, unknown>; state?: string } | undefined;
  /** Arguments that HTTP headers have to repeat, as `ClientEra.mirroredParams` found them. */
  mirrored?: readonly ParamHeader[] | undefined;
  /** More members for `_meta`, for example trace context. */
  meta?: Record<string, unknown> | undefined;
}

/** A message ready for a transport. */
export interface EncodedMessage {
  text: string;
  id?: Id;
  method: string;
  headers?: Record<string, string>;
}

/** What a result means for the caller. */
export type Outcome =
  | { kind: "complete"; result: Record<string, unknown> }
  | { kind: "input"; questions: Record<string, Question>; state: string | undefined }
  /** A `resultType` that an extension brought. */
  | { kind: "extension"; type: string; result: Record<string, unknown> };

/** Turns neutral calls into wire requests and wire results into outcomes, for one connection in one revision. */
export interface ClientEra {
  readonly revision: Revision;
  /** True when requests repeat annotated arguments in headers. */
  readonly mirrorsParams: boolean;
  /** True when results say how long they may be kept. */
  readonly hasCacheHints: boolean;
  /** True when the server may send requests of its own. */
  readonly serverAsks: boolean;
  /** Whether the revision has a message of this name. */
  has(method: string): boolean;
  /** Whether a server that declares `capabilities` serves what needs the one at the path `capability`. */
  offers(capabilities: ServerCapabilities, capability: string): boolean;
  /** Which arguments of a tool its calls repeat in headers. */
  mirroredParams(inputSchema: unknown): ParamHeaderTable;
  encode(id: Id, call: OutgoingCall): EncodedMessage & { id: Id };
  /** Throws an `McpError` of kind `invalid_response` for a result that this era does not allow. */
  decode(method: string, result: unknown): Outcome;
  /** A notification to the server. */
  notice(method: string, params: Params | undefined): EncodedMessage;
  /** What tells the server to stop; undefined where closing the request's stream says it. */
  cancel(id: Id, reason: string): EncodedMessage | undefined;
  /** The answer to a question of the server in a form that the revision has. */
  answer(method: Question["method"], answer: object): object;
}
