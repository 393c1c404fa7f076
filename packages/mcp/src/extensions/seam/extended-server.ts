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

/** A request that an extension serves, or that one of its `around` functions wraps. */
export type ExtensionCall = SourceCall;

/**
 * A call whose handler has not started: the argument of an `around` function, or a call that `ExtendedServer.run` is
 * about to run.
 */
export interface PreparedCall extends ExtensionCall {
  /**
   * Sends the questions of the handler and runs its steps. Default: the asker of the protocol revision. `resume` can
   * replace it.
   */
  readonly asker: Asker;
  /**
   * Sets the id of an earlier call that this one continues, and the asker for its questions and steps. Undefined keeps
   * the current value.
   */
  resume(id: string | undefined, asker: Asker | undefined): void;
  /**
   * Returns the answers of the client and the results of steps, from earlier rounds of the call and from this one so
   * far.
   */
  recorded(): Promise<RecordedAnswers | undefined>;
  /** The id of the call. It stays the same in all rounds of one call. */
  readonly callId: string;
  /**
   * Controls the start of a tool's handler, its concurrency slots and its `ctx.startTask`. Set it before the handler
   * starts.
   */
  admission: Admission | undefined;
  /**
   * Reports the call to observers as a separate call, from now until it ends. Present in calls that
   * `ExtendedServer.run` runs. Use it for a call that continues after its request was answered.
   */
  readonly detach?: (() => void) | undefined;
}

/** The interface of a server for one extension. */
export interface ExtendedServer {
  /** The name and version of the server. */
  readonly info: Implementation;
  /** The clock, timers, random values and warnings of the runtime. */
  readonly platform: Platform;
  /** The storage of the server, or the memory of this process if the server has none. */
  readonly storage: Storage;
  /** True if the server was created with a `storage`, which other processes may share. */
  readonly sharesStorage: boolean;
  /** Signs, verifies and seals values with the keys of the server. */
  readonly secrets: Secrets;
  /** Time that a client has to answer a question, in milliseconds. */
  readonly answerMs: number;
  /** Maximum number of items on one page of a list. Undefined if lists have a single page. */
  readonly pageSize: number | undefined;
  /** Adds a tool, a resource, a resource template or a prompt to the server. Throws if the name is already in use. */
  offer(offer: Offer): void;
  /**
   * Finds the offer with this name, URI or template in all sources of the server. Returns undefined if there is no
   * offer that this caller can see.
   */
  find(kind: OfferKind, name: string, call: ExtensionCall): MaybePromise<FoundOffer | undefined>;
  /** Returns the kind of the registered offer that a URI belongs to, even if not all callers can see it. */
  ownerOf(uri: string): "resource" | "resourceTemplate" | undefined;
  /** Removes an offer by its name or URI. Returns false if there is none. */
  withdraw(kind: Offer["kind"], name: string): boolean;
  /** Call this after the return value of `ServedExtension.capabilities` has changed. */
  changed(): void;
  /**
   * Returns the asker of the call's protocol revision, so that another asker can wrap it. Call it only while a handler
   * asks.
   */
  usualAsker(call: ExtensionCall): Asker;
  /** Calls `act` before the answer to a call is sent. `ok` is false if the answer is an error. */
  whenAnswered(call: ExtensionCall, act: (ok: boolean) => void): void;
  /** Publishes a change to all `subscriptions/listen` requests with this filter and value, on every node. */
  publish(change: PublishedChange): void;
  /**
   * Subscribes to the published changes of one filter and value, from every node. After a gap, `act` receives a change
   * with an empty `method`. Returns a function that ends the subscription.
   */
  subscribe(filter: string, value: string, act: (change: PublishedChange) => void): Promise<() => void>;
  /**
   * Runs a request again, through `around` of later extensions, the middleware and the handler. `exchange` is the
   * exchange of a call that an `around` function received, or a stored exchange.
   *
   * Resolves with the result before it is encoded for the protocol revision. This may be an `ExtensionResult`, or the
   * questions of an interrupted handler. An `around` function may return either unchanged. Rejects with the error for the
   * client.
   */
  run(request: Call, exchange: Exchange, prepare?: (call: PreparedCall) => void): Promise<object>;
}

/** The members that an extension adds to one server. All are optional. */
export interface ServedExtension {
  /** Handlers of the extension's own methods, by method. */
  readonly handlers?: Readonly<Record<string, (params: Params, call: ExtensionCall) => object | Promise<object>>>;
  /**
   * Wraps methods of the protocol, outside all middleware. The first extension of the server is outermost. `next`
   * serves the request as usual, and may be called once.
   */
  readonly around?: Readonly<
    Record<string, (call: PreparedCall, next: () => object | Promise<object>) => object | Promise<object>>
  >;
  /** Wraps every notification in both directions, outside `useNotifications`. The first extension is outermost. */
  readonly aroundNotifications?: NotificationMiddleware;
  /** Returns capabilities to declare in addition to `extensions[id]`, which is always declared. */
  capabilities?(revision: Revision): ServerCapabilities;
  /**
   * Tool options that the extension defines. Each function returns additions to the tool's entry in `tools/list`. It is
   * called for every tool, even without the option. It may throw to refuse the tool. Do not store the tool here,
   * because it may still be refused for another reason: use `toolChanged`.
   */
  readonly toolOptions?: Readonly<Record<string, (tool: ToolOffer, wire: Tool) => Partial<Tool>>>;
  /**
   * Called after a tool was added or replaced, and with undefined after it was removed. An error that it throws is
   * reported as a warning.
   */
  toolChanged?(name: string, tool: ToolOffer | undefined): void;
  /** Returns the values that this caller may subscribe to, by listen filter. Default: all values. */
  readonly listenValues?: Readonly<
    Record<string, (values: readonly string[], call: ExtensionCall) => string[] | Promise<string[]>>
  >;
  /** Called when the server closes. */
  close?(): void | Promise<void>;
}
