import type { HttpRequestInfo } from "../http/http.js";
import type { Id, NotificationMessage, Params, RequestMessage } from "../jsonrpc/message.js";
import type { ClientCapabilities, ServerCapabilities } from "../protocol/capabilities.js";
import type { McpError } from "../protocol/error.js";
import type { Implementation } from "../protocol/implementation.js";
import type { LoggingLevel } from "../protocol/logging.js";
import type { MethodRow, MethodTable } from "../protocol/methods.js";
import type { EraName, Revision } from "../protocol/revisions.js";
import type { ParamHeader, ParamHeaderTable } from "./param-headers.js";
import type { Session } from "./session.js";

/** The properties of the server that an era uses. */
export interface ServerSelf {
  readonly info: Implementation;
  readonly instructions?: string | undefined;
  /** The revisions that this server supports. */
  readonly revisions: readonly Revision[];
  /** The capabilities that the server declares in a revision. */
  capabilities(revision: Revision): ServerCapabilities;
  /** How long clients may cache the result of `server/discover`. */
  readonly discoverCache: CacheHint;
  readonly methods: MethodTable;
}

/** The lifetime of a cached result, and who may share it. */
export interface CacheHint {
  ttlMs: number;
  scope: "public" | "private";
}

/** A message whose era is decided, with the properties that a transport uses. */
export interface Accepted<M extends RequestMessage | NotificationMessage = RequestMessage> {
  readonly message: M;
  readonly era: ServerEra;
  /** True if the message belongs to a session on transports that have sessions. All other messages are independent. */
  readonly inSession: boolean;
  /** True if the request opens a session. */
  readonly opensSession: boolean;
  /** True if the request runs until the client or a shutdown ends it. */
  readonly endless: boolean;
}

/** A request in a form independent of the era, with the client's properties. */
export interface Call {
  readonly id: Id;
  readonly method: string;
  readonly params: Params;
  readonly era: ServerEra;
  readonly revision: Revision;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** The token for progress. Undefined if the client wants no progress. */
  readonly progressToken: Id | undefined;
  /** The minimum severity of log messages. Undefined if the client wants none. */
  readonly logLevel: LoggingLevel | undefined;
  /** Answers to questions of an earlier round, with the state of that round. */
  readonly inputs: CallInputs | undefined;
  /** The result of a method that the era itself implements. Undefined for all other methods. */
  readonly eraResult: EraResult | undefined;
  /**
   * The session of the request. Undefined in revisions without sessions, even if earlier requests on the connection
   * belonged to a session.
   */
  readonly session: Session | undefined;
  /**
   * True if the called tool's output schema does not guarantee an object. Some revisions then receive the output
   * wrapped in an object.
   */
  wrapsOutput: boolean;
}

/** Answers of the client, unvalidated. */
export interface CallInputs {
  responses: unknown;
  state: unknown;
}

/** The source of a request, with the properties that an era uses. */
export interface RequestSource {
  session?: Session | undefined;
  http?: HttpRequestInfo | undefined;
  batched?: boolean;
  /** False for a handshake to a server that does not store sessions. */
  opensSession?: boolean;
}

/**
 * A request to the client (elicitation, sampling or roots), independent of the era. On the wire it is a separate
 * request or part of an interim result.
 */
export interface Question {
  method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  params?: Params;
}

/** A question with the client capabilities that it requires. */
export interface AskedQuestion {
  readonly question: Question;
  readonly needs: readonly string[];
}

/** The result of a method that the era itself implements. */
export interface EraResult {
  result: object;
  cache?: CacheHint;
  /** The session that the handshake opened. */
  session?: Session;
}

/** The text of an answer, with the HTTP status if it is not 200. */
export interface EncodedAnswer {
  text: string;
  status?: number;
}

