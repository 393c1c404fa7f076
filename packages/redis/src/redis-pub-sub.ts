import { type PubSub, StorageFailure, type Unsubscribe } from "@parley/mcp/storage";
import type { Commands } from "./commands.js";
import type { KeyNames } from "./key-names.js";
import { timeoutFailure, toFailure } from "./redis-failure.js";
import type { Route } from "./route.js";
import { Shard } from "./shard.js";
import { Topic, type TopicSubscriber } from "./topic.js";

/** First and longest delay before another attempt to subscribe to a topic, in milliseconds. */
const RETRY_MS = 100;
const MAX_RETRY_MS = 2_000;
/** Interval for checking that each topic is subscribed on the cluster server that holds it, in milliseconds. */
const PLACEMENT_CHECK_MS = 1_000;

export interface RedisPubSubOptions {
  readonly timeoutMs: number;
  readonly connectMs: number;
}

/** Topics as channels of Redis. Each channel is subscribed once for all subscribers of this process. */
export class RedisPubSub implements PubSub {
  readonly #commands: Commands;
  readonly #names: KeyNames;
  readonly #route: Route;
  readonly #options: RedisPubSubOptions;
  readonly #topics = new Map<string, Topic>();
  readonly #shards = new Map<string, Shard>();
  #placementTimer: ReturnType<typeof setInterval> | undefined;
  #closed = false;

  constructor(commands: Commands, names: KeyNames, route: Route, options: RedisPubSubOptions) {
    this.#commands = commands;
    this.#names = names;
    this.#route = route;
    this.#options = options;
    // Reconnect, because a server that is no longer the primary receives messages late, or not at all.
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
      throw closedFailure();
    }
    const topic = this.#topicOf(this.#names.topic(topicName));
    const subscriber: TopicSubscriber = { deliver, onGap, hasGap: false };
    topic.subscribers.add(subscriber);
    const stop = () => {
      if (topic.subscribers.delete(subscriber) && topic.subscribers.size === 0) this.#removeTopic(topic);
    };
    try {
      await this.#waitUntilLive(topic);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#placementTimer);
    for (const topic of this.#topics.values()) topic.rejectWaiting(closedFailure());
    this.#topics.clear();
    for (const shard of this.#shards.values()) shard.close();
    this.#shards.clear();
  }

  #topicOf(channel: string): Topic {
    const known = this.#topics.get(channel);
    if (known !== undefined) return known;
    const topic = new Topic(channel);
    this.#topics.set(channel, topic);
    void this.#subscribeTopic(topic);
    return topic;
  }

  #removeTopic(topic: Topic): void {
    if (this.#topics.get(topic.channel) === topic) this.#topics.delete(topic.channel);
    topic.connection?.remove(topic);
  }

  #waitUntilLive(topic: Topic): Promise<void> {
    if (topic.isLive) return Promise.resolve();
    const { timeoutMs } = this.#options;
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        topic.waiting.delete(waiter);
        reject(error instanceof StorageFailure ? error : toFailure(error, this.#route.place));
      };
      const timer = setTimeout(() => {
        const cause = topic.lastError ?? topic.connection?.lastError ?? this.#route.lastError;
        fail(timeoutFailure(timeoutMs, this.#route.place, topic.connection?.isConnected ?? false, cause));
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

  /**
   * Subscribes to a topic on the server that holds it. Retries until this succeeds or the topic has no subscribers.
   */
  async #subscribeTopic(topic: Topic): Promise<void> {
    while (!this.#closed && this.#topics.get(topic.channel) === topic) {
      try {
        await this.#shardOf(topic.channel).then((shard) => shard.add(topic));
        return;
      } catch (error) {
        // Connections reject only with errors.
        topic.lastError = error as Error;
        await retryDelay(topic);
      }
    }
  }

  /** Retries after a refusal, because earlier subscribers still need the messages. */
  async #subscribeLater(topic: Topic): Promise<void> {
    await retryDelay(topic);
    await this.#subscribeTopic(topic);
  }

  async #shardOf(channel: string): Promise<Shard> {
    // A cluster has no addresses until its topology is known, so wait for the answer to a command.
    if (this.#route.follow !== undefined) await this.#commands.sendIdempotent(channel, ["PTTL", channel]);
    const address = this.#route.addressOf(channel);
    let shard = this.#shards.get(address);
    if (shard === undefined) {
      const { connectMs, timeoutMs } = this.#options;
      shard = new Shard({
        isSharded: this.#route.isSharded && this.#route.follow !== undefined,
        make: () => this.#route.subscriber(address),
        deliver: (message, from) => this.#topics.get(from)?.deliver(message),
        onMoved: (topic) => void this.#subscribeTopic(topic),
        onRefused: (topic) => void this.#subscribeLater(topic),
        connectMs,
        timeoutMs,
      });
      this.#shards.set(address, shard);
      if (this.#route.follow !== undefined) this.#placementTimer ??= this.#watchPlacement();
    }
    return shard;
  }

  #watchPlacement(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => {
      for (const [address, shard] of this.#shards) {
        for (const topic of shard.topics) if (this.#route.addressOf(topic.channel) !== address) shard.moveAway(topic);
        if (shard.topics.size > 0) continue;
        this.#shards.delete(address);
        shard.close();
      }
    }, PLACEMENT_CHECK_MS);
    timer.unref();
    return timer;
  }
}

function retryDelay(topic: Topic): Promise<void> {
  const ms = Math.min(RETRY_MS * 2 ** Math.min(topic.failures++, 10), MAX_RETRY_MS);
  // This timer does not keep the process alive. While a call of `subscribe` waits, the timer of `#waitUntilLive` does.
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

function closedFailure(): StorageFailure {
  return new StorageFailure("unavailable", "This storage was closed.", "Create a new one with redisStorage.");
}
