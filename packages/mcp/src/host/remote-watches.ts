import type { Subscription } from "../client/changes/subscriptions.js";
import type { Client } from "../client/client.js";

interface Watched {
  readonly listeners: Set<() => void>;
  subscription: Promise<Subscription | undefined> | undefined;
}

/** The resources of one server that somebody wants to hear of, over whichever connection stands. */
export class RemoteWatches {
  readonly #watched = new Map<string, Watched>();
  #client: Client | undefined;

  /** Calls `updated` with each update of a resource until the returned function is called. */
  add(uri: string, updated: () => void): () => void {
    const watched = this.#watched.get(uri) ?? { listeners: new Set(), subscription: undefined };
    watched.listeners.add(updated);
    this.#watched.set(uri, watched);
    if (watched.subscription === undefined && this.#client !== undefined) this.#subscribe(uri, watched, this.#client);
    return () => {
      // A second call must not end what somebody else began since.
      if (!watched.listeners.delete(updated) || watched.listeners.size > 0) return;
      this.#watched.delete(uri);
      void watched.subscription?.then((subscription) => subscription?.close()).catch(() => {});
    };
  }

  /** Goes on over a new connection: whatever changed before it stood may have been missed. */
  follow(client: Client): void {
    this.#client = client;
    for (const [uri, watched] of this.#watched) {
      const again = watched.subscription !== undefined;
      this.#subscribe(uri, watched, client);
      if (again) for (const updated of watched.listeners) updated();
    }
  }

  close(): void {
    this.#client = undefined;
    this.#watched.clear();
  }

  #subscribe(uri: string, watched: Watched, client: Client): void {
    watched.subscription = client.subscribe({ resources: uri }).then(
      (subscription) => {
        void this.#hear(watched, subscription);
        return subscription;
      },
      // The connection is gone, or the server refuses; the next connection tries again.
      () => undefined,
    );
  }

  async #hear(watched: Watched, subscription: Subscription): Promise<void> {
    try {
      for await (const _change of subscription) for (const updated of watched.listeners) updated();
    } catch {
      // The connection ended; `follow` goes on with the next one.
    }
  }
}
