import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

/** A port that nothing listens on: what protects a server must know its address before it is served. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on TCP has an address object.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
