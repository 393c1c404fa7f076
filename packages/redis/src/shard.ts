import { ReconnectingConnection } from "./reconnecting-connection.js";
import type { MessageListener, RedisNode } from "./redis-client.js";
import { isReply, isTransient } from "./redis-failure.js";
import type { Topic, TopicConnection } from "./topic.js";

/** Interval of pings on a connection that only receives messages, in milliseconds. */
const PING_MS = 5_000;
/** Maximum number of channels in one SUBSCRIBE, so that thousands of channels do not block the server. */
const MAX_CHANNELS_PER_COMMAND = 500;

export interface ShardOptions {
  readonly isSharded: boolean;
  readonly make: () => Promise<RedisNode>;
  readonly deliver: MessageListener;
  /** Called when another server now holds the topic. */
  readonly onMoved: (topic: Topic) => void;
  /** Called when the server rejects the subscription to the topic, temporarily or permanently. */
  readonly onRefused: (topic: Topic) => void;
  readonly connectMs: number;
  readonly timeoutMs: number;
}

/** The connection that receives messages from one server, and the topics subscribed on it. */
export class Shard implements TopicConnection {
  readonly topics = new Set<Topic>();
  readonly #options: ShardOptions;
  readonly #connection: ReconnectingConnection<RedisNode>;
  /** The pending UNSUBSCRIBE of each channel. A new subscription to the channel waits for it. */
  readonly #unsubscribing = new Map<string, Promise<unknown>>();
  /**
   * Topics to which the next connection subscribes while it is prepared. Some may be removed before the connection is
   * ready.
   */
  #preparing: readonly Topic[] = [];
  #ping: ReturnType<typeof setInterval> | undefined;

  constructor(options: ShardOptions) {
    this.#options = options;
    this.#connection = new ReconnectingConnection<RedisNode>({
      make: options.make,
      prepare: (node) => this.#subscribeAll(node),
      onReady: (node) => {
        this.#unsubscribeRemoved(node);
        this.#watch(node);
      },
      onLost: () => this.#onLost(),
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

  /**
   * Subscribes to a topic. The shard handles later interruptions itself. Reports a refusal by the server through
   * `onMoved` or `onRefused`. Rejects if subscribing fails for another reason while the connection stays open.
   */
  async add(topic: Topic): Promise<void> {
    topic.connection = this;
    this.topics.add(topic);
    const node = await new Promise<RedisNode>((resolve) => this.#connection.whenReady(resolve));
    await this.#unsubscribing.get(topic.channel);
    if (topic.isLive || !this.topics.has(topic)) return;
    try {
      await this.#subscribe(node, [topic.channel]);
      if (this.#connection.client === node) this.#setLive(topic);
    } catch (error) {
      if (this.#handleRefusal(topic, error)) return;
      // If the connection was lost, the next connection subscribes to all topics.
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
    this.#unsubscribing.set(channel, left);
    void left.then(() => {
      if (this.#unsubscribing.get(channel) === left) this.#unsubscribing.delete(channel);
    });
  }

  /** Removes a topic and calls `onMoved`, because another server now holds the topic. */
  moveAway(topic: Topic): void {
    if (!this.topics.has(topic)) return;
    topic.setLost();
    this.remove(topic);
    this.#options.onMoved(topic);
  }

  /**
   * Reconnects and resubscribes to all topics if the connection was made before the given time of `performance.now()`.
   */
  reconnect(before: number): void {
    const node = this.#connection.client;
    if (node !== undefined && this.#connection.readyAt < before)
      this.#connection.reset(node, new Error("the address now belongs to another server"));
  }

  close(): void {
    clearInterval(this.#ping);
    this.topics.clear();
    this.#connection.close();
  }

  async #subscribeAll(node: RedisNode): Promise<void> {
    node.on("sharded-channel-moved", (channel: string) => {
      for (const topic of this.topics) if (topic.channel === channel) this.moveAway(topic);
    });
    const topics = [...this.topics];
    this.#preparing = topics;
    // Channels of different slots cannot share one SSUBSCRIBE.
    const size = this.#options.isSharded ? 1 : MAX_CHANNELS_PER_COMMAND;
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
      for (const topic of group) this.#setLive(topic);
    } catch (error) {
      const refused = group.filter((topic) => this.#handleRefusal(topic, error));
      if (refused.length < group.length) throw error;
    }
  }

  #subscribe(node: RedisNode, channels: string[]): Promise<void> {
    const { isSharded, deliver } = this.#options;
    return isSharded ? node.sSubscribe(channels, deliver) : node.subscribe(channels, deliver);
  }

  #unsubscribeRemoved(node: RedisNode): void {
    const left = this.#preparing.filter((topic) => !this.topics.has(topic));
    this.#preparing = [];
    if (left.length === 0) return;
    const wanted = new Set([...this.topics].map(({ channel }) => channel));
    for (const topic of left) if (!wanted.has(topic.channel)) this.#unsubscribe(node, topic);
  }

  #setLive(topic: Topic): void {
    if (this.topics.has(topic)) topic.setLive();
  }

  /**
   * Handles a refusal by the server: moves the topic to another server, or removes it and calls `onRefused`. A removal
   * rejects the pending subscribers unless the error is transient. Returns false if the error is not a reply of the
   * server.
   */
  #handleRefusal(topic: Topic, error: unknown): boolean {
    if (!(error instanceof Error && isReply(error))) return false;
    if (error.message.startsWith("MOVED")) this.moveAway(topic);
    else if (this.topics.delete(topic)) {
      if (isTransient(error)) topic.lastError = error;
      else topic.rejectWaiting(error);
      this.#options.onRefused(topic);
    }
    return true;
  }

  #onLost(): void {
    clearInterval(this.#ping);
    this.#unsubscribing.clear();
    for (const topic of this.topics) topic.setLost();
  }

  /** Pings the server at intervals, because a silent connection may be a broken one. */
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
