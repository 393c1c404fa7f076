import { isThenable } from "../../encoding/maybe-promise.js";
import type { Accepted } from "../../era/era.js";
import { accepting } from "../../era/select/accepting.js";
import type { AuthenticationRefusal } from "../../http/authentication.js";
import type { HttpRequestInfo } from "../../http/http.js";
import { isObject, type NotificationMessage, type RequestMessage } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { CORE_TABLE } from "../../protocol/methods.js";
import { CHANGING_LISTS, listNotice, Notice } from "../../server/changes/change.js";
import type { CapabilityReason } from "../../server/sources/explain-capabilities.js";
import type { Storage } from "../../storage/storage.js";
import { endpointOf, type Servable } from "../../transport/serve-handle.js";
import type { Answer, Endpoint, Exchange, Peer } from "../../transport/transport.js";

/** One server that a bound endpoint serves or has served. */
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

  /** Counts a request as running until it is answered. `answer` never rejects. */
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

  /** The notifications of changed lists that the server has declared to clients of the peer's revision. */
  declares(peer: Peer): readonly string[] {
    const servable = this.#servable as { explainCapabilities?: ExplainCapabilities } | undefined;
    // An endpoint that is not a `Server` cannot report its capabilities, so assume all of them. Clients ignore
    // unexpected notifications.
    const explained = peer.session && servable?.explainCapabilities?.(peer.session.revision);
    const lists = CHANGING_LISTS.filter(
      (list) => explained?.some(({ capability, on }) => on && capability === `${list}.listChanged`) ?? true,
    );
    return lists.map((list) => new Notice(listNotice(list)).plain);
  }
}

type ExplainCapabilities = (revision: string) => CapabilityReason[];

/**
 * The endpoint of a name: each message goes to the server that has the name at that moment. Connections and sessions
 * stay open when the server changes. Running calls finish at the old server; listen requests continue at the new
 * server.
 */
export class BoundEndpoint implements Endpoint {
  /** The storage of the first server, restricted to this name. Transports read this member once, when they start. */
  readonly storage: Endpoint["storage"];
  readonly #peers = new Set<Peer>();
  /**
   * The list notifications that an earlier server declared to peers. These peers have not seen the capabilities of the
   * current server.
   */
  readonly #declared = new WeakMap<Peer, readonly string[]>();
  readonly #listens = new Set<MovableListen>();
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

