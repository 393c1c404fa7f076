import { LastingConnection } from "./lasting-connection.js";
import type { RedisNode } from "./redis-client.js";
import type { Route } from "./route.js";

export interface ServerRouteOptions {
  readonly place: string;
  readonly connectMs: number;
  readonly make: () => RedisNode;
  readonly prepare: (node: RedisNode) => Promise<unknown>;
}

/** The way to one server. */
export function serverRoute({ place, connectMs, make, prepare }: ServerRouteOptions): Route {
  const connection = new LastingConnection<RedisNode>({ make, prepare, connectMs, endsOnError: true });
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
    close: () => connection.close(),
  };
}
