import { isTransient } from "../../era/negotiate/refusal.js";
import type { Id, NotificationMessage } from "../../jsonrpc/message.js";
import type { SubscriptionFilter } from "../../protocol/features/subscriptions.js";
import type { CallExtras, Requester } from "../call/requester.js";
import type { CallOptions } from "../contract/options.js";

/**
 * Receives changes in a session. The client subscribes to each resource; the server announces changes of lists without
 * a request.
 *
 * Spec: Resources, "Subscriptions", https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
export class SessionSubscriptions implements ChangeSource {
  readonly #caller: Requester;
  readonly #subscribed = new Set<string>();

  constructor(caller: Requester) {
    this.#caller = caller;
  }

  async widen(all: SubscriptionFilter, options: CallOptions | undefined): Promise<SubscriptionFilter> {
    for (const uri of all.resourceSubscriptions ?? []) await this.#subscribe(uri, options, {});
    return all;
  }

  async narrow(all: SubscriptionFilter): Promise<void> {
    for (const uri of [...this.#subscribed]) {
      if (all.resourceSubscriptions?.includes(uri) === true) continue;
      this.#subscribed.delete(uri);
      await this.#caller.call("resources/unsubscribe", { uri });
    }
  }

  async restore(all: SubscriptionFilter): Promise<void> {
    this.#subscribed.clear();
    for (const uri of all.resourceSubscriptions ?? []) {
      try {
        await this.#subscribe(uri, undefined, { recovering: true });
      } catch (error) {
        // Rethrow a transient error, so that the recovery starts over. Otherwise the subscriber would wait forever for
        // changes.
        if (isTransient(error)) throw error;
        this.#caller.warn(`could not subscribe to ${uri} again: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  admits(): boolean {
    return true;
  }

  async #subscribe(uri: string, options: CallOptions | undefined, extras: CallExtras): Promise<void> {
    if (this.#subscribed.has(uri)) return;
    await this.#caller.call("resources/subscribe", { uri }, options, extras);
    this.#subscribed.add(uri);
  }
}

/** The source of changes in one era. */
export interface ChangeSource {
  /** Makes the server announce the changes in `all`. Returns the part that the server accepted. */
  widen(all: SubscriptionFilter, options: CallOptions | undefined): Promise<SubscriptionFilter>;
  /** Called after a subscription was closed. `all` is the union of the remaining subscriptions. */
  narrow(all: SubscriptionFilter): Promise<void>;
  /** Subscribes to everything again over a new connection, as a part of its recovery. */
  restore(all: SubscriptionFilter): Promise<void>;
  /** False for a notification that no subscription requested. */
  admits(message: NotificationMessage, about: Id | undefined): boolean;
}
