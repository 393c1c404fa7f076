import { isThenable } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { Storage, Unsubscribe } from "../../storage/storage.js";
import type { ServerFacts } from "../call/facts.js";
import { CHANGING_LISTS, LIST_FILTERS, type ListName, listNotice, Notice, type PublishedChange } from "./change.js";

/** Receives changes. An error thrown by `hear` is reported and does not affect other subscribers. */
export interface Subscriber {
  hear(notice: Notice): void;
}

/** Called when a topic gets its first subscriber and when it loses its last one. */
export interface TopicWatcher {
  watched(value: string): void;
  unwatched(value: string): void;
}

/**
 * Delivers the changes of one server to their subscribers. A topic is a member of a listen filter, with a value where the
 * member is a list. The hub knows subscribers, not their connections.
 */
export class Hub {
  readonly #facts: ServerFacts;
  readonly #topics = new Map<string, Set<Subscriber>>();
  /** Peers with one stream for all notifications, which receive every list change. */
  readonly #everything = new Set<Subscriber>();
  readonly #watchers = new Map<string, TopicWatcher>();
  readonly #relay: HubRelay | undefined;
  /** Lists that changed in this turn of the event loop. */
  readonly #changed = new Set<ListName>();
  #scheduled = false;
  /** Length of the values that all subscribers together subscribe to. */
  length = 0;
  /** Called before each delivery; set where another node may have changed the subscriptions. */
  refresh: (() => void) | undefined;

  constructor(facts: ServerFacts) {
    this.#facts = facts;
    const { storage } = facts.options;
    if (storage !== undefined) this.#relay = new HubRelay(facts, storage, (change) => this.deliver(change));
  }

  /** Resolves when changes from other nodes arrive here; undefined when nothing has to be awaited. */
  ready(): void | Promise<void> {
    return this.#relay?.attach();
  }

  /** Sets the watcher for all topics of one filter member. */
  watch(filter: string, watcher: TopicWatcher): void {
    this.#watchers.set(filter, watcher);
  }

  /** Subscribes to the changes of every list. */
  join(subscriber: Subscriber): void {
    this.#everything.add(subscriber);
  }

  leave(subscriber: Subscriber): void {
    this.#everything.delete(subscriber);
  }

  subscribe(subscriber: Subscriber, filter: string, value?: string): void {
    const topic = topicOf(filter, value);
    const known = this.#topics.get(topic);
    if (known?.has(subscriber) === true) return;
    this.length += value?.length ?? 0;
    if (known !== undefined) {
      known.add(subscriber);
      return;
    }
    this.#topics.set(topic, new Set([subscriber]));
    if (value !== undefined) this.#quietly(() => this.#watchers.get(filter)?.watched(value));
  }

  unsubscribe(subscriber: Subscriber, filter: string, value?: string): void {
    const topic = topicOf(filter, value);
    const known = this.#topics.get(topic);
    if (known?.delete(subscriber) !== true) return;
    this.length -= value?.length ?? 0;
    if (known.size > 0) return;
    this.#topics.delete(topic);
    if (value !== undefined) this.#quietly(() => this.#watchers.get(filter)?.unwatched(value));
  }

  /** Delivers a change to its subscribers: here at once, on other nodes through the storage. */
  publish(change: PublishedChange): void {
    this.#relay?.publish(change);
    this.deliver(change);
  }

