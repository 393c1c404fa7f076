import { isThenable, type MaybePromise, neverUnhandled, whenReady } from "../../encoding/maybe-promise.js";
import type { Session } from "../../era/session.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError, resourceNotFound } from "../../protocol/error.js";
import type { Peer } from "../../transport/transport.js";
import type { Layer, Layers } from "../call/layers.js";
import type { MethodHandler, ServerCall } from "../call/server-call.js";
import type { ServerConfig } from "../call/server-config.js";
import type { Hub } from "./hub.js";
import { type ListenFilter, ListenRequest, readFilter, servedFilters } from "./listen.js";
import { type PeerSubscribers, RESOURCE_FILTER } from "./peer-subscriber.js";

/** Determines which resources a caller may subscribe to. */
interface ResourceIndex {
  knows(uri: string, call: ServerCall): MaybePromise<boolean>;
}

/**
 * Subscriptions to changes: stored in the session in stateful revisions, held by an open request in stateless ones.
 */
export class Subscriptions implements Layer {
  readonly name = "subscriptions";
  readonly stage = "served";
  readonly #config: ServerConfig;
  readonly #layers: Layers;
  readonly #hub: Hub;
  readonly #resources: ResourceIndex;
  readonly #peers: PeerSubscribers;
  readonly #listens = new Set<ListenRequest>();
  readonly #listensOf = new WeakMap<Peer, number>();
  readonly #extensionFilters: readonly string[];
  readonly handlers: Readonly<Record<string, MethodHandler>>;

  constructor(config: ServerConfig, layers: Layers, hub: Hub, resources: ResourceIndex, peers: PeerSubscribers) {
    this.#config = config;
    this.#layers = layers;
    this.#hub = hub;
    this.#resources = resources;
    this.#peers = peers;
    this.#extensionFilters = (config.options.extensions ?? []).flatMap((extension) => extension.listenFilters ?? []);
    this.handlers = {
      "resources/subscribe": (call) => this.#whenReady(() => this.#subscribe(call)),
      "resources/unsubscribe": (call) => this.#unsubscribe(call),
      "subscriptions/listen": (call) => this.#listen(call),
    };
  }

  withholds(method: string, capabilities: ServerCapabilities): boolean {
    return method === "subscriptions/listen" && this.#served(capabilities).size === 0;
  }

  /**
   * Ends every listen request with its result.
   *
   * Spec: Subscriptions, "Graceful Closure",
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#graceful-closure
   */
  endAll(): void {
    for (const listen of [...this.#listens]) {
      listen.end();
      const { peer } = listen.exchange;
      // Deferred, because the notification must follow the result, which is sent once the answer's promises have
      // settled.
      if (peer !== undefined) this.#config.platform.defer(() => peer.send(listen.cancelledNotice));
    }
  }

  #served(capabilities: ServerCapabilities): Set<string> {
    return servedFilters(capabilities, this.#extensionFilters);
  }

  #whenReady(act: () => object | Promise<object>): object | Promise<object> {
    const ready = this.#hub.ready();
    return isThenable(ready) ? ready.then(act) : act();
  }

