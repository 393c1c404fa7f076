import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Systems take the ports of outgoing connections, and those of `listen(0)`, from above: Linux from 32768, others from 49152. */
const RANGE = [20_000, 32_768] as const;
const ATTEMPTS = 50;

/**
 * A port that nothing listens on: what protects a server must know its address before it is served. Nobody else is given it by
 * chance before it is used, or while a server that listened there is started again.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(...RANGE);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port between ${RANGE.join(" and ")} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
  });
  if (listens) await new Promise((resolve) => server.close(resolve));
  return listens;
}
