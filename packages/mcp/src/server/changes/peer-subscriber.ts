import { isThenable } from "../../encoding/maybe-promise.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { type LoggingLevel, passesLevel } from "../../protocol/features/logging.js";
import type { Peer } from "../../transport/transport.js";
import type { PeerListener } from "../call/dispatch.js";
import type { ServerFacts } from "../call/facts.js";
import type { Registry } from "../lists/registry.js";
import type { Notice } from "./change.js";
import type { Hub, Subscriber } from "./hub.js";

/** The member of a listen filter that names resources; sessions subscribe under the same name. */
export const RESOURCE_FILTER = "resourceSubscriptions";

const NOTHING: readonly string[] = [];

/** A peer with a session: it hears of every list, and of the resources that its session names. */
export class PeerSubscriber implements Subscriber {
  readonly peer: Peer;
  readonly #registry: Registry;
  readonly #hub: Hub;
  /** What the peer was told that it would hear of. */
  #declared: ServerCapabilities | undefined;
  /** The subscriptions that the hub knows of, as they were in the session. */
  #known = NOTHING;

  constructor(registry: Registry, hub: Hub, peer: Peer) {
    this.#registry = registry;
    this.#hub = hub;
    this.peer = peer;
  }

  hear(notice: Notice): void {
    const { session } = this.peer;
    if (session?.initialized !== true) return;
    this.settle();
    const capability = this.#registry.self.methods.get(notice.change.method)?.capability;
    // The peer was promised only what was declared when it came.
    if (capability === undefined || hasCapability(this.#declared ?? {}, capability)) this.peer.say(notice.plain);
  }

  /** Sends a log message, if this peer wants messages of its level. */
  log(level: LoggingLevel, text: string): void {
    const { session } = this.peer;
    if (session?.initialized !== true || !passesLevel(level, session.logLevel ?? "debug")) return;
    this.peer.say(text);
  }

  /** Notes what is declared by now; later additions are not for this peer. */
  settle(): void {
    const { session } = this.peer;
    if (session !== undefined) this.#declared ??= this.#registry.capabilities(session.revision);
  }

  /** Brings the hub to what the session says; sessions may be changed by other nodes. */
  sync(): void {
    const wanted = this.peer.session?.subscriptions ?? NOTHING;
    if (wanted !== this.#known) this.#become(wanted);
  }

  /** Hears of nothing any more. */
  stop(): void {
    this.#become(NOTHING);
  }

  #become(wanted: readonly string[]): void {
    const before = new Set(this.#known);
    this.#known = wanted;
    for (const uri of wanted) if (!before.delete(uri)) this.#hub.subscribe(this, RESOURCE_FILTER, uri);
    for (const uri of before) this.#hub.unsubscribe(this, RESOURCE_FILTER, uri);
  }
}

/** The peers that can be told something at any time. */
export class PeerSubscribers implements PeerListener {
  readonly #facts: ServerFacts;
  readonly #registry: Registry;
  readonly #hub: Hub;
  readonly #peers = new Map<Peer, PeerSubscriber>();

  constructor(facts: ServerFacts, registry: Registry, hub: Hub) {
    this.#facts = facts;
    this.#registry = registry;
    this.#hub = hub;
    // With a shared storage another node may have changed a session whose peer listens here.
    if (facts.options.storage !== undefined) {
      hub.refresh = () => {
        for (const subscriber of this.#peers.values()) subscriber.sync();
      };
    }
  }

  opened(peer: Peer): void {
    const subscriber = new PeerSubscriber(this.#registry, this.#hub, peer);
    this.#peers.set(peer, subscriber);
    this.#hub.join(subscriber);
    subscriber.settle();
    subscriber.sync();
    const ready = this.#hub.ready();
    if (isThenable(ready)) ready.catch((error) => this.#facts.platform.warn(`no news of other nodes: ${error}`));
  }

  closed(peer: Peer): void {
    const subscriber = this.#peers.get(peer);
    if (subscriber === undefined) return;
    this.#peers.delete(peer);
    this.#hub.leave(subscriber);
    subscriber.stop();
  }

  notification({ method }: { method: string }, peer: Peer): void {
    if (method === "notifications/initialized") this.#peers.get(peer)?.settle();
  }

  of(peer: Peer): PeerSubscriber | undefined {
    return this.#peers.get(peer);
  }

  all(): Iterable<PeerSubscriber> {
    return this.#peers.values();
  }
}
