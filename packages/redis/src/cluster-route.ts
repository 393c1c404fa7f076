import { hashTag } from "./key-names.js";
import { LastingConnection } from "./lasting-connection.js";
import type { RedisClusterClient, RedisNode } from "./redis-client.js";
import type { Route } from "./route.js";

export interface ClusterRouteOptions {
  readonly place: string;
  readonly connectMs: number;
  readonly make: () => RedisClusterClient;
  readonly prepare: (node: RedisNode) => Promise<unknown>;
  /** Settings of connections for subscriptions, given those of the server's own connection. */
  readonly subscriber: (node: RedisNode) => RedisNode;
}

const SLOTS = 16_384;
/** Sharded messages exist from this version of Redis on; Valkey reports 7.2. */
const SHARDED_SINCE = 7;

/** The slot of a key, as Redis Cluster computes it: CRC-16/XMODEM of the hash tag or of the whole key. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of new TextEncoder().encode(hashTag(key) ?? key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

/** The connection to the server that holds a key. The client fails with a plain TypeError for a slot that no server has. */
async function nodeOf(cluster: RedisClusterClient, key: string): Promise<RedisNode> {
  try {
    return await cluster.getNodeClientForKey(key, false);
  } catch (error) {
    throw error instanceof TypeError
      ? new Error("CLUSTERDOWN no server answers for this key", { cause: error })
      : error;
  }
}

/** The way to the servers of a cluster. Its client finds them, and follows the slots that move. */
export function clusterRoute(options: ClusterRouteOptions): Route {
  let isSharded = true;
  const connection = new LastingConnection<RedisClusterClient>({
    make: options.make,
    connectMs: options.connectMs,
    endsOnError: false,
    async prepare(cluster) {
      const node = cluster.masters.find(({ client }) => client?.isReady)?.client;
      if (node === undefined) return;
      const version = /^redis_version:(\d+)/m.exec(String(await node.sendCommand(["INFO", "server"])))?.[1];
      isSharded = Number(version ?? SHARDED_SINCE) >= SHARDED_SINCE;
      await options.prepare(node);
    },
  });
  return {
    place: options.place,
    get isSharded() {
      return isSharded;
    },
    get lastError() {
      return connection.lastError;
    },
    get downMs() {
      return connection.downMs;
    },
    use: (key, send, fail) => connection.whenReady((cluster) => nodeOf(cluster, key).then(send, fail)),
    async follow(key, args) {
      const cluster = connection.client;
      if (cluster === undefined) throw new Error("The client is closed");
      return cluster.sendCommand(key, false, args);
    },
    addressOf: (key) => connection.client?.slots[slotOf(key)]?.master.address ?? options.place,
    subscriber: (key) =>
      new Promise((resolve, reject) => {
        connection.whenReady((cluster) => nodeOf(cluster, key).then(options.subscriber).then(resolve, reject));
      }),
    reset(node, cause) {
      for (const master of connection.client?.masters ?? []) {
        if (master.client !== node) continue;
        // The client of the cluster makes a new connection for a server that has none.
        master.client = undefined;
        connection.lastError = cause;
        node.destroy();
      }
    },
    close: () => connection.close(),
  };
}
