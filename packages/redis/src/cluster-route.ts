import { hashTag } from "./key-names.js";
import { ReconnectingConnection } from "./reconnecting-connection.js";
import type { RedisClusterClient, RedisMaster, RedisNode } from "./redis-client.js";
import type { Route } from "./route.js";

export interface ClusterRouteOptions {
  readonly place: string;
  readonly connectMs: number;
  readonly make: () => RedisClusterClient;
  readonly prepare: (node: RedisNode) => Promise<unknown>;
  /** Creates a connection for subscriptions, with the same settings as `node`. */
  readonly subscriber: (node: RedisNode) => RedisNode;
}

const SLOTS = 16_384;
/** First major version of Redis with sharded messages. Valkey has sharded messages too and reports 7.2. */
const MIN_SHARDED_VERSION = 7;

/** Computes the slot of a key like Redis Cluster: CRC-16/XMODEM of the hash tag or of the whole key. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of new TextEncoder().encode(hashTag(key) ?? key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

/** A call that waits for the connection to a server. */
interface QueuedCall {
  readonly send: (node: RedisNode) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Calls for servers that are not connected, in order. They fail together after `connectMs`. The client itself would
 * queue them for as long as the server is down.
 */
class ConnectionQueue {
  readonly #calls = new Map<RedisMaster, QueuedCall[]>();
  readonly #connectMs: number;

  constructor(connectMs: number) {
    this.#connectMs = connectMs;
  }

  /** Sends the call now if the server is connected and no earlier call waits for it. Otherwise queues the call. */
  use(cluster: RedisClusterClient, master: RedisMaster, call: QueuedCall): void {
    const calls = this.#calls.get(master);
    if (calls !== undefined) calls.push(call);
    else if (master.client?.isReady === true) call.send(master.client);
    else this.#connect(cluster, master, [call]);
  }

  #connect(cluster: RedisClusterClient, master: RedisMaster, calls: QueuedCall[]): void {
    this.#calls.set(master, calls);
    const settleAll = (settle: (call: QueuedCall) => void) => {
      if (this.#calls.get(master) !== calls) return;
      clearTimeout(timer);
      this.#calls.delete(master);
      calls.forEach(settle);
    };
    const timer = setTimeout(() => {
      const error = new Error(`no connection to ${master.address} within ${this.#connectMs} ms`);
      settleAll(({ fail }) => fail(error));
      // The client refreshes its topology only when it loses an existing connection, so refresh it here in case another
      // server took over.
      cluster._slots?.rediscover?.().catch(() => {});
    }, this.#connectMs);
    timer.unref();
    cluster.nodeClient(master).then(
      (node) => settleAll(({ send }) => send(node)),
      (error: Error) => settleAll(({ fail }) => fail(error)),
    );
  }
}

/** Routes to the servers of a cluster. The cluster client discovers them and follows moved slots. */
export function clusterRoute(options: ClusterRouteOptions): Route {
  let isSharded = true;
  const queue = new ConnectionQueue(options.connectMs);
  const connection = new ReconnectingConnection<RedisClusterClient>({
    make() {
      const cluster = options.make();
      cluster.on("node-error", (error: Error) => {
        connection.lastError = error;
      });
      return cluster;
    },
    connectMs: options.connectMs,
    endsOnError: false,
    async prepare(cluster) {
      // Connects to all servers and queries the first that is ready.
      const node = await Promise.any(cluster.masters.map((master) => cluster.nodeClient(master)));
      const version = /^redis_version:(\d+)/m.exec(String(await node.sendCommand(["INFO", "server"])))?.[1];
      isSharded = Number(version ?? MIN_SHARDED_VERSION) >= MIN_SHARDED_VERSION;
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
    use: (key, send, fail) =>
      connection.whenReady((cluster) => {
        const master = cluster.slots[slotOf(key)]?.master;
        if (master === undefined) fail(new Error("CLUSTERDOWN no server holds this key"));
        else queue.use(cluster, master, { send, fail });
      }),
    async follow(key, args) {
      const cluster = connection.client;
      if (cluster === undefined) throw new Error("The client is closed");
      return cluster.sendCommand(key, false, args);
    },
    addressOf: (key) => connection.client?.slots[slotOf(key)]?.master.address ?? options.place,
    subscriber: (address) =>
      new Promise((resolve, reject) => {
        connection.whenReady((cluster) => {
          const master = cluster.masters.find((one) => one.address === address);
          if (master === undefined) return reject(new Error(`${address} is not a primary of the cluster`));
          queue.use(cluster, master, { send: (node) => resolve(options.subscriber(node)), fail: reject });
        });
      }),
    reset(node, cause) {
      for (const master of connection.client?.masters ?? []) {
        if (master.client !== node) continue;
        // With `client` unset, the cluster client opens a new connection to this server.
        master.client = undefined;
        connection.lastError = cause;
        node.destroy();
      }
    },
    close: () => connection.close(),
  };
}
