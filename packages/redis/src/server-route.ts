import { ReconnectingConnection } from "./reconnecting-connection.js";
import type { RedisNode } from "./redis-client.js";
import type { Route } from "./route.js";

export interface ServerRouteOptions {
  readonly place: string;
  readonly connectMs: number;
  readonly make: () => RedisNode | Promise<RedisNode>;
  readonly prepare: (node: RedisNode) => Promise<unknown>;
}

/** Routes to one server, or to the primary of several servers that share one address. */
export function serverRoute({ place, connectMs, make, prepare }: ServerRouteOptions): Route {
  let server: string | undefined;
  let isNewServer = false;
  let lostAt = 0;
  let moved: ((before: number) => void) | undefined;
  const connection = new ReconnectingConnection<RedisNode>({
    make,
    async prepare(node) {
      const [info] = await Promise.all([node.sendCommand(["INFO", "server"]).catch(() => ""), prepare(node)]);
      const id = /^run_id:(\w+)/m.exec(String(info))?.[1];
      isNewServer = id !== undefined && server !== undefined && id !== server;
      server = id ?? server;
    },
    onReady: () => isNewServer && moved?.(lostAt),
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
