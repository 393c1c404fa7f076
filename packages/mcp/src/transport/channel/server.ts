import { platform as runtimePlatform } from "#platform";
import { isThenable } from "../../encoding/maybe-promise.js";
import { allowsBatches } from "../../era/session.js";
import type { Principal } from "../../http/authentication.js";
import { type Channel, Connection, type ConnectionHandler } from "../../jsonrpc/connection.js";
import type { Id } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import { atMost } from "../../platform/pause.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { atExpiry } from "../at-expiry.js";
import { disposable, endpointOf, type Servable, type ServeHandle } from "../serve-handle.js";
import type { Answer, Endpoint, EndReason, NetworkInfo, Outgoing, Peer } from "../transport.js";

type Ender = (reason: EndReason) => void | Promise<void>;

/** One peer that is served over one channel. */
export interface ServedChannel extends ServeHandle {
  /** Number of requests of the peer that have not been answered yet. */
  readonly inFlight: number;
  /** Resolves when every request so far is answered. */
  whenIdle(): Promise<void>;
  /**
   * Ends the requests that last as long as the connection, such as subscriptions, so that the channel can become idle.
   */
  endEndless(): void;
  /** Reports that the peer will send no more. Pending requests to the peer reject, and endless requests end. */
  inputEnded(): void;
}

/** Options for serving one channel. */
export interface ServeChannelOptions {
  /**
   * The authenticated sender of all requests on this channel. The channel closes when the principal expires or is
   * revoked. Default: none, because a channel carries no credentials.
   */
  principal?: Principal | undefined;
  /**
   * True if the peer may be untrusted. The server then hides the text of unexpected errors from it. Default: false. A
   * peer with a principal always counts as untrusted.
   */
  remote?: boolean | undefined;
  /** Network attributes of the channel, for observers of the server. Default: unknown. */
  network?: NetworkInfo | undefined;
  /**
   * Maximum number of requests of this peer that run at once. Further requests are refused. Default: 1,000, so that one
   * peer cannot use all memory.
   */
  maxInFlight?: number | undefined;
  /**
   * Number of consecutive invalid inputs after which the connection closes. Default: 100, so that garbage costs little.
   */
  maxFaults?: number | undefined;
  /** Called with an error for each input that is not a message. */
  onFault?: ((error: Error) => void) | undefined;
  /** Replaces the clock of the runtime, for example in a test. Default: that of the runtime. */
  platform?: Platform | undefined;
}

/** Default grace period of `drain`, in milliseconds. Requests that still run at its end are not answered. */
const DRAIN_MS = 2000;

/**
 * Serves one peer over a channel until the channel ends. By default, `drain` of the handle waits at most 2 s.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/transports.md | Transports}
 */
export function serveChannel(servable: Servable, channel: Channel, options: ServeChannelOptions = {}): ServedChannel {
  checkOptions("serveChannel", options, "principal remote network maxInFlight maxFaults onFault platform");
  return startChannel(servable, channel, options);
}

/**
 * Like `serveChannel`, but does not check the names of the options, so that a transport can pass its own options
 * object.
 */
