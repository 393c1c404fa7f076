/** The part of a `@redis/client` connection that the storage uses. */
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

/** A primary server of a cluster. The cluster client connects to it on first use. */
export interface RedisMaster {
  readonly address: string;
  client?: RedisNode | undefined;
}

/** The part of a `@redis/client` cluster that the storage uses. */
export interface RedisClusterClient {
  readonly slots: readonly ({ readonly master: RedisMaster } | undefined)[];
  readonly masters: readonly RedisMaster[];
  /** Undocumented: refreshes the mapping of slots to servers. */
  readonly _slots?: { rediscover?(): Promise<unknown> };
  connect(): Promise<unknown>;
  close(): Promise<unknown>;
  destroy(): void;
  duplicate(overrides?: object): RedisClusterClient;
  /** Resolves when the server is connected, however long that takes. */
  nodeClient(master: RedisMaster): Promise<RedisNode>;
  sendCommand(key: string, isReadonly: boolean, args: readonly string[], options?: object): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/**
 * A client made by `createClient`, `createCluster` or `createSentinel` of `@redis/client` or `redis`. The storage opens
 * its own connections with the same settings and does not use the client itself.
 */
export interface ConfiguredClient {
  /** Creates another client with the same settings, for the connections of the storage. */
  duplicate(): unknown;
  /** Sends a command. The storage only checks that this member exists. */
  sendCommand: unknown;
}
