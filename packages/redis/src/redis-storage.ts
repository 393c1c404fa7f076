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
import { FreeNumber } from "./script-numbers.js";
import { ALL_SCRIPTS } from "./scripts.js";
import { sentinelRoute } from "./sentinel-route.js";
import { serverRoute } from "./server-route.js";

/** A storage on Redis or Valkey. It has to be closed, or its connections keep the process alive. */
export interface RedisStorage extends Storage {
  /** Ends subscriptions at once, and connections when the open calls are settled: at the latest after `timeoutMs`. */
  close(): Promise<void>;
}

/** Connections end with their first error; the storage makes new ones. Nothing waits in the client for a connection. */
const OF_EVERY_CONNECTION = {
  disableOfflineQueue: true,
  maintNotifications: "disabled",
  // A timer for each command would cost more than the command; the storage has one for all.
  commandOptions: { timeout: 0 },
} as const;
/** How soon a cluster looks for another server after one was lost. */
const REFRESH_MS = 1_000;

/**
 * Makes a storage on one Redis or Valkey, or on a cluster, for servers of several processes. It connects when it is first used,
 * and again after every interruption. A call that Redis does not answer in time ends with a `StorageFailure`, and a Redis whose
 * memory is full answers with a `StorageError`.
 */
export function redisStorage(options: RedisStorageOptions): RedisStorage {
  const checked = checkRedisOptions(options);
  const route = checked.isCluster ? routeToCluster(checked) : routeToServer(checked);
  const commands = new Commands(route, checked);
  const names = new KeyNames(checked.prefix);
  const numbers = new FreeNumber();
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
    ...OF_EVERY_CONNECTION,
    socket: { ...socket, connectTimeout: connectMs, reconnectStrategy: false as const },
  });
  if (sentinel !== undefined) return sentinelRoute({ settings: sentinel, connectMs, own, prepare });
  // Both are clients of `@redis/client`, of which the storage uses a part; its own types differ by modules and versions.
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
    ...OF_EVERY_CONNECTION,
    socket: { ...secure, connectTimeout: connectMs, reconnectStrategy },
  };
  // As above.
  const given = client as unknown as RedisClusterClient | undefined;
  const make = () =>
    given?.duplicate({ minimizeConnections: true }) ??
    (createCluster({
      rootNodes: servers.map(({ socket }) => ({ socket })),
      defaults,
      // Otherwise one server that is down would keep the whole cluster from being used.
      minimizeConnections: true,
      topologyRefreshOnReconnectionAttemptStrategy: REFRESH_MS,
    }) as unknown as RedisClusterClient);
  const subscriber = (node: RedisNode) =>
    node.duplicate({
      ...OF_EVERY_CONNECTION,
      socket: { ...node.options.socket, connectTimeout: connectMs, reconnectStrategy: false },
    });
  const place = servers.length === 0 ? "a cluster" : servers.map(({ socket }) => placeOf(socket)).join(", ");
  return clusterRoute({ place, connectMs, make, subscriber, prepare });
}

function placeOf(socket: object | undefined): string {
  const { host, port, path } = { host: "localhost", port: 6379, path: undefined, ...socket };
  return path ?? `${host}:${port}`;
}

/** Loads the scripts, so that no command has to bring one, and looks whether this Redis may lose what it was given. */
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