/** Converts wire requests to calls and outcomes to wire answers, for one era. */
export interface ServerEra {
  readonly name: EraName;
  /**
   * True if questions are part of interim results and the handler runs again with the answers. Otherwise questions are
   * separate requests.
   */
  readonly replays: boolean;
  /** Converts a request to a call. Throws an `McpError` if this era cannot serve the request. */
  decode(message: RequestMessage, source: RequestSource, self: ServerSelf): Call;
  /** Throws `header_mismatch` unless the HTTP headers repeat the arguments that the tool's schema maps to headers. */
  checkArguments(headers: readonly ParamHeader[], args: unknown, http: HttpRequestInfo): void;
  /**
   * True if the client can answer a question that requires this capability. `reachable` states whether requests can be
   * sent to the client.
   */
  canAsk(call: Call, capability: string, reachable: boolean): boolean;
  /** True if the revision of the call has questions that require this capability, whatever the client declares. */
  hasQuestion(call: Call, capability: string): boolean;
  /** The text of a notification about a call. Undefined if the client's revision lacks the notification. */
  notification(method: string, params: object, call: Call): string | undefined;
  /** The answer to a successful call. */
  result(call: Call, result: unknown, row: MethodRow, self: ServerSelf, cache: CacheHint): EncodedAnswer;
  /** The interim answer that sends questions to the client. Stateless only. */
  input(call: Call, questions: Record<string, Question>, state: string | undefined, self: ServerSelf): EncodedAnswer;
  /** The answer to a call whose result type is defined by an extension. */
  extended(call: Call, resultType: string, members: object, self: ServerSelf): EncodedAnswer;
  /** The answer to a failed call. */
  failure(call: Call, error: McpError): EncodedAnswer;
  /** The answer to a request that was rejected before it became a call. */
  refusal(id: Id | undefined, error: McpError): EncodedAnswer;
}

/** The properties of the client that an era uses. */
export interface ClientSelf {
  readonly info: Implementation;
  readonly capabilities: ClientCapabilities;
  /** True if the transport sends headers. */
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
  /** Additional members of `_meta`, for example trace context. */
  meta?: Record<string, unknown> | undefined;
  /**
   * Capabilities that this call declares instead of those of the client. Only for revisions in which requests declare
   * capabilities.
   */
  capabilities?: ClientCapabilities | undefined;
}

/** A message ready for a transport. */
export interface EncodedMessage {
  text: string;
  id?: Id;
  method: string;
  headers?: Record<string, string>;
}

/** The meaning of a result for the caller. */
export type Outcome =
  | { kind: "complete"; result: Record<string, unknown> }
  | { kind: "input"; questions: Record<string, Question>; state: string | undefined }
  /** A result whose `resultType` is defined by an extension. */
  | { kind: "extension"; type: string; result: Record<string, unknown> };

/** Converts calls to wire requests and wire results to outcomes, for one connection in one revision. */
export interface ClientEra {
  readonly revision: Revision;
  /** True if requests repeat in HTTP headers the arguments that the tool's schema maps to headers. */
  readonly mirrorsParams: boolean;
  /** True if results state how long they may be cached. */
  readonly hasCacheHints: boolean;
  /** True if the server may send requests. */
  readonly serverAsks: boolean;
  /** True if the revision has this method. */
  has(method: string): boolean;
  /**
   * True if the server offers the capability at the path `capability`. Some revisions imply capabilities that servers
   * do not declare.
   */
  offers(capabilities: ServerCapabilities, capability: string): boolean;
  /** The arguments that calls to a tool repeat in headers. */
  mirroredParams(inputSchema: unknown): ParamHeaderTable;
  /** The wire form of a request. */
  encode(id: Id, call: OutgoingCall): EncodedMessage & { id: Id };
  /** Reads a result. Throws `invalid_response` if this era does not allow such a result. */
  decode(method: string, result: unknown): Outcome;
  /** The wire form of a notification to the server. */
  notification(method: string, params: Params | undefined): EncodedMessage;
  /** The message that cancels a request. Undefined if closing the response stream cancels it. */
  cancel(id: Id, reason: string): EncodedMessage | undefined;
  /** The client's answer to a question of the server, in the form of the revision. */
  answer(method: Question["method"], answer: object): object;
}
