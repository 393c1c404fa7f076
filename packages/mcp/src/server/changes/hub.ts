import { notificationText, subscriptionNotification } from "../../era/notification.js";
import type { Id } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { ServerCore } from "../call/core.js";
import { HubRelay } from "./hub-relay.js";

/** The lists whose changes are announced. Templates belong to resources. */
export type ListName = "tools" | "prompts" | "resources";

const LISTS: readonly ListName[] = ["tools", "prompts", "resources"];

/** What is announced when a list changed: the member of a listen filter that asks for it, and the notification. */
export function listNotice(list: ListName): { filter: string; method: string } {
  return { filter: `${list}ListChanged`, method: `notifications/${list}/list_changed` };
}

/** Something that happened, for whoever asked to hear of it. */
export interface Change {
  /** The member of a listen filter that asks for it, for example `toolsListChanged` or `resourceSubscriptions`. */
  readonly filter: string;
  /** Where the filter's member is a list: the one value in it that is meant. */
  readonly value?: string;
  readonly method: string;
  readonly params?: object;
}

/** A change as text: serialised once, however many subscribers there are. */
export class Notice {
  readonly change: Change;
  #plain: string | undefined;
  #tagged: ((subscription: Id) => string) | undefined;

  constructor(change: Change) {
    this.change = change;
  }

  /** For a peer that has one stream for everything. */
  get plain(): string {
    this.#plain ??= notificationText(this.change.method, this.change.params);
    return this.#plain;
  }

  /** For one of several subscriptions. */
  tagged(subscription: Id): string {
    this.#tagged ??= subscriptionNotification(this.change.method, this.change.params);
    return this.#tagged(subscription);
  }
}

/** Hears of changes. `hear` may do nothing; what it throws is reported and stops nobody else. */
export interface Subscriber {
  hear(notice: Notice): void;
}

/** Told when a topic gets its first subscriber and loses its last one. */
export interface TopicWatcher {
  watched(value: string): void;
  unwatched(value: string): void;
}

/**
 * Who wants to hear of what, and the one way by which they do. A topic is a filter's member, with a value where the
 * member is a list. It belongs to a server and knows its subscribers, not their connections.
 */
export class Hub {
  readonly #core: ServerCore;
  readonly #topics = new Map<string, Set<Subscriber>>();
  /** Peers with one stream for everything: they hear of every list. */
  readonly #everything = new Set<Subscriber>();
  readonly #watchers = new Map<string, TopicWatcher>();
  readonly #relay: HubRelay | undefined;
  /** Lists that changed in this turn. */
  readonly #changed = new Set<ListName>();
  #scheduled = false;
  /** Called before something is delivered, where subscriptions may have changed elsewhere. */
  refresh: (() => void) | undefined;

  constructor(core: ServerCore) {
    this.#core = core;
    const { storage } = core.options;
    if (storage !== undefined) this.#relay = new HubRelay(core, storage, (change) => this.tell(change));
  }

  /** Settles when changes on other nodes are heard here; at once where there are none. */
  ready(): void | Promise<void> {
    return this.#relay?.attach();
  }

  /** Names who looks after the topics of a filter's member. */
  watch(filter: string, watcher: TopicWatcher): void {
    this.#watchers.set(filter, watcher);
  }

  /** Lets a subscriber hear of every list. */
  join(subscriber: Subscriber): void {
    this.#everything.add(subscriber);
  }

  leave(subscriber: Subscriber): void {
    this.#everything.delete(subscriber);
  }

  subscribe(subscriber: Subscriber, filter: string, value?: string): void {
    const topic = topicOf(filter, value);
    const known = this.#topics.get(topic);
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
    if (known?.delete(subscriber) !== true || known.size > 0) return;
    this.#topics.delete(topic);
    if (value !== undefined) this.#quietly(() => this.#watchers.get(filter)?.unwatched(value));
  }

  /** Tells everybody who asked for it, here at once and on other nodes by the storage. */
  publish(change: Change): void {
    this.#relay?.publish(change);
    this.tell(change);
  }

  /** Tells everybody on this node who asked for it. */
  tell(change: Change): void {
    this.refresh?.();
    const notice = new Notice(change);
    // Copied, because a subscriber that is cut off for being slow leaves while the others are told.
    const topic = this.#topics.get(topicOf(change.filter, change.value));
    if (topic !== undefined) for (const subscriber of [...topic]) this.#hear(subscriber, notice);
    if (change.value !== undefined) return;
    for (const subscriber of [...this.#everything]) this.#hear(subscriber, notice);
  }

  /** A list changed. Told once for all changes of one turn of the event loop. */
  listChanged(list: ListName): void {
    if (!LISTS.includes(list)) {
      throw new McpError("invalid_definition", `there is no list of ${String(list)}`, {
        fix: `Name one of ${LISTS.join(", ")}.`,
      });
    }
    // While nobody can hear it nothing is scheduled: some runtimes have no timers while modules load.
    if (!this.#heard(list)) return;
    this.#changed.add(list);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#core.platform.defer(() => {
      this.#scheduled = false;
      const changed = [...this.#changed];
      this.#changed.clear();
      for (const name of changed) this.publish(listNotice(name));
    });
  }

  /** Stops hearing other nodes. */
  close(): void | Promise<void> {
    return this.#relay?.detach();
  }

  #heard(list: ListName): boolean {
    if (this.#everything.size > 0 || this.#topics.has(topicOf(listNotice(list).filter))) return true;
    // Other nodes may have subscribers, but not before this one serves anybody.
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
    this.#core.platform.warn(`a subscription failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function topicOf(filter: string, value?: string): string {
  return value === undefined ? filter : `${filter} ${value}`;
}
