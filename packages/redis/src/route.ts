import type { RedisNode } from "./redis-client.js";

/** The way to the server that holds a key. */
export interface Route {
  /** Host and port, without any secret. */
  readonly place: string;
  readonly lastError: Error | undefined;
  /** How long nothing could be reached. */
  readonly downMs: number;
  /** Whether messages go to the server that holds the topic, and not to all of a cluster. */
  readonly isSharded: boolean;
  /** Calls `send` at once, or as soon as the server can be reached; calls for one server keep their order. */
  use(key: string, send: (node: RedisNode) => void, fail: (error: Error) => void): void;
  /** Sends a command to the new place of a key. Only a cluster has it. */
  readonly follow?: (key: string, args: readonly string[]) => Promise<unknown>;
  /** The address of the server that holds a key, as far as it is known. */
  addressOf(key: string): string;
  /** Makes a connection to the server at an address, for subscriptions; it is not connected yet. */
  subscriber(address: string): Promise<RedisNode>;
  /** Gives a connection up that does not answer. */
  reset(node: RedisNode, cause: Error): void;
  /** Makes a new connection in place of one to a server that is not the primary. A cluster redirects instead. */
  readonly retire?: (node: RedisNode, cause: Error) => void;
  /**
   * Calls `act` when the address has come to lead to another server, with the time until which connections were made to the former
   * one, in milliseconds of `performance.now()`. A cluster redirects instead.
   */
  readonly onMoved?: (act: (before: number) => void) => void;
  close(): void;
}
