import { isThenable } from "../../encoding/maybe-promise.js";
import type { Accepted } from "../../era/era.js";
import type { AuthenticationRefusal } from "../../http/authentication.js";
import type { HttpFacts } from "../../http/http.js";
import type { NotificationMessage, RequestMessage } from "../../jsonrpc/message.js";
import { CHANGING_LISTS, listNotice, Notice } from "../../server/changes/change.js";
import type { CapabilityReason } from "../../server/sources/explain-capabilities.js";
import { endpointOf, type Servable } from "../../transport/servable.js";
import type { Answer, Endpoint, Exchange, Peer } from "../../transport/transport.js";
import { absentEndpoint } from "./absent-endpoint.js";
import { CarriedListen } from "./carried-listen.js";
import { namedStorage } from "./named-storage.js";

/** One server that a bound endpoint served or serves. */
class Target {
  readonly endpoint: Endpoint;
  readonly #servable: Servable | undefined;
  #running = 0;
  #whenIdle: (() => void)[] = [];

  constructor(servable: Servable | undefined, name: string) {
    this.#servable = servable;
    const why = `no server is registered as "${name}" at the moment`;
    this.endpoint = servable === undefined ? absentEndpoint(why, 503) : endpointOf(servable);
  }

  /** Counts a request until it is answered; answers never reject. */
  count(answer: PromiseLike<Answer>): void {
    this.#running++;
    void answer.then(() => {
      this.#running--;
      if (this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    });
  }

  get running(): number {
    return this.#running;
  }

  get isServer(): boolean {
    return this.#servable !== undefined;
  }

  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#running === 0) resolve();
      else this.#whenIdle.push(resolve);
    });
  }

  /** The notifications of changed lists that the server has declared to the clients of this revision. */
  declares(peer: Peer): readonly string[] {
    const servable = this.#servable as { explainCapabilities?: ExplainCapabilities } | undefined;
    // What is no `Server` does not tell; a client ignores what it did not ask for.
    const explained = peer.session && servable?.explainCapabilities?.(peer.session.revision);
    const lists = CHANGING_LISTS.filter(
      (list) => explained?.some(({ capability, on }) => on && capability === `${list}.listChanged`) ?? true,
    );
    return lists.map((list) => new Notice(listNotice(list)).plain);
  }
}

type ExplainCapabilities = (revision: string) => CapabilityReason[];

/**
 * The endpoint of a name: every message goes to the server that has the name at that moment. Connections and sessions stay
 * when the server changes. Calls end where they began; listening goes on at the new server.
 */
export class BoundEndpoint implements Endpoint {
  /** A part of the first server's: transports read it when they start. */
  readonly storage: Endpoint["storage"];
  readonly #peers = new Set<Peer>();
  /** What was declared to a peer that has come from another server: it has not heard of the new one's capabilities. */
  readonly #declared = new WeakMap<Peer, readonly string[]>();
  readonly #listens = new Set<CarriedListen>();
  #name: string;
  #target: Target;

  constructor(name: string, servable: Servable | undefined) {
    this.#name = name;
    this.#target = new Target(servable, name);
    const { storage } = this.#target.endpoint;
    this.storage = storage && namedStorage(storage, name);
  }

  get name(): string {
    return this.#name;
  }

  get revisions(): Endpoint["revisions"] {
    return this.#target.endpoint.revisions;
  }

  get endsObjects(): boolean | undefined {
    return this.#target.endpoint.endsObjects;
  }

  async close(): Promise<void> {
    await this.#target.endpoint.close?.();
  }

  sessionless(): boolean {
    return this.#target.endpoint.sessionless?.() === true;
  }

  /** Connections and sessions at this moment. */
  get peers(): number {
    return this.#peers.size;
  }

  /** Calls under way at the present server. */
  get running(): number {
    return this.#target.running;
  }

  accept<M extends RequestMessage | NotificationMessage>(message: M, http?: HttpFacts): Accepted<M> {
    return this.#target.endpoint.accept(message, http);
  }

  request(accepted: Accepted, exchange: Exchange): Answer | Promise<Answer> {
    if (accepted.endless) return this.#listen(accepted, exchange);
    const target = this.#target;
    const answer = target.endpoint.request(accepted, exchange);
    if (isThenable(answer)) target.count(answer);
    return answer;
  }

  notification(message: NotificationMessage, peer?: Peer): void {
    this.#target.endpoint.notification(message, peer);
  }

  opened(peer: Peer): void {
    this.#peers.add(peer);
    this.#target.endpoint.opened(peer);
  }

  closed(peer: Peer): void {
    this.#peers.delete(peer);
    this.#target.endpoint.closed(peer);
  }

  senderRefused(refusal: AuthenticationRefusal): void {
    this.#target.endpoint.senderRefused?.(refusal);
  }

  sessionChanged(peer: Peer, missed: boolean): void | Promise<void> {
    return this.#target.endpoint.sessionChanged?.(peer, missed);
  }

  /** Serves another server from now on. Resolves when the calls that the present one has are over. */
  switchTo(name: string, servable: Servable | undefined): Promise<void> {
    const old = this.#target;
    const next = new Target(servable, name);
    this.#name = name;
    if (next.endpoint === old.endpoint) return Promise.resolve();
    this.#target = next;
    for (const peer of [...this.#peers]) this.#move(peer, old, next.endpoint);
    for (const listen of [...this.#listens]) listen.moveTo(next.isServer ? next.endpoint : undefined);
    return old.idle();
  }

  #move(peer: Peer, old: Target, next: Endpoint): void {
    const { session } = peer;
    old.endpoint.closed(peer);
    next.opened(peer);
    if (session === undefined) return;
    if (next.revisions?.includes(session.revision) === false) return peer.end?.("the server was replaced");
    const declared = this.#declared.get(peer) ?? old.declares(peer);
    this.#declared.set(peer, declared);
    // There is nothing to list where no server is.
    if (session.initialized && this.#target.isServer) for (const notice of declared) peer.say(notice);
  }

  async #listen(accepted: Accepted, exchange: Exchange): Promise<Answer> {
    const listen = new CarriedListen(accepted, exchange);
    this.#listens.add(listen);
    try {
      return await listen.run(this.#target.endpoint);
    } finally {
      this.#listens.delete(listen);
    }
  }
}
