import { createConnection, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { type Storage, StorageError } from "@parley/mcp/storage";

/** A call of one method of a storage. */
interface Call {
  readonly id: number;
  readonly part: "kv" | "log" | "pubsub";
  readonly method: string;
  readonly args: readonly unknown[];
}

/** An answer to a call, or a message for a subscription. */
interface Said {
  readonly id?: number;
  readonly value?: unknown;
  readonly error?: { readonly message: string; readonly limit?: string };
  readonly subscription?: number;
  readonly message?: string;
}

type Methods = Record<string, (...args: unknown[]) => unknown>;

/** Serves a storage of this process to others over a socket in the file system; ends with the returned function. */
export async function serveStorage(storage: Storage, path: string): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const subscriptions = new Map<number, () => unknown>();
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      // The process at the other end is gone.
      for (const stop of subscriptions.values()) void stop();
    });
    // A process that is killed resets its connection, which the reader of lines would throw.
    createInterface(socket)
      .on("error", () => {})
      .on("line", (line) => void serve(storage, socket, subscriptions, JSON.parse(line) as Call));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
}

async function serve(
  storage: Storage,
  socket: Socket,
  subscriptions: Map<number, () => unknown>,
  { id, part, method, args }: Call,
): Promise<void> {
  const say = (said: Said) => socket.writable && socket.write(`${JSON.stringify(said)}\n`);
  try {
    if (method === "unsubscribe") {
      const subscription = Number(args[0]);
      await subscriptions.get(subscription)?.();
      subscriptions.delete(subscription);
      say({ id });
    } else if (method === "subscribe") {
      const deliver = (message: string) => void say({ subscription: id, message });
      subscriptions.set(id, await storage.pubsub.subscribe(String(args[0]), deliver));
      say({ id });
    } else {
      // Both ends are in this file.
      const methods = storage[part] as unknown as Methods;
      say({ id, value: await methods[method]?.(...args) });
    }
  } catch (error) {
    const { message, limit } = error as Partial<StorageError>;
    say({ id, error: { message: String(message), ...(limit === undefined ? {} : { limit }) } });
  }
}

/** The storage that another process serves at this path. */
export async function remoteStorage(path: string): Promise<Storage> {
  const socket = createConnection(path);
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  // It must not keep a process alive that has nothing else to do.
  socket.unref();
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const deliveries = new Map<number, (message: string) => void>();
  let next = 1;
  const reader = createInterface(socket).on("error", () => {});
  reader.on("line", (line) => {
    const { id = 0, value, error, subscription, message = "" } = JSON.parse(line) as Said;
    if (subscription !== undefined) {
      try {
        deliveries.get(subscription)?.(message);
      } catch {
        // The others are still to be told.
      }
      return;
    }
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(error.limit === undefined ? new Error(error.message) : new StorageError(error.limit, 0, ""));
  });
  const end = () => {
    for (const { reject } of waiting.values()) reject(new Error("the storage is gone"));
    waiting.clear();
  };
  socket.on("close", end).on("error", end);
  const ask = (part: Call["part"], method: string, ...args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject });
      // JSON would make null of what was left out.
      const given = args.filter((arg) => arg !== undefined);
      socket.write(`${JSON.stringify({ id, part, method, args: given })}\n`);
    });
  const methodsOf = (part: Call["part"], names: string): Methods =>
    Object.fromEntries(names.split(" ").map((name) => [name, (...args: unknown[]) => ask(part, name, ...args)]));
  return {
    // Each method takes and gives what the storage at the other end does.
    kv: methodsOf("kv", "get set delete touch") as unknown as Storage["kv"],
    log: methodsOf("log", "append read touch drop") as unknown as Storage["log"],
    pubsub: {
      publish: async (topic, message) => void (await ask("pubsub", "publish", topic, message)),
      async subscribe(topic, deliver) {
        const subscription = next;
        deliveries.set(subscription, deliver);
        await ask("pubsub", "subscribe", topic);
        return async () => {
          if (deliveries.delete(subscription)) await ask("pubsub", "unsubscribe", subscription);
        };
      },
    },
    close: () => void socket.destroy(),
  };
}
