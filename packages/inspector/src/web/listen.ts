import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Limits of a listener. */
export interface ListenLimits {
  /** Maximum time for receiving all headers of a request. */
  readonly headersMs: number;
  /** Maximum time for receiving a whole request with its body. */
  readonly requestMs: number;
  readonly connections: number;
}

const LIMITS: ListenLimits = { headersMs: 10_000, requestMs: 60_000, connections: 128 };

/** Listens on the loopback interface only. Rejects if the port is taken. */
export async function listenOnLoopback(
  port: number,
  answer: RequestListener,
  { host = "127.0.0.1", limits = {} }: { host?: "127.0.0.1" | "::1"; limits?: Partial<ListenLimits> | undefined } = {},
): Promise<Server> {
  const { headersMs, requestMs, connections } = { ...LIMITS, ...limits };
  const server = createServer(
    {
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      // Interval of the check for slow requests.
      connectionsCheckingInterval: Math.min(1_000, requestMs),
      insecureHTTPParser: false,
    },
    answer,
  );
  server.maxConnections = connections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return server;
}

/** Returns the port that a server listens on. */
export function portOf(server: Server): number {
  // Safe: a server that listens on a port, not on a socket file, has an `AddressInfo`.
  return (server.address() as AddressInfo).port;
}

/** Stops listening and closes every connection. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
