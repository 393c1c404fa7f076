import { isThenable } from "../../encoding/maybe-promise.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { type LoggingLevel, passesLevel } from "../../protocol/logging.js";
import type { Peer } from "../../transport/transport.js";
import type { Layer, Layers } from "../call/layers.js";
import type { ServerConfig } from "../call/server-config.js";
import type { Notice } from "./change.js";
import type { Hub, Subscriber } from "./hub.js";

/** The member of a listen filter that lists resources. Resource subscriptions of sessions use the same topics. */
export const RESOURCE_FILTER = "resourceSubscriptions";

const NO_URIS: readonly string[] = [];

/**
 * A peer with a session. It receives the changes of every list and of the resources that its session subscribes to.
 */
export class PeerSubscriber implements Subscriber {
  readonly peer: Peer;
  readonly #layers: Layers;
  readonly #hub: Hub;
  /** The capabilities that were declared to the peer. */
  #declared: ServerCapabilities | undefined;
  /** The URIs that this peer is subscribed to in the hub. */
  #subscribed = NO_URIS;

  constructor(layers: Layers, hub: Hub, peer: Peer) {
    this.#layers = layers;
    this.#hub = hub;
    this.peer = peer;
  }

  receive(notice: Notice): void {
    const { session } = this.peer;
    if (session?.initialized !== true) return;
    this.recordCapabilities();
    const capability = this.#layers.self.methods.get(notice.change.method)?.capability;
    // Spec: Lifecycle, "Operation": both parties use only the capabilities that were negotiated.
    // https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#operation
    if (capability === undefined || hasCapability(this.#declared ?? {}, capability)) this.peer.send(notice.plain);
  }

  /** Sends a log message if this peer accepts messages of the level. */
  log(level: LoggingLevel, text: string): void {
    const { session } = this.peer;
    if (session?.initialized !== true || !passesLevel(level, session.logLevel ?? "debug")) return;
    this.peer.send(text);
  }

  /**
   * Records the capabilities that are declared at this moment. The peer gets no notifications of capabilities that are
   * added later.
   */
  recordCapabilities(): void {
    const { session } = this.peer;
    if (session !== undefined) this.#declared ??= this.#layers.capabilities(session.revision);
  }

  /**
   * Updates the hub from the session, which other nodes may have changed. `missed` means that this node may have missed
   * messages of other nodes.
   */
  sync(missed = false): void {
    const uris = this.peer.session?.subscriptions ?? NO_URIS;
    if (uris === this.#subscribed) return;
    const before = new Set(this.#subscribed);
    this.#subscribeTo(uris);
    // An added resource may have changed since another node stored the subscription.
    if (missed) for (const uri of uris) if (!before.has(uri)) this.#hub.notifyAgain(this, RESOURCE_FILTER, uri);
  }

  /** Notifies the peer that every resource it subscribes to may have changed. */
  notifyAgain(): void {
    for (const uri of this.#subscribed) this.#hub.notifyAgain(this, RESOURCE_FILTER, uri);
  }

  /** Ends all subscriptions of this peer. */
  stop(): void {
    this.#subscribeTo(NO_URIS);
  }

  #subscribeTo(uris: readonly string[]): void {
    const before = new Set(this.#subscribed);
    this.#subscribed = uris;
    for (const uri of uris) if (!before.delete(uri)) this.#hub.subscribe(this, RESOURCE_FILTER, uri);
    for (const uri of before) this.#hub.unsubscribe(this, RESOURCE_FILTER, uri);
  }
}

/** The peers that can receive notifications outside a call. */
export class PeerSubscribers implements Layer {
  readonly name = "peers";
  readonly stage = "served";
  readonly #config: ServerConfig;
  readonly #layers: Layers;
  readonly #hub: Hub;
  readonly #peers = new Map<Peer, PeerSubscriber>();

  constructor(config: ServerConfig, layers: Layers, hub: Hub) {
    this.#config = config;
    this.#layers = layers;
    this.#hub = hub;
    // With a shared storage, another node may have changed the session of a peer that is connected here.
    if (config.options.storage !== undefined) {
      hub.refresh = () => {
        for (const subscriber of this.#peers.values()) subscriber.sync();
      };
    }
  }

  opened(peer: Peer): void {
    const subscriber = new PeerSubscriber(this.#layers, this.#hub, peer);
    this.#peers.set(peer, subscriber);
    this.#hub.join(subscriber);
    subscriber.recordCapabilities();
    subscriber.sync();
    const ready = this.#hub.ready();
    // If the session already has subscriptions, another node served it before. That node may have died some time ago,
    // so the resources may have changed since.
    const takenOver = () => this.#config.options.storage !== undefined && subscriber.notifyAgain();
    if (!isThenable(ready)) return void takenOver();
    ready.then(takenOver, (error) => this.#config.platform.warn(`cannot receive changes from other nodes: ${error}`));
  }

  closed(peer: Peer): void {
    const subscriber = this.#peers.get(peer);
    if (subscriber === undefined) return;
    this.#peers.delete(peer);
    this.#hub.leave(subscriber);
    subscriber.stop();
  }

  notification({ method }: { method: string }, peer: Peer): void {
    if (method === "notifications/initialized") this.#peers.get(peer)?.recordCapabilities();
  }

  sessionChanged(peer: Peer, missed: boolean): void | Promise<void> {
    this.#peers.get(peer)?.sync(missed);
    return this.#hub.ready();
  }

  /** Returns the subscriber of a peer; undefined if the peer is not open. */
  get(peer: Peer): PeerSubscriber | undefined {
    return this.#peers.get(peer);
  }

  all(): Iterable<PeerSubscriber> {
    return this.#peers.values();
  }
}
