import type { Channel } from "../jsonrpc/channel.js";
import { Connection } from "../jsonrpc/connection.js";
import type { Id } from "../jsonrpc/message.js";
import { featuresOf } from "../protocol/revisions.js";
import type { Answer, Endpoint, Outgoing, Peer, Principal } from "./transport.js";

/** One peer served over one channel. */
export interface ServedChannel {
  /** Resolves once, when the channel has ended. */
  readonly closed: Promise<void>;
  /** Requests that have no answer yet. */
  readonly inFlight: number;
  /** Resolves when every request so far is answered. */
  whenIdle(): Promise<void>;
  close(): void | Promise<void>;
}

export interface ServeChannelOptions {
  principal?: Principal;
  /** Requests of this peer that may run at once; default 1,000, so that one peer cannot take all memory. */
  maxInFlight?: number;
  /** Told about input that was no message. */
  onFault?(error: Error): void;
}

/** Serves one channel with an endpoint until the channel ends. */
export function serveChannel(endpoint: Endpoint, channel: Channel, options: ServeChannelOptions = {}): ServedChannel {
  let finish: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const peer = new ChannelPeer(options.principal);
  const connection = new Connection<ChannelPeer>(
    channel,
    {
      request: (message, inbound) => {
        const answer = endpoint.request(message, inbound);
        return answer instanceof Promise ? answer.then((settled) => peer.adopt(settled)) : peer.adopt(answer);
      },
      notification: (message) => endpoint.notification(message, peer),
      acceptsBatch: () => peer.session !== undefined && featuresOf(peer.session.revision).batch,
      fault: (error) => options.onFault?.(error),
      closed: () => {
        endpoint.closed(peer);
        finish();
      },
    },
    peer,
    { answerFaults: true, maxInFlight: options.maxInFlight ?? 1000 },
  );
  peer.attach(connection);
  endpoint.opened(peer);
  connection.open();
  return {
    closed,
    get inFlight() {
      return connection.inFlightCount;
    },
    whenIdle: () => connection.whenIdle(),
    close: () => connection.close(),
  };
}

class ChannelPeer implements Peer {
  session: Peer["session"];
  readonly principal: Principal | undefined;
  #connection: Connection<ChannelPeer> | undefined;

  constructor(principal: Principal | undefined) {
    this.principal = principal;
  }

  attach(connection: Connection<ChannelPeer>): void {
    this.#connection = connection;
  }

  adopt(answer: Answer): Answer {
    if (answer.opens !== undefined) this.session = answer.opens;
    return answer;
  }

  abort(id: Id, reason?: unknown): boolean {
    return this.#connection?.abort(id, reason) ?? false;
  }

  say(text: string): void {
    this.#connection?.say(text);
  }

  ask(request: Outgoing): Promise<unknown> {
    return this.#connection?.ask(request) ?? Promise.reject(new Error("the peer is not connected"));
  }
}
