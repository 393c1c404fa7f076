import { LastingConnection } from "./lasting-connection.js";
import type { RedisNode } from "./redis-client.js";
import type { Route } from "./route.js";

export interface ServerRouteOptions {
  readonly place: string;
  readonly connectMs: number;
  readonly make: () => RedisNode | Promise<RedisNode>;
  readonly prepare: (node: RedisNode) => Promise<unknown>;
}

/** The way to one server, or to the primary among several behind one address. */
export function serverRoute({ place, connectMs, make, prepare }: ServerRouteOptions): Route {
  let server: string | undefined;
  let isOther = false;
  let lostAt = 0;
  let moved: ((before: number) => void) | undefined;
  const connection = new LastingConnection<RedisNode>({
    make,
    async prepare(node) {
      const [info] = await Promise.all([node.sendCommand(["INFO", "server"]).catch(() => ""), prepare(node)]);
      const id = /^run_id:(\w+)/m.exec(String(info))?.[1];
      isOther = id !== undefined && server !== undefined && id !== server;
      server = id ?? server;
    },
    onReady: () => isOther && moved?.(lostAt),
    onLost() {
      lostAt = performance.now();
    },
    connectMs,
    endsOnError: true,
  });
  return {
    place,
    isSharded: false,
    get lastError() {
      return connection.lastError;
    },
    get downMs() {
      return connection.downMs;
    },
    use: (_key, send) => connection.whenReady(send),
    addressOf: () => place,
    subscriber: async () => make(),
    reset: (node, cause) => connection.reset(node, cause),
    retire: (node, cause) => connection.retire(node, cause),
    onMoved(act) {
      moved = act;
    },
    close: () => connection.close(),
  };
}
