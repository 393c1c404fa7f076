import { connect, createServer, type Server, type Socket } from "node:net";

/** One address in front of several servers, as a proxy or a name has it: a change of its target concerns new connections only. */
export interface Forwarder {
  readonly port: number;
  /** The port that new connections lead to. */
  target: number;
  stop(): Promise<void>;
}

export async function startForwarder(target: number): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((incoming) => {
    const outgoing = connect(forwarder.target, "127.0.0.1");
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a server on TCP has a port");
  const forwarder: Forwarder = {
    port: address.port,
    target,
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
  return forwarder;
}
