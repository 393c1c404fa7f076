import type { Subscription } from "@parley/mcp";
import { McpError } from "@parley/mcp/protocol";
import type { CallableConnection } from "../calls/callable-connection.js";
import type { SubscriptionInfo } from "../contract/inspector-state.js";

/**
 * Maximum number of subscriptions of all connections together. Further ones are rejected, because all subscriptions are
 * part of the state, which is sent as a whole after each change.
 */
const MAX_SUBSCRIPTIONS = 200;
/** Maximum length of the URI of a resource, in characters. Longer URIs are rejected. */
const MAX_URI_LENGTH = 4096;

interface WatchedResource {
  info: SubscriptionInfo;
  readonly subscribed: Promise<Subscription>;
}

/**
 * The resources that the user subscribed to. The client renews its subscriptions when it reconnects and ends them when
 * it is closed.
 */
export class Subscriptions {
  readonly #changed: () => void;
  readonly #watched = new Map<string, WatchedResource>();

  /** `changed` is called after every change of `list()`. */
  constructor({ changed }: { changed(): void }) {
    this.#changed = changed;
  }

  /**
   * Subscribes to a resource. Resolves when the server has confirmed the subscription. Has no effect on an existing
   * subscription.
   */
  async subscribe({ id, client }: CallableConnection, uri: string): Promise<void> {
    const key = keyOf(id, uri);
    const known = this.#watched.get(key);
    if (known !== undefined) return void (await known.subscribed);
    checkLimits(this.#watched.size, uri);
    const subscribed = client.subscribe(uri);
    const watched: WatchedResource = { info: { connection: id, uri, updates: 0 }, subscribed };
    this.#watched.set(key, watched);
    try {
      const subscription = await subscribed;
      void this.#count(key, watched, subscription);
    } catch (error) {
      this.#remove(key, watched);
      throw error;
    }
    this.#changed();
  }

  /** Ends a subscription. Has no effect if there is none. */
  async unsubscribe(connection: string, uri: string): Promise<void> {
    const key = keyOf(connection, uri);
    const watched = this.#watched.get(key);
    if (watched === undefined) return;
    this.#remove(key, watched);
    await (await watched.subscribed).close();
  }

  /** Returns all subscriptions, the oldest first. */
  list(): readonly SubscriptionInfo[] {
    return [...this.#watched.values()].map(({ info }) => info);
  }

  async #count(key: string, watched: WatchedResource, subscription: Subscription): Promise<void> {
    try {
      for await (const { missed } of subscription) {
        if (missed) continue;
        watched.info = { ...watched.info, updates: watched.info.updates + 1 };
        this.#changed();
      }
    } catch {
      // The subscription failed or the server ended it. The timeline shows the messages.
    }
    this.#remove(key, watched);
  }

  #remove(key: string, watched: WatchedResource): void {
    if (this.#watched.get(key) !== watched) return;
    this.#watched.delete(key);
    this.#changed();
  }
}

function keyOf(connection: string, uri: string): string {
  return JSON.stringify([connection, uri]);
}

function checkLimits(watched: number, uri: string): void {
  if (uri.length > MAX_URI_LENGTH) {
    throw new McpError("invalid_params", `the address has more than ${MAX_URI_LENGTH} characters`, {
      fix: "Subscribe to a resource that the server lists.",
    });
  }
  if (watched < MAX_SUBSCRIPTIONS) return;
  throw new McpError("limit_exceeded", `there are already ${MAX_SUBSCRIPTIONS} subscriptions`, {
    fix: "End some subscriptions first.",
  });
}
