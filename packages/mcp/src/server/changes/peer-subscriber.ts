import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { type LoggingLevel, passesLevel } from "../../protocol/features/logging.js";
import type { Peer } from "../../transport/transport.js";
import type { ServerCore } from "../call/core.js";
import type { PeerListener } from "../call/dispatch.js";
import type { Notice, Subscriber } from "./hub.js";

/** The member of a listen filter that names resources; sessions subscribe under the same name. */
export const RESOURCE_FILTER = "resourceSubscriptions";

const NOTHING: readonly string[] = [];

/** A peer of a stateful revision: it hears of every list, and of the resources that its session names. */
export class PeerSubscriber implements Subscriber {
  readonly peer: Peer;
  readonly #core: ServerCore;
  /** What the peer was told that it would hear of. */
  #declared: ServerCapabilities | undefined;
  /** The subscriptions that the hub knows of, as they were in the session. */
  #known = NOTHING;

  constructor(core: ServerCore, peer: Peer) {
    this.#core = core;
    this.peer = peer;
  }

  hear(notice: Notice): void {
    const { session } = this.peer;
    if (session?.initialized !== true) return;
    this.settle();
    const capability = this.#core.methods.get(notice.change.method)?.capability;
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
    if (session !== undefined) this.#declared ??= this.#core.capabilities(session.revision);
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
    for (const uri of wanted) if (!before.delete(uri)) this.#core.hub.subscribe(this, RESOURCE_FILTER, uri);
    for (const uri of before) this.#core.hub.unsubscribe(this, RESOURCE_FILTER, uri);
  }
}

/** The peers that can be told something at any time. */
export class PeerSubscribers implements PeerListener {
  readonly #core: ServerCore;
  readonly #peers = new Map<Peer, PeerSubscriber>();

  constructor(core: ServerCore) {
    this.#core = core;
    // With a shared storage another node may have changed a session whose peer listens here.
    if (core.options.storage !== undefined) {
      core.hub.refresh = () => {
        for (const subscriber of this.#peers.values()) subscriber.sync();
      };
    }
  }

  opened(peer: Peer): void {
    const subscriber = new PeerSubscriber(this.#core, peer);
    this.#peers.set(peer, subscriber);
    this.#core.hub.join(subscriber);
    subscriber.settle();
    subscriber.sync();
    const ready = this.#core.hub.ready();
    if (ready instanceof Promise) ready.catch((error) => this.#core.platform.warn(`no news of other nodes: ${error}`));
  }

  closed(peer: Peer): void {
    const subscriber = this.#peers.get(peer);
    if (subscriber === undefined) return;
    this.#peers.delete(peer);
    this.#core.hub.leave(subscriber);
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
