import { McpError } from "../../protocol/error.js";
import type { ServerConfig } from "../call/server-config.js";
import { CHANGING_LISTS, LIST_FILTERS, type ListName, listNotice, Notice, type PublishedChange } from "./change.js";
import { HubRelay } from "./hub-relay.js";

/** Receives changes. An error thrown by `receive` is reported and does not affect other subscribers. */
export interface Subscriber {
  receive(notice: Notice): void;
  /** Called when this node may have missed changes of other nodes, and the hub does not know which changes. */
  onGap?(): void;
}

/** Called when a value of a topic gets its first subscriber and when it loses its last one. */
export interface TopicWatcher {
  watched(value: string): void;
  unwatched(value: string): void;
  /** The change to publish so that subscribers read the value again. */
  changeOf(value: string): PublishedChange;
}

/**
 * Delivers the changes of one server to their subscribers. A topic is a member of a listen filter, with a value if the
 * member is a list. The hub does not know how a subscriber is connected.
 */
export class Hub {
  readonly #config: ServerConfig;
  readonly #topics = new Map<string, Set<Subscriber>>();
  /** Peers with one stream for all notifications. They receive every list change. */
  readonly #listSubscribers = new Set<Subscriber>();
  readonly #watchers = new Map<string, TopicWatcher>();
  readonly #relay: HubRelay | undefined;
  /** Lists that changed in this turn of the event loop. */
  readonly #changed = new Set<ListName>();
  #scheduled = false;
  /** Total length in characters of the values that all subscribers subscribe to. */
  valueLength = 0;
  /** Called before each delivery, to update the subscriptions. Set only if another node may have changed them. */
  refresh: (() => void) | undefined;

  constructor(config: ServerConfig) {
    this.#config = config;
    const { storage } = config.options;
    if (storage === undefined) return;
    this.#relay = new HubRelay(config, storage, {
      deliver: (change) => this.deliver(change),
      onGap: () => this.#notifyOfGap(),
    });
  }

  /** Resolves once this node receives the changes of other nodes. Undefined if there is nothing to wait for. */
  ready(): void | Promise<void> {
    return this.#relay?.attach();
  }

  /** Sets the watcher for all topics of one filter member. */
  watch(filter: string, watcher: TopicWatcher): void {
    this.#watchers.set(filter, watcher);
  }

  /** Subscribes to the changes of every list. */
  join(subscriber: Subscriber): void {
    this.#listSubscribers.add(subscriber);
  }

  leave(subscriber: Subscriber): void {
    this.#listSubscribers.delete(subscriber);
  }

  subscribe(subscriber: Subscriber, filter: string, value?: string): void {
    const topic = topicOf(filter, value);
    const known = this.#topics.get(topic);
    if (known?.has(subscriber) === true) return;
    this.valueLength += value?.length ?? 0;
    if (known !== undefined) {
      known.add(subscriber);
      return;
    }
    this.#topics.set(topic, new Set([subscriber]));
    if (value !== undefined) this.#guard(() => this.#watchers.get(filter)?.watched(value));
  }

  unsubscribe(subscriber: Subscriber, filter: string, value?: string): void {
    const topic = topicOf(filter, value);
    const known = this.#topics.get(topic);
    if (known?.delete(subscriber) !== true) return;
    this.valueLength -= value?.length ?? 0;
    if (known.size > 0) return;
    this.#topics.delete(topic);
    if (value !== undefined) this.#guard(() => this.#watchers.get(filter)?.unwatched(value));
  }

  /** Delivers a change to its subscribers: on this node at once, on other nodes through the storage. */
  publish(change: PublishedChange): void {
    this.#relay?.publish(change);
    this.deliver(change);
  }

  /** Delivers a change to its subscribers on this node. */
  deliver(change: PublishedChange): void {
    this.refresh?.();
    this.#deliver(change);
  }

  #deliver(change: PublishedChange): void {
    const notice = new Notice(change);
    // The set is copied, because delivery may remove subscribers that are too slow.
    const topic = this.#topics.get(topicOf(change.filter, change.value));
    if (topic !== undefined) for (const subscriber of [...topic]) this.#deliverTo(subscriber, notice);
    if (change.value !== undefined || !LIST_FILTERS.has(change.filter)) return;
    for (const subscriber of [...this.#listSubscribers]) this.#deliverTo(subscriber, notice);
  }

  /** Notifies one subscriber that a value it watches may have changed. */
  notifyAgain(subscriber: Subscriber, filter: string, value: string): void {
    const watcher = this.#watchers.get(filter);
    if (watcher !== undefined) this.#deliverTo(subscriber, new Notice(watcher.changeOf(value)));
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
    this.#config.platform.defer(() => {
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

  /**
   * Notifies every subscriber of a possible change, because this node may have missed changes of other nodes. A
   * superfluous notification costs one read. A missing notification leaves the subscriber with old data.
   */
  #notifyOfGap(): void {
    this.refresh?.();
    for (const list of CHANGING_LISTS) this.#deliver(listNotice(list));
    for (const [topic, subscribers] of [...this.#topics]) {
      const [filter = "", value] = topic.split(/ (.*)/s, 2);
      const watcher = this.#watchers.get(filter);
      if (value !== undefined && watcher !== undefined) this.#deliver(watcher.changeOf(value));
      else for (const subscriber of [...subscribers]) this.#guard(() => subscriber.onGap?.());
    }
  }

  #hasSubscribers(list: ListName): boolean {
    if (this.#listSubscribers.size > 0 || this.#topics.has(topicOf(listNotice(list).filter))) return true;
    // Other nodes may have subscribers, but this node publishes to them only after its relay has subscribed to the
    // storage.
    return this.#relay?.attached === true;
  }

  #deliverTo(subscriber: Subscriber, notice: Notice): void {
    try {
      subscriber.receive(notice);
    } catch (error) {
      this.#warn(error);
    }
  }

  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#warn(error);
    }
  }

  #warn(error: unknown): void {
    this.#config.platform.warn(`a subscription failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function topicOf(filter: string, value?: string): string {
  return value === undefined ? filter : `${filter} ${value}`;
}

/**
 * Notifies the subscribers of a filter that an extension of this server adds. Throws if no extension has the filter.
 */
export function publishChange({ options }: ServerConfig, hub: Hub, change: PublishedChange): void {
  const filters = (options.extensions ?? []).flatMap((extension) => extension.listenFilters ?? []);
  if (!filters.includes(change.filter)) {
    throw new McpError("invalid_definition", `no extension of this server has the filter "${change.filter}"`, {
      fix: "List it in `listenFilters` of an extension in `extensions`; lists and resources have `listChanged` and `resourceUpdated`.",
    });
  }
  hub.publish(change);
}
