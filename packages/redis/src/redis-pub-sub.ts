import { type PubSub, StorageFailure, type Unsubscribe } from "@parley/mcp/storage";
import type { Commands } from "./commands.js";
import type { KeyNames } from "./key-names.js";
import { timeOut, toFailure } from "./redis-failure.js";
import type { Route } from "./route.js";
import { Shard } from "./shard.js";
import { Topic, type TopicEnd } from "./topic.js";

/** The first wait before a topic that could not be subscribed is tried again, and the longest. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 2_000;
/** How often the place of topics in a cluster is compared with that of their subscriptions. */
const LOOK_MS = 1_000;

export interface RedisPubSubOptions {
  readonly timeoutMs: number;
  readonly connectMs: number;
}

/** Topics as channels of Redis: each is subscribed once for all that listen in this process. */
export class RedisPubSub implements PubSub {
  readonly #commands: Commands;
  readonly #names: KeyNames;
  readonly #route: Route;
  readonly #options: RedisPubSubOptions;
  readonly #topics = new Map<string, Topic>();
  readonly #shards = new Map<string, Shard>();
  #look: ReturnType<typeof setInterval> | undefined;
  #closed = false;

  constructor(commands: Commands, names: KeyNames, route: Route, options: RedisPubSubOptions) {
    this.#commands = commands;
    this.#names = names;
    this.#route = route;
    this.#options = options;
    // A server that is no longer the primary gets messages late, or none.
    route.onMoved?.((before) => {
      for (const shard of this.#shards.values()) shard.reconnect(before);
    });
  }

  async publish(topic: string, message: string): Promise<void> {
    const channel = this.#names.topic(topic);
    await this.#commands.sendInOrder(channel, [this.#route.isSharded ? "SPUBLISH" : "PUBLISH", channel, message]);
  }

  async subscribe(topicName: string, deliver: (message: string) => void, onGap?: () => void): Promise<Unsubscribe> {
    if (this.#closed) {
      throw closed();
    }
    const topic = this.#topicOf(this.#names.topic(topicName));
    const end: TopicEnd = { deliver, onGap, isBehind: false };
    topic.ends.add(end);
    const stop = () => {
      if (topic.ends.delete(end) && topic.ends.size === 0) this.#leave(topic);
    };
    try {
      await this.#untilLive(topic);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#look);
    for (const topic of this.#topics.values()) topic.refuse(closed());
    this.#topics.clear();
    for (const shard of this.#shards.values()) shard.close();
    this.#shards.clear();
  }

  #topicOf(channel: string): Topic {
    const known = this.#topics.get(channel);
    if (known !== undefined) return known;
    const topic = new Topic(channel);
    this.#topics.set(channel, topic);
    void this.#place(topic);
    return topic;
  }

  #leave(topic: Topic): void {
    if (this.#topics.get(topic.channel) === topic) this.#topics.delete(topic.channel);
    topic.place?.remove(topic);
  }

  #untilLive(topic: Topic): Promise<void> {
    if (topic.isLive) return Promise.resolve();
    const { timeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        topic.waiting.delete(waiter);
        reject(error instanceof StorageFailure ? error : toFailure(error, this.#route.place));
      };
      const timer = setTimeout(() => {
        const cause = topic.lastError ?? topic.place?.lastError ?? this.#route.lastError;
        fail(timeOut(timeoutMs, this.#route.place, topic.place?.isConnected ?? false, cause));
      }, timeoutMs);
      const waiter = {
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
        reject: fail,
      };
      topic.waiting.add(waiter);
    });
  }

  /** Brings a topic to the connection of the server that holds it; tries again until nobody listens any more. */
  async #place(topic: Topic): Promise<void> {
    while (!this.#closed && this.#topics.get(topic.channel) === topic) {
      try {
        await this.#shardOf(topic.channel).then((shard) => shard.add(topic));
        return;
      } catch (error) {
        // Connections reject with errors only.
        topic.lastError = error as Error;
        await retryTime(topic);
      }
    }
  }

  /** Those who listened before must hear again, whatever the server has said this time. */
  async #placeAgain(topic: Topic): Promise<void> {
    await retryTime(topic);
    await this.#place(topic);
  }

  async #shardOf(channel: string): Promise<Shard> {
    // Until the cluster is known, it has no addresses.
    if (this.#route.follow !== undefined) await this.#commands.sendAgain(channel, ["PTTL", channel]);
    const address = this.#route.addressOf(channel);
    let shard = this.#shards.get(address);
    if (shard === undefined) {
      const { connectMs, timeoutMs } = this.#options;
      shard = new Shard({
        isSharded: this.#route.isSharded && this.#route.follow !== undefined,
        make: () => this.#route.subscriber(address),
        deliver: (message, from) => this.#topics.get(from)?.deliver(message),
        onMoved: (topic) => void this.#place(topic),
        onRefused: (topic) => void this.#placeAgain(topic),
        connectMs,
        timeoutMs,
      });
      this.#shards.set(address, shard);
      if (this.#route.follow !== undefined) this.#look ??= this.#watchPlaces();
    }
    return shard;
  }

  #watchPlaces(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => {
      for (const [address, shard] of this.#shards) {
        for (const topic of shard.topics) if (this.#route.addressOf(topic.channel) !== address) shard.expel(topic);
        if (shard.topics.size > 0) continue;
        this.#shards.delete(address);
        shard.close();
      }
    }, LOOK_MS);
    timer.unref();
    return timer;
  }
}

function retryTime(topic: Topic): Promise<void> {
  const ms = Math.min(RETRY_MS * 2 ** Math.min(topic.failures++, 10), MAX_RETRY_MS);
  // What waits for a subscription has a timer of its own, which keeps the process.
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

function closed(): StorageFailure {
  return new StorageFailure("unavailable", "This storage was closed.", "Make a new one with redisStorage.");
}