export function startChannel(servable: Servable, channel: Channel, options: ServeChannelOptions): ServedChannel {
  const endpoint = endpointOf(servable);
  const platform = options.platform ?? runtimePlatform;
  let finish: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const peer = new ChannelPeer(options, () => void drain());
  const fault = (error: Error) => callHook(platform, "onFault", () => options.onFault?.(error));
  const connection = new Connection<ChannelPeer>(channel, connectionHandler(endpoint, peer, fault, gone), peer, {
    answerFaults: true,
    maxInFlight: options.maxInFlight ?? 1000,
    maxFaults: options.maxFaults ?? 100,
  });
  const expiry = atExpiry(platform, options.principal, () => {
    peer.reason = "expired";
    connection.close();
  });
  function gone(): void {
    expiry?.cancel();
    endpoint.closed(peer);
    const ending = peer.ended();
    if (ending === undefined) finish();
    else void ending.then(finish);
  }
  peer.attach(connection);
  endpoint.opened(peer);
  connection.open();
  const close = async () => {
    peer.reason ??= peer.inputEnded ? "left" : "closed";
    connection.close();
  };
  const drain = async (graceMs = DRAIN_MS) => {
    peer.endEndless();
    if (graceMs > 0 && connection.inFlightCount > 0) {
      // Keeps the process alive. With an idle event loop, the process would otherwise end before a pending answer is
      // sent.
      await atMost(platform, graceMs, connection.whenIdle(), true);
    }
    await close();
  };
  return disposable<Omit<ServedChannel, typeof Symbol.asyncDispose>>({
    closed,
    drain,
    close,
    get inFlight() {
      return connection.inFlightCount;
    },
    whenIdle: () => connection.whenIdle(),
    endEndless: () => peer.endEndless(),
    inputEnded() {
      peer.inputEnded = true;
      connection.inputEnded();
      peer.endEndless();
    },
  });
}

function connectionHandler(
  endpoint: Endpoint,
  peer: ChannelPeer,
  fault: (error: Error) => void,
  closed: () => void,
): ConnectionHandler<ChannelPeer> {
  return {
    request: (message, inbound) => {
      const accepted = endpoint.accept(message);
      const answer = endpoint.request(accepted, inbound);
      if (!isThenable(answer)) return peer.adopt(answer);
      if (accepted.endless) peer.trackEndless(message.id, answer);
      return answer.then((settled) => peer.adopt(settled));
    },
    notification: (message) => endpoint.notification(message, peer),
    acceptsBatch: () => peer.session !== undefined && allowsBatches(peer.session.revision),
    fault,
    closed,
  };
}

class ChannelPeer implements Peer {
  session: Peer["session"];
  readonly principal: Principal | undefined;
  readonly remote: boolean | undefined;
  readonly network: NetworkInfo | undefined;
  /** The reason why the connection ended or is about to end. Undefined means that the client left. */
  reason: EndReason | undefined;
  inputEnded = false;
  readonly #endless = new Set<Id>();
  #connection: Connection<ChannelPeer> | undefined;
  readonly #drain: () => void;
  readonly #whenEnded: Ender[] = [];
  #ended = false;

  constructor({ principal, remote, network }: ServeChannelOptions, drain: () => void) {
    this.principal = principal;
    this.network = network;
    this.remote = remote;
    this.#drain = drain;
  }

  end(reason: EndReason): void {
    this.reason ??= reason;
    this.#drain();
  }

  onEnded(act: Ender): void {
    if (this.#ended) void act(this.reason ?? "left");
    else this.#whenEnded.push(act);
  }

  /** Calls the functions that `onEnded` registered. Returns undefined if there are none. */
  ended(): Promise<unknown> | undefined {
    this.#ended = true;
    const { reason = "left" } = this;
    return this.#whenEnded.length === 0 ? undefined : Promise.all(this.#whenEnded.map((act) => act(reason)));
  }

  attach(connection: Connection<ChannelPeer>): void {
    this.#connection = connection;
  }

  adopt(answer: Answer): Answer {
    if (answer.session !== undefined) this.session = answer.session;
    return answer;
  }

  /** Tracks an endless request, such as a subscription, until it is answered. */
  trackEndless(id: Id, answer: Promise<unknown>): void {
    this.#endless.add(id);
    // Safe: the answers of the endpoint never reject.
    void answer.then(() => this.#endless.delete(id));
  }

  endEndless(): void {
    for (const id of this.#endless) this.abort(id, new Error("the connection is closing"));
    this.#endless.clear();
  }

  abort(id: Id, reason?: unknown): boolean {
    return this.#connection?.abort(id, reason) ?? false;
  }

  send(text: string): void {
    this.#connection?.send(text);
  }

  ask(request: Outgoing): Promise<unknown> {
    return this.#connection?.ask(request) ?? Promise.reject(new Error("the peer is not connected"));
  }
}