  #subscribe(call: ServerCall): object | Promise<object> {
    const uri = call.stringParam("uri");
    const { peer } = call.exchange;
    const session = peer?.session;
    if (peer === undefined || session === undefined) {
      throw new McpError("invalid_request", "this connection has no session to store a subscription in");
    }
    if (session.subscriptions.includes(uri)) return {};
    return whenReady(this.#resources.knows(uri, call), (known) => {
      if (!known) throw resourceNotFound(uri);
      return this.#add(peer, session, uri);
    });
  }

  #add(peer: Peer, session: Session, uri: string): object | Promise<object> {
    // Another request may have added the URI while this one waited.
    if (session.subscriptions.includes(uri)) return {};
    const all = [...session.subscriptions, uri];
    this.#checkSize(all, uri.length);
    session.subscriptions = all;
    const stored = this.#changed(peer);
    if (!isThenable(stored)) return {};
    return stored.then((kept) => {
      if (kept !== false) return {};
      this.#remove(peer, uri);
      throw new McpError("internal_error", "the subscription could not be stored", { fix: "Try again later." });
    });
  }

  #unsubscribe(call: ServerCall): object {
    const uri = call.stringParam("uri");
    this.#remove(call.exchange.peer, uri);
    return {};
  }

  #remove(peer: Peer | undefined, uri: string): void {
    if (peer?.session?.subscriptions.includes(uri) !== true) return;
    peer.session.subscriptions = peer.session.subscriptions.filter((known) => known !== uri);
    this.#changed(peer);
  }

  #changed(peer: Peer): unknown {
    this.#peers.get(peer)?.sync();
    return peer.sessionChanged?.();
  }

  #listen(call: ServerCall): MaybePromise<object> {
    const filter = readFilter(
      call.request.params["notifications"],
      this.#served(this.#layers.capabilities(call.request.revision)),
    );
    const begin = () => {
      // Checked after the wait, because other requests may have started meanwhile.
      this.#checkListenLimits(call.exchange.peer);
      return new Promise<object>((resolve) => this.#begin(call, filter, resolve));
    };
    return whenReady(this.#removeUnreadable(filter, call), () =>
      this.#whenReady(() => this.#narrowByLayers(filter, call, begin)),
    );
  }

  /** Lets layers remove everything that the caller may not be notified of. */
  #narrowByLayers(filter: ListenFilter, call: ServerCall, begin: () => Promise<object>): Promise<object> {
    const narrowing = this.#layers.all().filter(({ narrowListen }) => narrowListen !== undefined);
    if (narrowing.length === 0) return begin();
    return (async () => {
      for (const layer of narrowing) await layer.narrowListen?.(filter, call);
      return begin();
    })();
  }

  /** Removes the URIs that this caller may not read. */
  #removeUnreadable(filter: ListenFilter, call: ServerCall): MaybePromise<void> {
    const uris = filter.get(RESOURCE_FILTER);
    if (uris === undefined || uris === true) return;
    this.#checkSize(uris);
    const known = uris.map((uri) => {
      const one = this.#resources.knows(uri, call);
      // If a later lookup throws, this promise is never awaited. In that case its rejection must not be reported as
      // unhandled.
      if (isThenable(one)) neverUnhandled(Promise.resolve(one));
      return one;
    });
    const keep = (settled: readonly boolean[]) => {
      const left = uris.filter((_, index) => settled[index] === true);
      if (left.length > 0) filter.set(RESOURCE_FILTER, left);
      else filter.delete(RESOURCE_FILTER);
    };
    return known.some(isThenable) ? Promise.all(known).then(keep) : keep(known as boolean[]);
  }

  #checkSize(uris: readonly string[], added?: number): void {
    const { subscriptions, subscriptionLength, totalSubscriptionLength } = this.#config.limits;
    if (uris.length > subscriptions)
      throw tooMany("subscriptions", subscriptions, `one subscriber has more than ${subscriptions} URIs`, END_URIS);
    const length = uris.reduce((sum, uri) => sum + uri.length, 0);
    if (length > subscriptionLength) {
      const what = `the URIs of one subscriber together are longer than ${subscriptionLength} characters`;
      throw tooMany("subscriptionLength", subscriptionLength, what, END_URIS);
    }
    if (this.#hub.valueLength + (added ?? length) > totalSubscriptionLength) {
      const what = `the URIs of all subscribers together are longer than ${totalSubscriptionLength} characters`;
      throw tooMany("totalSubscriptionLength", totalSubscriptionLength, what, END_URIS);
    }
  }

  #checkListenLimits(peer: Peer | undefined): void {
    const { listens, listensPerPeer } = this.#config.limits;
    if (this.#listens.size >= listens)
      throw tooMany("listens", listens, `this server already has ${listens} open listen requests`, END_LISTENS);
    if (peer !== undefined && (this.#listensOf.get(peer) ?? 0) >= listensPerPeer) {
      const what = `this client already has ${listensPerPeer} open listen requests`;
      throw tooMany("listensPerPeer", listensPerPeer, what, END_LISTENS);
    }
  }

  #begin(call: ServerCall, filter: ListenFilter, resolve: (result: object) => void): void {
    const { exchange } = call;
    const { signal, peer } = exchange;
    const listen = new ListenRequest(this.#hub, exchange, call.request.id, filter, (result) => {
      if (!this.#listens.delete(listen)) return;
      signal.removeEventListener("abort", leave);
      if (peer !== undefined) this.#count(peer, -1);
      resolve(result);
    });
    // Answers with the result even though the signal is aborted: a transport that shuts down aborts the signal too, and
    // still delivers the answer.
    const leave = () => listen.end();
    listen.begin();
    this.#listens.add(listen);
    if (peer !== undefined) this.#count(peer, 1);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }

  #count(peer: Peer, by: number): void {
    this.#listensOf.set(peer, (this.#listensOf.get(peer) ?? 0) + by);
  }
}

const END_URIS = "Unsubscribe from some URIs";
const END_LISTENS = "End some `subscriptions/listen` requests";

function tooMany(limit: string, value: number, what: string, remedy: string): McpError {
  return new McpError("limit_exceeded", what, {
    data: { limit, value },
    fix: `${remedy}, or raise \`limits.${limit}\` of the server.`,
  });
}