  /** Delivers a change to its subscribers on this node. */
  deliver(change: PublishedChange): void {
    this.refresh?.();
    const notice = new Notice(change);
    // Copied, because a subscriber that is too slow is removed during delivery.
    const topic = this.#topics.get(topicOf(change.filter, change.value));
    if (topic !== undefined) for (const subscriber of [...topic]) this.#hear(subscriber, notice);
    if (change.value !== undefined || !LIST_FILTERS.has(change.filter)) return;
    for (const subscriber of [...this.#everything]) this.#hear(subscriber, notice);
  }

  /** Announces that a list changed, once for all changes in one turn of the event loop. */
  listChanged(list: ListName): void {
    if (!CHANGING_LISTS.includes(list)) {
      throw new McpError("invalid_definition", `"${String(list)}" is not the name of a list`, {
        fix: `Pass one of ${CHANGING_LISTS.join(", ")}.`,
      });
    }
    // Nothing is scheduled without subscribers, because some runtimes forbid timers while modules load.
    if (!this.#hasSubscribers(list)) return;
    this.#changed.add(list);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#facts.platform.defer(() => {
      this.#scheduled = false;
      const changed = [...this.#changed];
      this.#changed.clear();
      for (const name of changed) this.publish(listNotice(name));
    });
  }

  /** Stops receiving changes from other nodes. */
  close(): void | Promise<void> {
    return this.#relay?.detach();
  }

  #hasSubscribers(list: ListName): boolean {
    if (this.#everything.size > 0 || this.#topics.has(topicOf(listNotice(list).filter))) return true;
    // Other nodes may have subscribers, but this node publishes to them only once it serves clients itself.
    return this.#relay?.attached === true;
  }

  #hear(subscriber: Subscriber, notice: Notice): void {
    try {
      subscriber.hear(notice);
    } catch (error) {
      this.#warn(error);
    }
  }

  #quietly(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#warn(error);
    }
  }

  #warn(error: unknown): void {
    this.#facts.platform.warn(`a subscription failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function topicOf(filter: string, value?: string): string {
  return value === undefined ? filter : `${filter} ${value}`;
}

/** Carries changes between the nodes that share a storage. */
class HubRelay {
  readonly #facts: ServerFacts;
  readonly #storage: Storage;
  readonly #deliver: (change: PublishedChange) => void;
  /** Marks this node's own messages, because a node receives those too. */
  #node: string | undefined;
  #attaching: Promise<void> | undefined;
  #unsubscribe: Unsubscribe | undefined;

  constructor(facts: ServerFacts, storage: Storage, deliver: (change: PublishedChange) => void) {
    this.#facts = facts;
    this.#storage = storage;
    this.#deliver = deliver;
  }

  get attached(): boolean {
    return this.#unsubscribe !== undefined;
  }

  /** Subscribes to the storage, once however often it is called. Throws when that fails; the next call tries again. */
  attach(): void | Promise<void> {
    if (this.#unsubscribe !== undefined) return undefined;
    if (this.#attaching !== undefined) return this.#attaching;
    const subscribed = this.#storage.pubsub.subscribe(this.#topic(), (message) => this.#receive(message));
    if (!isThenable(subscribed)) {
      this.#unsubscribe = subscribed;
      return undefined;
    }
    this.#attaching = subscribed
      .then((unsubscribe) => {
        this.#unsubscribe = unsubscribe;
      })
      .finally(() => {
        this.#attaching = undefined;
      });
    return this.#attaching;
  }

  publish(change: PublishedChange): void {
    try {
      const published = this.#storage.pubsub.publish(this.#topic(), JSON.stringify({ from: this.#self(), change }));
      if (isThenable(published)) published.catch((error) => this.#failed(error));
    } catch (error) {
      this.#failed(error);
    }
  }

  async detach(): Promise<void> {
    await this.#attaching?.catch(() => undefined);
    const unsubscribe = this.#unsubscribe;
    this.#unsubscribe = undefined;
    await unsubscribe?.();
  }

  #topic(): string {
    return `server/${this.#facts.info.name}/changes`;
  }

  #self(): string {
    this.#node ??= this.#facts.randomId();
    return this.#node;
  }

  #receive(message: string): void {
    const change = readChange(message, this.#self());
    if (change !== undefined) this.#deliver(change);
  }

  #failed(error: unknown): void {
    this.#facts.platform.warn(`a change did not reach other nodes: ${String(error)}`);
  }
}

/** The change in a message of another node; undefined for this node's own messages and for malformed ones. */
function readChange(message: string, self: string): PublishedChange | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["from"] === self) return undefined;
  const change = value["change"];
  if (!isObject(change) || typeof change["filter"] !== "string" || typeof change["method"] !== "string") {
    return undefined;
  }
  // Delivery depends on the two members checked above; every node of a server writes the others the same way.
  return change as unknown as PublishedChange;
}
