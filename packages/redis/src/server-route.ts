import { Link } from "./link.js";
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
  const link = new Link<RedisNode>({ make, prepare, connectMs, endsOnError: true });
  return {
    place,
    isSharded: false,
    get lastError() {
      return link.lastError;
    },
    get downMs() {
      return link.downMs;
    },
    use: (_key, send) => link.whenReady(send),
    addressOf: () => place,
    subscriber: async () => make(),
    reset: (node, cause) => link.reset(node, cause),
    close: () => link.close(),
  };
}
