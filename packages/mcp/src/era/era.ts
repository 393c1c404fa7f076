import type { HttpFacts } from "../http/http.js";
import type { Id, NotificationMessage, Params, RequestMessage } from "../jsonrpc/message.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import type { McpError } from "../protocol/error.js";
import type { Implementation } from "../protocol/implementation.js";
import type { LoggingLevel } from "../protocol/logging.js";
import type { MethodRow, MethodTable } from "../protocol/methods.js";
import type { EraName, Revision } from "../protocol/revisions.js";
import type { ParamHeader, ParamHeaderTable } from "./param-headers.js";
import type { Session } from "./session.js";

/** What an era needs to know about the server. */
export interface ServerSelf {
  readonly info: Implementation;
  readonly instructions?: string | undefined;
  /** Revisions that this server supports. */
  readonly revisions: readonly Revision[];
  capabilities(revision: Revision): ServerCapabilities;
  /** How long clients may cache the result of `server/discover`. */
  readonly discoverCache: CacheHint;
  readonly methods: MethodTable;
}

/** How long and for whom a result may be cached. */
export interface CacheHint {
  ttlMs: number;
  scope: "public" | "private";
}

/** A message whose era is decided, with what a transport needs to know about it. */
export interface Accepted<M extends RequestMessage | NotificationMessage = RequestMessage> {
  readonly message: M;
  readonly era: ServerEra;
  /** Whether it belongs to a session, if the transport has sessions; every other message is independent. */
  readonly inSession: boolean;
  /** Whether the request begins a session. */
  readonly opensSession: boolean;
  /** Whether it lasts until the client or a shutdown ends it. */
  readonly endless: boolean;
}

/** A request in a form independent of the era, with what is known about the client. */
export interface Call {
  readonly id: Id;
  readonly method: string;
  readonly params: Params;
  readonly era: ServerEra;
  readonly revision: Revision;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** The token for progress; absent if the client does not want any. */
  readonly progressToken: Id | undefined;
  /** The lowest level of log messages that the client wants; absent if it wants none. */
  readonly logLevel: LoggingLevel | undefined;
  /** Answers to questions of an earlier round, with their state. */
  readonly inputs: CallInputs | undefined;
  /** The result of a method that belongs to the era itself; absent for all others. */
  readonly own: EraResult | undefined;
  /** The session that the request belongs to; absent in revisions without sessions, whatever else the connection carried. */
  readonly session: Session | undefined;
  /** Set when the called tool's output schema does not promise an object; some revisions then get an object that holds the output. */
  wrapsOutput: boolean;
}

export interface CallInputs {
  responses: unknown;
  state: unknown;
}

/** The source of a request, as far as an era needs it. */
export interface RequestSource {
  session?: Session | undefined;
  http?: HttpFacts | undefined;
  batched?: boolean;
  /** False for a handshake whose session nobody keeps. */
  opensSession?: boolean;
}

/** A question to the client, independent of the era; it becomes a request or a part of an interim result. */
export interface Question {
  method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  params?: Params;
}

/** A question with the client capabilities that it needs. */
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

/** The text of an answer, with what a transport needs to know about it. */
export interface EncodedAnswer {
  text: string;
  status?: number;
}

/** Converts wire requests to calls and outcomes to wire answers, for one era. */
export interface ServerEra {
  readonly name: EraName;
  /** True if questions are sent in interim results and handlers run again with the answers; otherwise they are requests. */
  readonly replays: boolean;
  /** Throws an `McpError` if the request cannot be served in this era. */
  decode(message: RequestMessage, source: RequestSource, self: ServerSelf): Call;
  /** Rejects arguments that the headers of the HTTP request must repeat but do not. */
  checkArguments(headers: readonly ParamHeader[], args: unknown, http: HttpFacts): void;
  /** Whether the client can answer a question that needs this capability; `reachable` if requests can be sent to it. */
  canAsk(call: Call, capability: string, reachable: boolean): boolean;
  /** Whether the revision of the call has questions that need this capability, whatever the client declares. */
  hasQuestion(call: Call, capability: string): boolean;
  /** The text of a notification about a call; undefined if the client's revision has no such notification. */
  notification(method: string, params: object, call: Call): string | undefined;
  /** The answer to a call that succeeded. */
  result(call: Call, result: unknown, row: MethodRow, self: ServerSelf, cache: CacheHint): EncodedAnswer;
  /** The interim answer that asks the client questions. Stateless only. */
  input(call: Call, questions: Record<string, Question>, state: string | undefined, self: ServerSelf): EncodedAnswer;
  /** The answer to a call whose result has a form of an extension. */
  extended(call: Call, resultType: string, members: object, self: ServerSelf): EncodedAnswer;
  /** The answer to a call that failed. */
  failure(call: Call, error: McpError): EncodedAnswer;
  /** The answer to a request that was rejected before it became a call. */
  refusal(id: Id | undefined, error: McpError): EncodedAnswer;
}

/** What an era needs to know about the client. */
export interface ClientSelf {
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
  /** Whether the transport carries headers. */
  readonly headers: boolean;
}

/** An outgoing request, independent of the era. */
export interface OutgoingCall {
  method: string;
  params: Params | undefined;
  progressToken?: Id | undefined;
  logLevel?: LoggingLevel | undefined;
  /** Answers for the next round of the same call. */
  inputs?: { responses?: Record<string, unknown>; state?: string } | undefined;
  /** Arguments that HTTP headers must repeat, from `ClientEra.mirroredParams`. */
  mirrored?: readonly ParamHeader[] | undefined;
  /** Further members of `_meta`, for example trace context. */
  meta?: Record<string, unknown> | undefined;
  /** What this call declares in place of the client's capabilities, where requests do. */
  capabilities?: ClientCapabilities | undefined;
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
  /** A `resultType` of an extension. */
  | { kind: "extension"; type: string; result: Record<string, unknown> };

/** Converts calls to wire requests and wire results to outcomes, for one connection in one revision. */
export interface ClientEra {
  readonly revision: Revision;
  /** True if requests repeat annotated arguments in headers. */
  readonly mirrorsParams: boolean;
  /** True if results state how long they may be cached. */
  readonly hasCacheHints: boolean;
  /** True if the server may send requests. */
  readonly serverAsks: boolean;
  /** Whether the revision has this method. */
  has(method: string): boolean;
  /** Whether a server with these capabilities supports what needs the one at the path `capability`. */
  offers(capabilities: ServerCapabilities, capability: string): boolean;
  /** Which arguments of a tool its calls repeat in headers. */
  mirroredParams(inputSchema: unknown): ParamHeaderTable;
  encode(id: Id, call: OutgoingCall): EncodedMessage & { id: Id };
  /** Throws an `McpError` of kind `invalid_response` for a result that this era does not allow. */
  decode(method: string, result: unknown): Outcome;
  /** A notification to the server. */
  notice(method: string, params: Params | undefined): EncodedMessage;
  /** The message that cancels a request; undefined if closing its stream does that. */
  cancel(id: Id, reason: string): EncodedMessage | undefined;
  /** The answer to a question of the server, in the form of the revision. */
  answer(method: Question["method"], answer: object): object;
}
