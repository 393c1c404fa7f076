import type { Subscription } from "@parley/mcp";
import { McpError } from "@parley/mcp/protocol";
import type { CalledConnection } from "../calls/called-connection.js";
import type { SubscriptionInfo } from "../contract/inspector-state.js";

/** Subscriptions of all connections together; each is part of the state, which is sent as a whole. */
const MOST_SUBSCRIPTIONS = 200;
/** Characters of the address of a resource. */
const MOST_URI = 4096;

interface Watched {
  info: SubscriptionInfo;
  readonly subscribed: Promise<Subscription>;
}

/** The resources that the user watches. The client renews its subscriptions when it reconnects, and ends them when it is closed. */
export class Subscriptions {
  readonly #changed: () => void;
  readonly #watched = new Map<string, Watched>();

  /** `changed` is called after every change of `list()`. */
  constructor({ changed }: { changed(): void }) {
    this.#changed = changed;
  }

  /** Watches a resource. Resolves when the server has agreed; one that is watched stays so. */
  async subscribe({ id, client }: CalledConnection, uri: string): Promise<void> {
    const key = keyOf(id, uri);
    const known = this.#watched.get(key);
    if (known !== undefined) return void (await known.subscribed);
    refuseTooMuch(this.#watched.size, uri);
    const subscribed = client.subscribe(uri);
    const watched: Watched = { info: { connection: id, uri, updates: 0 }, subscribed };
    this.#watched.set(key, watched);
    try {
      const subscription = await subscribed;
      void this.#count(key, watched, subscription);
    } catch (error) {
      this.#forget(key, watched);
      throw error;
    }
    this.#changed();
  }

  /** Ends watching a resource; one that is not watched stays so. */
  async unsubscribe(connection: string, uri: string): Promise<void> {
    const key = keyOf(connection, uri);
    const watched = this.#watched.get(key);
    if (watched === undefined) return;
    this.#forget(key, watched);
    await (await watched.subscribed).close();
  }

  /** All that are watched, in the order in which they were asked for. */
  list(): readonly SubscriptionInfo[] {
    return [...this.#watched.values()].map(({ info }) => info);
  }

  async #count(key: string, watched: Watched, subscription: Subscription): Promise<void> {
    try {
      for await (const { missed } of subscription) {
        if (missed) continue;
        watched.info = { ...watched.info, updates: watched.info.updates + 1 };
        this.#changed();
      }
    } catch {
      // The server ended it; the timeline has how.
    }
    this.#forget(key, watched);
  }

  #forget(key: string, watched: Watched): void {
    if (this.#watched.get(key) !== watched) return;
    this.#watched.delete(key);
    this.#changed();
  }
}

function keyOf(connection: string, uri: string): string {
  return JSON.stringify([connection, uri]);
}

function refuseTooMuch(watched: number, uri: string): void {
  if (uri.length > MOST_URI) {
    throw new McpError("invalid_params", `the address has more than ${MOST_URI} characters`, {
      fix: "Subscribe to a resource that the server lists.",
    });
  }
  if (watched < MOST_SUBSCRIPTIONS) return;
  throw new McpError("limit_exceeded", `${MOST_SUBSCRIPTIONS} resources are watched`, {
    fix: "End some subscriptions first.",
  });
}
