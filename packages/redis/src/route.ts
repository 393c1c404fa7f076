import type { RedisNode } from "./redis-client.js";

/** Finds the server that holds a key, and the connection to it. */
export interface Route {
  /** Host and port for messages, without credentials. */
  readonly place: string;
  /** The last connection error. */
  readonly lastError: Error | undefined;
  /** Time for which no server has been reachable, in milliseconds. 0 while connected. */
  readonly downMs: number;
  /**
   * True if a message goes only to the cluster server that holds its topic. False if a cluster broadcasts messages, and
   * for a single server.
   */
  readonly isSharded: boolean;
  /** Calls `send` now or as soon as the server is reachable. Calls for the same server stay in order. */
  use(key: string, send: (node: RedisNode) => void, fail: (error: Error) => void): void;
  /** Sends a command to the server that a key has moved to. Only for clusters. */
  readonly follow?: (key: string, args: readonly string[]) => Promise<unknown>;
  /** Address of the server that holds a key. Falls back to `place` if the address is not known yet. */
  addressOf(key: string): string;
  /** Creates a connection for subscriptions to the server at an address. The caller connects it. */
  subscriber(address: string): Promise<RedisNode>;
  /** Drops a connection that does not respond. */
  reset(node: RedisNode, cause: Error): void;
  /** Replaces a connection to a server that is not the primary. Absent for clusters, which redirect instead. */
  readonly retire?: (node: RedisNode, cause: Error) => void;
  /**
   * Registers a callback that runs when another server has taken over the address. `act` receives a time in
   * milliseconds of `performance.now()`. Connections made before that time belong to the former server. Absent for
   * clusters, which redirect instead.
   */
  readonly onMoved?: (act: (before: number) => void) => void;
  /** Closes all connections. */
  close(): void;
}
