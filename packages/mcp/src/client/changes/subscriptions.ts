import type { Id, NotificationMessage } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { SubscriptionFilter } from "../../protocol/features/subscriptions.js";
import type { Caller } from "../call/caller.js";
import type { ClientConnection } from "../connection/connection.js";
import type { CallOptions } from "../contract/options.js";
import { type Change, ChangePace, ChangeQueue } from "./change-queue.js";
import { ListenStream } from "./listen-stream.js";
import { type ChangeSource, SessionSubscriptions } from "./session-subscriptions.js";
import {
  changeFor,
  changesOf,
  checkTarget,
  covers,
  filterOf,
  intersectionOf,
  isEmpty,
  type SubscriptionTarget,
  servable,
  unionOf,
} from "./subscription-filter.js";

/**
 * A subscription to changes, the same in every protocol revision. Iterate it to receive the changes. It ends when it is
 * closed or when the server ends it. It survives lost connections: changes that may have been missed meanwhile are
 * reported with `missed: true`.
 */
export interface Subscription extends AsyncIterable<Change>, AsyncDisposable {
  /** The changes that the server agreed to announce, which may be fewer than requested. */
  readonly accepted: SubscriptionFilter;
  /** Ends the subscription, here and at the server. */
  close(): Promise<void>;
}

class Subscriber implements Subscription {
  accepted: SubscriptionFilter;
  readonly queue = new ChangeQueue();
  readonly #leave: (subscriber: Subscriber) => Promise<void>;

  constructor(wanted: SubscriptionFilter, leave: (subscriber: Subscriber) => Promise<void>) {
    this.accepted = wanted;
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): AsyncIterator<Change, undefined> {
    const { queue } = this;
    return {
      next: () => queue.next(),
      return: async () => {
        await this.close();
        return { value: undefined, done: true };
      },
    };
  }

  close(): Promise<void> {
    this.queue.end();
    return this.#leave(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** All subscriptions of one client. */
export class ClientSubscriptions {
  readonly #connection: ClientConnection;
  readonly #caller: Caller;
  readonly #subscribers = new Set<Subscriber>();
  readonly #sources: Record<"session" | "listen", ChangeSource>;
  readonly #pace: ChangePace;
  /** Settles after the last change of the subscriptions. Changes run one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(connection: ClientConnection, caller: Caller) {
    this.#connection = connection;
    this.#caller = caller;
    this.#pace = new ChangePace(connection.platform, (message) => caller.warn(message));
    this.#sources = {
      session: new SessionSubscriptions(caller),
      listen: new ListenStream(connection, caller, {
        ended: (error) => this.end(error),
        reopened: () => this.markMissed(),
        wanted: () => this.#wanted(),
      }),
    };
  }

  /** Resolves when the server has accepted. Rejects with `capability_missing` if the server accepts nothing. */
  async add(target: string | readonly string[] | SubscriptionTarget, options?: CallOptions): Promise<Subscription> {
    const wanted = filterOf(checkTarget(isTarget(target) ? target : { resources: target }));
    await this.#connection.ready();
    const possible = servable(wanted, this.#connection.established.capabilities);
    if (isEmpty(possible)) throw nothingOffered(wanted);
    const subscriber = new Subscriber(possible, (one) => this.#leave(one));
    this.#subscribers.add(subscriber);
    try {
      const agreed = await this.#inTurn(() => this.#source().widen(this.#wanted(), options));
      subscriber.accepted = intersectionOf(possible, agreed);
      if (isEmpty(subscriber.accepted)) throw nothingOffered(wanted);
    } catch (error) {
      this.#subscribers.delete(subscriber);
      throw error;
    }
    if (!covers(subscriber.accepted, wanted))
      this.#caller.warn("the server accepted only a part of the subscription; see `accepted`");
    return subscriber;
  }

  /** Passes a notification to its subscribers. */
  notification(message: NotificationMessage, about: Id | undefined): void {
    if (this.#subscribers.size === 0 || !this.#source().admits(message, about)) return;
    const { method, params } = message;
    const hand = () => {
      for (const { accepted, queue } of this.#subscribers) {
        const change = changeFor(accepted, method, params?.["uri"]);
        if (change !== undefined) queue.push(change);
      }
    };
    const list = /^notifications\/(\w+)\/list_changed$/.exec(method)?.[1];
    if (list === undefined) hand();
    else this.#pace.announced(list, hand);
  }

  /** Renews the subscriptions over a new connection. */
  async restore(): Promise<void> {
    // Also called without subscribers: the source must forget its subscriptions, because the old session is gone.
    await this.#source().restore(this.#wanted());
    this.markMissed();
  }

  /** Ends all subscriptions, with an error if there is one. */
  end(error?: Error): void {
    this.#pace.stop();
    for (const { queue } of this.#subscribers) queue.end(error);
    this.#subscribers.clear();
  }

  async #leave(subscriber: Subscriber): Promise<void> {
    if (!this.#subscribers.delete(subscriber) || this.#connection.state !== "ready") return;
    await this.#inTurn(() => this.#source().narrow(this.#wanted()));
  }

  /** Reports to every subscriber that changes may have been missed. */
  markMissed(): void {
    for (const { accepted, queue } of this.#subscribers) for (const change of changesOf(accepted)) queue.push(change);
  }

  #wanted(): SubscriptionFilter {
    return unionOf([...this.#subscribers].map(({ accepted }) => accepted));
  }

  #source(): ChangeSource {
    return this.#sources[this.#connection.last?.era.has("subscriptions/listen") ? "listen" : "session"];
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}

function isTarget(target: string | readonly string[] | SubscriptionTarget): target is SubscriptionTarget {
  return typeof target === "object" && !Array.isArray(target);
}

function nothingOffered(wanted: SubscriptionFilter): McpError {
  return new McpError("capability_missing", "the server announces none of the changes of this subscription", {
    data: { wanted },
    fix: "Check `resources.subscribe` and `listChanged` in `client.serverCapabilities`, and poll for other changes.",
  });
}
