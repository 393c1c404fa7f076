import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { Call } from "../../era/era.js";
import type { NotificationMiddleware } from "../../era/notification-middleware.js";
import type { Params } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { OfferKind } from "../../protocol/features/offer-kinds.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { Revision } from "../../protocol/revisions.js";
import type { Secrets } from "../../seal/secrets.js";
import type { Asker, RecordedAnswers } from "../../server/call/asker.js";
import type { Admission } from "../../server/call/server-call.js";
import type { PublishedChange } from "../../server/changes/change.js";
import type { FoundOffer, Offer, SourceCall } from "../../server/contract/source.js";
import type { ToolOffer } from "../../server/contract/tool.js";
import type { Storage } from "../../storage/storage.js";
import type { Exchange } from "../../transport/transport.js";

/** A request that an extension serves, or that it runs around. */
export type ExtensionCall = SourceCall;

/** A call whose handler has not begun: one that `around` got, or that `ExtendedServer.run` is about to run. */
export interface PreparedCall extends ExtensionCall {
  /** Carries its questions and steps; the one of its era unless it is replaced. */
  readonly asker: Asker;
  /** Sets the id of a call that goes on with an earlier one, and what sends its questions and steps. */
  resume(id: string | undefined, asker: Asker | undefined): void;
  /** The answers of the client and the results of steps in earlier rounds of the call, and in this one so far. */
  recorded(): Promise<RecordedAnswers | undefined>;
  readonly callId: string;
  /** How the handler of a tool begins and ends; to be set before it begins. */
  admission: Admission | undefined;
  /**
   * Of a call that `ExtendedServer.run` runs: lets observers see it as a call of its own, from now to its end. For one that goes
   * on after the request that it came with was answered.
   */
  readonly detach?: (() => void) | undefined;
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
  /** The offer with this name, URI or template, of any source of the server, if this caller sees one. */
  find(kind: OfferKind, name: string, call: ExtensionCall): MaybePromise<FoundOffer | undefined>;
  /** The registered offer that a URI belongs to, whoever sees it. */
  ownerOf(uri: string): "resource" | "resourceTemplate" | undefined;
  /** Takes back an offer, by its name or URI. Returns false if there was none. */
  withdraw(kind: Offer["kind"], name: string): boolean;
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
