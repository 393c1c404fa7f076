import type { Storage } from "@parley/mcp/storage";
import { createClient, createCluster } from "@redis/client";
import { clusterRoute } from "./cluster-route.js";
import { Commands } from "./commands.js";
import { KeyNames } from "./key-names.js";
import { RedisAppendLog } from "./redis-append-log.js";
import type { RedisClusterClient, RedisNode } from "./redis-client.js";
import { RedisKeyValue } from "./redis-key-value.js";
import { type CheckedOptions, checkRedisOptions, type RedisStorageOptions } from "./redis-options.js";
import { RedisPubSub } from "./redis-pub-sub.js";
import type { Route } from "./route.js";
import { MonotonicNumber } from "./script-numbers.js";
import { ALL_SCRIPTS } from "./scripts.js";
import { sentinelRoute } from "./sentinel-route.js";
import { serverRoute } from "./server-route.js";

/** A storage on Redis or Valkey. Close it, or its connections keep the process alive. */
export interface RedisStorage extends Storage {
  /** Ends subscriptions at once, then waits for pending calls, at most `timeoutMs`, and closes the connections. */
  close(): Promise<void>;
}

/**
 * Options of every connection, except the connections of a cluster client that the program passes. The client does not
 * queue commands while disconnected, because the storage queues them itself.
 */
const CONNECTION_OPTIONS = {
  disableOfflineQueue: true,
  maintNotifications: "disabled",
  // A timer per command would cost more than the command. The storage uses one timer for all commands.
  commandOptions: { timeout: 0 },
} as const;
/** Delay in milliseconds between the loss of a server and the refresh of the topology by the cluster client. */
const REFRESH_MS = 1_000;

/**
 * Creates a storage on a Redis or Valkey server, or on a cluster, that several processes can share. Connects on first
 * use and reconnects after every interruption. A call that Redis does not answer in time rejects with a
 * `StorageFailure`. If the memory of Redis is full, writes reject with a `StorageError`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/storage.md | Storage}
 */
export function redisStorage(options: RedisStorageOptions): RedisStorage {
  const checked = checkRedisOptions(options);
  const route = checked.isCluster ? routeToCluster(checked) : routeToServer(checked);
  const commands = new Commands(route, checked);
  const names = new KeyNames(checked.prefix);
  const numbers = new MonotonicNumber();
  const pubsub = new RedisPubSub(commands, names, route, checked);
  return {
    kv: new RedisKeyValue(commands, names, numbers),
    log: new RedisAppendLog(commands, names, numbers),
    pubsub,
    async close() {
      pubsub.close();
      await commands.close();
      route.close();
    },
  };
}

function routeToServer({ servers, client, connectMs, sentinel }: CheckedOptions): Route {
  const [server] = servers;
  const own = (socket: object | undefined) => ({
    ...CONNECTION_OPTIONS,
    socket: { ...socket, connectTimeout: connectMs, reconnectStrategy: false as const },
  });
  if (sentinel !== undefined) return sentinelRoute({ settings: sentinel, connectMs, own, prepare });
  // Safe: both are clients of `@redis/client`, of which `RedisNode` declares a part. The types of the package differ
  // between modules and versions.
  const given = client as unknown as RedisNode | undefined;
  const make = () =>
    given?.duplicate(own(given.options.socket)) ??
    (createClient({ ...server, ...own(server?.socket) }) as unknown as RedisNode);
  return serverRoute({ place: placeOf(server?.socket ?? given?.options.socket), connectMs, make, prepare });
}

function routeToCluster({ servers, client, connectMs }: CheckedOptions): Route {
  const [server] = servers;
  const { host: _host, port: _port, ...secure } = server?.socket ?? {};
  const reconnectStrategy = (retries: number) =>
    Math.min(50 * 2 ** Math.min(retries, 6), 2_000) * (0.5 + Math.random() / 2);
  const defaults = {
    ...server,
    ...CONNECTION_OPTIONS,
    socket: { ...secure, connectTimeout: connectMs, reconnectStrategy },
  };
  // Safe, as in `routeToServer`.
  const given = client as unknown as RedisClusterClient | undefined;
  const make = () =>
    given?.duplicate({ minimizeConnections: true }) ??
    (createCluster({
      rootNodes: servers.map(({ socket }) => ({ socket })),
      defaults,
      // Otherwise one server that is down would make the whole cluster unusable.
      minimizeConnections: true,
      topologyRefreshOnReconnectionAttemptStrategy: REFRESH_MS,
    }) as unknown as RedisClusterClient);
  const subscriber = (node: RedisNode) =>
    node.duplicate({
      ...CONNECTION_OPTIONS,
      socket: { ...node.options.socket, connectTimeout: connectMs, reconnectStrategy: false },
    });
  const place = servers.length === 0 ? "a cluster" : servers.map(({ socket }) => placeOf(socket)).join(", ");
  return clusterRoute({ place, connectMs, make, subscriber, prepare });
}

function placeOf(socket: object | undefined): string {
  const { host, port, path } = { host: "localhost", port: 6379, path: undefined, ...socket };
  return path ?? `${host}:${port}`;
}

/** Loads the scripts, so that commands can refer to them by digest, and warns if this Redis may evict data. */
async function prepare(node: RedisNode): Promise<void> {
  const [info] = await Promise.all([
    node.sendCommand(["INFO", "memory"]).catch(() => ""),
    ...ALL_SCRIPTS.map(({ source }) => node.sendCommand(["SCRIPT", "LOAD", source]).catch(() => "")),
  ]);
  const { maxmemory = "0", maxmemory_policy: policy = "noeviction" } = Object.fromEntries(
    [...String(info).matchAll(/^(maxmemory|maxmemory_policy):(.*?)\r?$/gm)].map(([, name, value]) => [name, value]),
  );
  if (maxmemory !== "0" && policy !== "noeviction") warnOfEviction(policy);
}

let hasWarned = false;

function warnOfEviction(policy: string): void {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    `Redis may drop sessions, events and tasks when its memory is full: its maxmemory-policy is ${policy}. Set it to noeviction.`,
    { type: "ParleyWarning", code: "PARLEY_REDIS_EVICTION" },
  );
}
