import type { CacheHint, Call } from "../../era/era.js";
import type { NotificationMiddleware } from "../../era/notification-middleware.js";
import type { Params } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { Revision } from "../../protocol/revisions.js";
import type { Secrets } from "../../seal/secrets.js";
import type { Asker, RecordedAnswers } from "../../server/call/asker.js";
import type { SlotHolder } from "../../server/call/server-call.js";
import type { PublishedChange } from "../../server/changes/change.js";
import type { HandlerContext } from "../../server/contract/context.js";
import type { Offer } from "../../server/sources/offers.js";
import type { ToolOffer } from "../../server/tools/tool.js";
import type { Storage } from "../../storage/storage.js";
import type { Answer, Exchange } from "../../transport/transport.js";

/** A request that an extension serves, or that it runs around. */
export interface ExtensionCall {
  /** The request in a form independent of the era, with what is known about the client. */
  readonly request: Call;
  /** How it arrived: its peer, its HTTP request, its principal, and what can be sent before the answer. */
  readonly exchange: Exchange;
  /** The context that handlers get. */
  readonly ctx: HandlerContext;
  /** How long the client may keep the result, if the row of the method is `cacheable`; a handler may change it. */
  cache: CacheHint;
  /** Scopes that the caller lacks, when the call was refused for that reason. */
  scopes: string[] | undefined;
  /** What HTTP says of a limit that refused the call: its status, and when the caller may call again. */
  limited: Pick<Answer, "status" | "retryAfterMs"> | undefined;
}

/** A call whose handler has not begun: one that `around` got, or that `ExtendedServer.run` is about to run. */
export interface PreparedCall extends ExtensionCall {
  /** Carries its questions and steps; the one of its era unless it is replaced. */
  readonly asker: Asker;
  /** Replaces what carries its questions and steps. */
  useAsker(asker: Asker): void;
  /** What the client has answered and what steps gave in earlier rounds of the call, and in this one so far. */
  recorded(): Promise<RecordedAnswers | undefined>;
  /** What `ctx.callId` is. */
  callId: string;
  /** What `ctx.startTask` does. */
  startTask: (() => Promise<boolean>) | undefined;
  /** Holds the slots that limit how many handlers of tools run at once; set it before the handler begins. */
  slot: SlotHolder | undefined;
  /**
   * Of a call that `ExtendedServer.run` runs: lets observers see it as a call of its own, from now to its end. For one that goes
   * on after the request that it came with was answered.
   */
  readonly detach: (() => void) | undefined;
  /** Awaited once before the handler of a tool runs, when everything about the call has been checked. */
  beforeTool: (() => Promise<void>) | undefined;
}

/** What a server lets an extension do. */
export interface ExtendedServer {
  readonly info: Implementation;
  readonly platform: Platform;
  /** The server's storage, or a memory of this process if it has none. */
  readonly storage: Storage;
  /** Whether that storage was given to the server, so that other processes may have it too. */
  readonly sharesStorage: boolean;
  readonly secrets: Secrets;
  /** Milliseconds that clients may take to answer questions. */
  readonly answerMs: number;
  /** Items per page of a list; undefined if lists are not split. */
  readonly pageSize: number | undefined;
  /** Offers a tool, a resource, a template or a prompt. Throws when the name is taken. */
  offer(offer: Offer): void;
  /** Whether the caller sees a resource with this URI: one of the server, of a template or of a mounted server. */
  hasResource(uri: string, call: ExtensionCall): boolean;
  /** What of the server itself has a URI, whoever sees it: a resource, a template, or the object that all its resources come from. */
  ownerOf(uri: string): "resource" | "resourceTemplate" | "handlerObject" | undefined;
  /** Takes back an offer, by its name or URI. Returns false if there was none. */
  withdraw(kind: Offer["kind"], name: string): boolean;
  /** Whether this caller can call a tool of this name. */
  hasTool(name: string, call: ExtensionCall): boolean;
  /** Must be called when what `ServedExtension.capabilities` returns has changed. */
  changed(): void;
  /** What carries questions as the era of a call does, for an asker that replaces it. Only for use while a handler asks. */
  usualAsker(call: ExtensionCall): Asker;
  /** Calls `act` before the answer of a call is sent; `ok` unless that is an error. */
  whenAnswered(call: ExtensionCall, act: (ok: boolean) => void): void;
  /** Notifies the `subscriptions/listen` requests of a filter of the extension, on every node. */
  publish(change: PublishedChange): void;
  /** Calls `act` with each published change of one filter and value, of every node, until the returned function is called. */
  hear(filter: string, value: string, act: (change: PublishedChange) => void): Promise<() => void>;
  /**
   * Runs a request once more, through `around` of later extensions, middleware and its handler, with another exchange: the one
   * that `around` got, or a stored one. Resolves with the result, before the era gives it a form; an `ExtensionResult` or the questions of an interrupted
   * handler may be returned from `around` as they are. Rejects with the error for the client.
   */
  run(request: Call, exchange: Exchange, prepare?: (call: PreparedCall) => void): Promise<object>;
}

/** What an extension adds to one server. All members are optional. */
export interface ServedExtension {
  /** Serves the requests of its methods. */
  readonly handlers?: Readonly<Record<string, (params: Params, call: ExtensionCall) => object | Promise<object>>>;
  /**
   * Runs around methods of the protocol, outside all middleware; the first extension of the server is outermost. `next` serves the
   * request as usual and may be called once.
   */
  readonly around?: Readonly<
    Record<string, (call: PreparedCall, next: () => object | Promise<object>) => object | Promise<object>>
  >;
  /** Runs around every notification, in both directions, outside of `useNotifications`; the first extension is outermost. */
  readonly aroundNotifications?: NotificationMiddleware;
  /** Capabilities beside `extensions[id]`, which is declared anyway. */
  capabilities?(revision: Revision): ServerCapabilities;
  /**
   * Options of tools that it understands: adds to a tool's entry in the list. Called with every tool, whether it has them. It may
   * throw, and the tool may still be refused for another reason, so that nothing may be kept of it here: `toolChanged` is for that.
   */
  readonly toolOptions?: Readonly<Record<string, (tool: ToolOffer, wire: Tool) => Partial<Tool>>>;
  /**
   * Called after a tool was added, or has replaced the one of its name, and without the tool after it was removed. What it throws
   * is reported as a warning.
   */
  toolChanged?(name: string, tool: ToolOffer | undefined): void;
  /** The values of its listen filters that this caller may hear of, by filter. Default: all. */
  readonly listenValues?: Readonly<
    Record<string, (values: readonly string[], call: ExtensionCall) => string[] | Promise<string[]>>
  >;
  /** Called when the server closes. */
  close?(): void | Promise<void>;
}