  get info(): Endpoint["info"] {
    return this.#target.endpoint.info;
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

  /** Number of open connections and sessions. */
  get peers(): number {
    return this.#peers.size;
  }

  /** Number of running calls at the current server. */
  get running(): number {
    return this.#target.running;
  }

  accept<M extends RequestMessage | NotificationMessage>(message: M, http?: HttpRequestInfo): Accepted<M> {
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

  /** Serves another server from now on. Resolves when the previous server has finished its running calls. */
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
    // Without a server, clients are not notified: fetching the lists again would only result in errors.
    if (session.initialized && this.#target.isServer) for (const notice of declared) peer.send(notice);
  }

  async #listen(accepted: Accepted, exchange: Exchange): Promise<Answer> {
    const listen = new MovableListen(accepted, exchange);
    this.#listens.add(listen);
    try {
      return await listen.run(this.#target.endpoint);
    } finally {
      this.#listens.delete(listen);
    }
  }
}

/**
 * An endpoint that refuses every request, for names without a server. The status informs HTTP clients whether a server
 * may return: 503 if it may, so that clients keep their sessions, otherwise 404.
 */
export function absentEndpoint(why: string, status: 404 | 503): Endpoint {
  const kind = status === 404 ? "invalid_request" : "internal_error";
  return {
    accept: accepting(CORE_TABLE),
    request: ({ message, era }) => ({ ...era.refusal(message.id, new McpError(kind, why)), status }),
    notification() {},
    opened() {},
    closed() {},
  };
}

/**
 * A listen request that outlives the server it was sent to. When the server is replaced, the request ends at the old
 * server and starts again at the new one. The client is notified that its lists may have changed.
 */
export class MovableListen {
  readonly #accepted: Accepted;
  readonly #exchange: Exchange;
  #leave: AbortController | undefined;
  #next: Endpoint | undefined;

  constructor(accepted: Accepted, exchange: Exchange) {
    this.#accepted = accepted;
    this.#exchange = exchange;
  }

  /** Resolves with the answer of the last server. */
  async run(first: Endpoint): Promise<Answer> {
    const exchange = this.#exchange;
    for (let endpoint = first, isFirst = true; ; isFirst = false) {
      const leave = new AbortController();
      const left = () => leave.abort(exchange.signal.reason);
      this.#leave = leave;
      exchange.signal.addEventListener("abort", left, { once: true });
      if (exchange.signal.aborted) left();
      const part = new ListenExchange(exchange, leave.signal, !isFirst);
      const answer = await endpoint.request(this.#accepted, part);
      exchange.signal.removeEventListener("abort", left);
      const next = this.#next;
      this.#next = undefined;
      if (next === undefined || exchange.signal.aborted) return answer;
      endpoint = next;
    }
  }

  /** Ends the request at the current server and starts it at the next server, if there is one. */
  moveTo(next: Endpoint | undefined): void {
    this.#next = next;
    if (next !== undefined) this.#announceChanges();
    this.#leave?.abort(new Error("the server was replaced"));
  }

  #announceChanges(): void {
    const { id } = this.#exchange;
    const asked = this.#accepted.message.params?.["notifications"];
    for (const list of CHANGING_LISTS) {
      const notice = listNotice(list);
      if (isObject(asked) && asked[notice.filter] === true) this.#exchange.send(new Notice(notice).tagged(id));
    }
  }
}

/**
 * The exchange of a listen request, as one server sees it. Only the acknowledgment of the first server reaches the
 * client.
 */
class ListenExchange implements Exchange {
  readonly id: Exchange["id"];
  readonly signal: AbortSignal;
  readonly peer: Exchange["peer"];
  readonly http: Exchange["http"];
  readonly principal: Exchange["principal"];
  readonly remote: Exchange["remote"];
  readonly batched: Exchange["batched"];
  readonly #whole: Exchange;
  #isAcknowledgment: boolean;

  constructor(whole: Exchange, signal: AbortSignal, acknowledged: boolean) {
    this.id = whole.id;
    this.signal = signal;
    this.peer = whole.peer;
    this.http = whole.http;
    this.principal = whole.principal;
    this.remote = whole.remote;
    this.batched = whole.batched;
    this.#whole = whole;
    this.#isAcknowledgment = acknowledged;
  }

  send(text: string): void {
    if (!this.#isAcknowledgment) return this.#whole.send(text);
    this.#isAcknowledgment = false;
  }
}

/**
 * Restricts a storage to the keys of one name. Servers may share a storage, but must not see the sessions of each
 * other. Nodes that serve the same name share its sessions.
 */
export function namedStorage({ kv, log, pubsub }: Storage, name: string): Storage {
  const own = (key: string) => keyOfName(name, key);
  // `close` is left out, because the creator of the storage closes it.
  return {
    kv: {
      get: (key) => kv.get(own(key)),
      set: (key, value, options) => kv.set(own(key), value, options),
      delete: (key, options) => kv.delete(own(key), options),
      touch: (key, ttlMs) => kv.touch(own(key), ttlMs),
    },
    log: {
      append: (stream, entry, limits) => log.append(own(stream), entry, limits),
      read: (stream, afterId, limit) => log.read(own(stream), afterId, limit),
      touch: (stream, ttlMs) => log.touch(own(stream), ttlMs),
      drop: (stream) => log.drop(own(stream)),
    },
    pubsub: {
      publish: (topic, message) => pubsub.publish(own(topic), message),
      subscribe: (topic, deliver, onGap) => pubsub.subscribe(own(topic), deliver, onGap),
    },
  };
}

/** Names contain no slash and are unique regardless of case, so keys of different names never collide. */
function keyOfName(name: string, key: string): string {
  return `registry/${name.toLowerCase()}/${key}`;
}
