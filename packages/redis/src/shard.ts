import { LastingConnection } from "./lasting-connection.js";
import type { MessageListener, RedisNode } from "./redis-client.js";
import { isReply, isTransient } from "./redis-failure.js";
import type { Topic, TopicPlace } from "./topic.js";

/** How often a connection that only listens is asked whether it still lives. */
const PING_MS = 5_000;
/** The most channels of one SUBSCRIBE, so that thousands do not hold the server up. */
const CHANNELS_AT_ONCE = 500;

export interface ShardOptions {
  readonly isSharded: boolean;
  readonly make: () => Promise<RedisNode>;
  readonly deliver: MessageListener;
  /** The server no longer holds this topic. */
  readonly onMoved: (topic: Topic) => void;
  /** The server does not subscribe this topic, at least not now. */
  readonly onRefused: (topic: Topic) => void;
  readonly connectMs: number;
  readonly timeoutMs: number;
}

/** The connection that listens to one server, and the topics on it. */
export class Shard implements TopicPlace {
  readonly topics = new Set<Topic>();
  readonly #options: ShardOptions;
  readonly #connection: LastingConnection<RedisNode>;
  /** By channel, the end of an UNSUBSCRIBE on the way: a new subscription waits for it. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  /** What the connection that is being made was asked to subscribe; some may leave before it is ready. */
  #preparing: readonly Topic[] = [];
  #ping: ReturnType<typeof setInterval> | undefined;

  constructor(options: ShardOptions) {
    this.#options = options;
    this.#connection = new LastingConnection<RedisNode>({
      make: options.make,
      prepare: (node) => this.#subscribeAll(node),
      onReady: (node) => {
        this.#unsubscribeLeft(node);
        this.#watch(node);
      },
      onLost: () => this.#lost(),
      endsOnError: true,
      connectMs: options.connectMs,
    });
  }

  get lastError(): Error | undefined {
    return this.#connection.lastError;
  }

  get isConnected(): boolean {
    return this.#connection.client !== undefined;
  }

  /** Subscribes a topic; later interruptions are the shard's own business. Rejects if this connection cannot. */
  async add(topic: Topic): Promise<void> {
    topic.place = this;
    this.topics.add(topic);
    const node = await new Promise<RedisNode>((resolve) => this.#connection.whenReady(resolve));
    await this.#leaving.get(topic.channel);
    if (topic.isLive || !this.topics.has(topic)) return;
    try {
      await this.#subscribe(node, [topic.channel]);
      if (this.#connection.client === node) this.#live(topic);
    } catch (error) {
      if (this.#refused(topic, error)) return;
      // If the connection was lost, the next one subscribes all of its topics.
      if (this.#connection.client === node) throw error;
    }
  }

  remove(topic: Topic): void {
    if (!this.topics.delete(topic)) return;
    const node = this.#connection.client;
    if (node !== undefined) this.#unsubscribe(node, topic);
  }

  #unsubscribe(node: RedisNode, { channel }: Topic): void {
    const { isSharded, deliver } = this.#options;
    const left = (isSharded ? node.sUnsubscribe(channel, deliver) : node.unsubscribe(channel, deliver)).catch(() => {});
    this.#leaving.set(channel, left);
    void left.then(() => {
      if (this.#leaving.get(channel) === left) this.#leaving.delete(channel);
    });
  }

  /** Hands a topic on that another server holds now. */
  expel(topic: Topic): void {
    if (!this.topics.has(topic)) return;
    topic.setLost();
    this.remove(topic);
    this.#options.onMoved(topic);
  }

  /** Subscribes all topics again on a new connection, if this one was made before a time of `performance.now()`. */
  reconnect(before: number): void {
    const node = this.#connection.client;
    if (node !== undefined && this.#connection.readyAt < before)
      this.#connection.reset(node, new Error("the address leads to another server now"));
  }

  close(): void {
    clearInterval(this.#ping);
    this.topics.clear();
    this.#connection.close();
  }

  async #subscribeAll(node: RedisNode): Promise<void> {
    node.on("sharded-channel-moved", (channel: string) => {
      for (const topic of this.topics) if (topic.channel === channel) this.expel(topic);
    });
    const topics = [...this.topics];
    this.#preparing = topics;
    // Channels of different slots cannot share one SSUBSCRIBE.
    const size = this.#options.isSharded ? 1 : CHANNELS_AT_ONCE;
    const groups = Array.from({ length: Math.ceil(topics.length / size) }, (_, at) =>
      topics.slice(at * size, (at + 1) * size),
    );
    await Promise.all(groups.map((group) => this.#subscribeGroup(node, group)));
  }

  async #subscribeGroup(node: RedisNode, group: Topic[]): Promise<void> {
    try {
      await this.#subscribe(
        node,
        group.map(({ channel }) => channel),
      );
      for (const topic of group) this.#live(topic);
    } catch (error) {
      const refused = group.filter((topic) => this.#refused(topic, error));
      if (refused.length < group.length) throw error;
    }
  }

  #subscribe(node: RedisNode, channels: string[]): Promise<void> {
    const { isSharded, deliver } = this.#options;
    return isSharded ? node.sSubscribe(channels, deliver) : node.subscribe(channels, deliver);
  }

  #unsubscribeLeft(node: RedisNode): void {
    const left = this.#preparing.filter((topic) => !this.topics.has(topic));
    this.#preparing = [];
    if (left.length === 0) return;
    const wanted = new Set([...this.topics].map(({ channel }) => channel));
    for (const topic of left) if (!wanted.has(topic.channel)) this.#unsubscribe(node, topic);
  }

  #live(topic: Topic): void {
    if (this.topics.has(topic)) topic.setLive();
  }

  /** Whether the server itself has said no: for another server to hear, or for those who wait. */
  #refused(topic: Topic, error: unknown): boolean {
    if (!(error instanceof Error && isReply(error))) return false;
    if (error.message.startsWith("MOVED")) this.expel(topic);
    else if (this.topics.delete(topic)) {
      if (isTransient(error)) topic.lastError = error;
      else topic.refuse(error);
      this.#options.onRefused(topic);
    }
    return true;
  }

  #lost(): void {
    clearInterval(this.#ping);
    this.#leaving.clear();
    for (const topic of this.topics) topic.setLost();
  }

  /** A listener that hears nothing cannot tell silence from a cut; the answer to a PING can. */
  #watch(node: RedisNode): void {
    clearInterval(this.#ping);
    this.#ping = setInterval(() => {
      const late = setTimeout(() => {
        this.#connection.reset(node, new Error(`no answer to PING within ${this.#options.timeoutMs} ms`));
      }, this.#options.timeoutMs);
      late.unref();
      const answered = () => clearTimeout(late);
      node.sendCommand(["PING"]).then(answered, answered);
    }, PING_MS);
    this.#ping.unref();
  }
}
