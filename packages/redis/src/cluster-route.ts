import { hashTag } from "./key-names.js";
import { LastingConnection } from "./lasting-connection.js";
import type { RedisClusterClient, RedisMaster, RedisNode } from "./redis-client.js";
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

/** A call that waits for the connection to a server. */
interface Caller {
  readonly send: (node: RedisNode) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Calls for servers that are not connected, in their order. The client would let them wait for as long as a server is down, and
 * so keep them all; here they fail together after `connectMs`.
 */
class Waiting {
  readonly #callers = new Map<RedisMaster, Caller[]>();
  readonly #connectMs: number;

  constructor(connectMs: number) {
    this.#connectMs = connectMs;
  }

  /** Sends at once where the server is connected and nothing waits for it. */
  use(cluster: RedisClusterClient, master: RedisMaster, caller: Caller): void {
    const callers = this.#callers.get(master);
    if (callers !== undefined) callers.push(caller);
    else if (master.client?.isReady === true) caller.send(master.client);
    else this.#connect(cluster, master, [caller]);
  }

  #connect(cluster: RedisClusterClient, master: RedisMaster, callers: Caller[]): void {
    this.#callers.set(master, callers);
    const end = (tell: (caller: Caller) => void) => {
      if (this.#callers.get(master) !== callers) return;
      clearTimeout(timer);
      this.#callers.delete(master);
      callers.forEach(tell);
    };
    const timer = setTimeout(() => {
      const error = new Error(`no connection to ${master.address} within ${this.#connectMs} ms`);
      end(({ fail }) => fail(error));
      // Nobody has said that another server has taken over: only one that was connected before makes the client look.
      cluster._slots?.rediscover?.().catch(() => {});
    }, this.#connectMs);
    timer.unref();
    cluster.nodeClient(master).then(
      (node) => end(({ send }) => send(node)),
      (error: Error) => end(({ fail }) => fail(error)),
    );
  }
}

/** The way to the servers of a cluster. Its client finds them, and follows the slots that move. */
export function clusterRoute(options: ClusterRouteOptions): Route {
  let isSharded = true;
  const waiting = new Waiting(options.connectMs);
  const connection = new LastingConnection<RedisClusterClient>({
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
      // All are connected, and the first that answers is asked.
      const node = await Promise.any(cluster.masters.map((master) => cluster.nodeClient(master)));
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
    use: (key, send, fail) =>
      connection.whenReady((cluster) => {
        const master = cluster.slots[slotOf(key)]?.master;
        if (master === undefined) fail(new Error("CLUSTERDOWN no server answers for this key"));
        else waiting.use(cluster, master, { send, fail });
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
          if (master === undefined) return reject(new Error(`${address} is no master of the cluster`));
          waiting.use(cluster, master, { send: (node) => resolve(options.subscriber(node)), fail: reject });
        });
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
