/** The part of a connection of `@redis/client` that the storage uses. */
export interface RedisNode {
  readonly isReady: boolean;
  readonly options: { readonly socket?: object };
  connect(): Promise<unknown>;
  close(): Promise<unknown>;
  destroy(): void;
  sendCommand(args: readonly string[], options?: object): Promise<unknown>;
  duplicate(overrides: object): RedisNode;
  on(event: string, listener: (...args: never[]) => void): unknown;
  subscribe(channels: string | string[], listener: MessageListener): Promise<void>;
  unsubscribe(channels: string | string[], listener: MessageListener): Promise<void>;
  sSubscribe(channels: string | string[], listener: MessageListener): Promise<void>;
  sUnsubscribe(channels: string | string[], listener: MessageListener): Promise<void>;
}

export type MessageListener = (message: string, channel: string) => void;

/** A server of a cluster; its connection is made when it is first needed. */
export interface RedisMaster {
  readonly address: string;
  client?: RedisNode | undefined;
}

/** The part of a cluster of `@redis/client` that the storage uses. */
export interface RedisClusterClient {
  readonly slots: readonly ({ readonly master: RedisMaster } | undefined)[];
  readonly masters: readonly RedisMaster[];
  /** Its own way to look where slots are now; not a documented part of it. */
  readonly _slots?: { rediscover?(): Promise<unknown> };
  connect(): Promise<unknown>;
  close(): Promise<unknown>;
  destroy(): void;
  duplicate(overrides?: object): RedisClusterClient;
  /** Settles when the server is connected, however long that takes. */
  nodeClient(master: RedisMaster): Promise<RedisNode>;
  sendCommand(key: string, isReadonly: boolean, args: readonly string[], options?: object): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/**
 * A client that `createClient`, `createCluster` or `createSentinel` of `@redis/client` (or of `redis`) has made. The storage opens connections
 * of its own with the same settings, and leaves the client itself alone.
 */
export interface ConfiguredClient {
  duplicate(): unknown;
  sendCommand: unknown;
}
