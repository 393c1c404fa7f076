import type { Server } from "../../src/server/server.js";
import type { Endpoint, Exchange, Peer } from "../../src/transport/transport.js";

/** A server whose peers and exchanges a test can see, and speak to. */
export interface Watched {
  endpoint: Endpoint;
  peers: Set<Peer>;
  exchanges: Exchange[];
}

export function watch(server: Pick<Server<object>, "endpoint">): Watched {
  const inner = server.endpoint();
  const peers = new Set<Peer>();
  const exchanges: Exchange[] = [];
  return {
    peers,
    exchanges,
    endpoint: {
      accept: (message, http) => inner.accept(message, http),
      request(accepted, exchange) {
        exchanges.push(exchange);
        return inner.request(accepted, exchange);
      },
      notification: (message, peer) => inner.notification(message, peer),
      opened(peer) {
        peers.add(peer);
        inner.opened(peer);
      },
      closed(peer) {
        peers.delete(peer);
        inner.closed(peer);
      },
    },
  };
}

/** A log message with a number, as the text that a peer says. */
export function note(n: number): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: n } });
}

/** Waits until something has happened that no event tells of; fails after about five seconds. */
export async function waitUntil(check: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 4000; turn++) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("it did not happen in time");
}

/** A promise and the function that settles it. */
export function gate(): { passed: Promise<void>; open: () => void } {
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
