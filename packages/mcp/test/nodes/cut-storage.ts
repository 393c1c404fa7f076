import { type Storage, StorageError, StorageFailure } from "@parley/mcp/storage";

/** How one node reaches the storage that others share. */
type Way =
  /** As over a good network. */
  | "open"
  /** Every call fails at once. */
  | "down"
  /** Every call waits, and fails after the time-out of a driver unless the way is open again before. */
  | "hangs"
  /** Nothing new can be stored. */
  | "full";

/** One node's way to a shared storage, as a driver over a network has it. */
export interface CutStorage extends Storage {
  way: Way;
  /** How long each call takes. */
  slowMs: number;
  /** The time-out of the driver. */
  timeoutMs: number;
  /** Loses the connection of the subscriptions: nothing is heard until `reconnect`. */
  disconnect(): void;
  /** Subscribes again, and tells every subscription of the gap. */
  reconnect(): void;
  /** Names of calls so far. */
  readonly calls: string[];
}

export function cutStorage(shared: Storage): CutStorage {
  let heard = true;
  const gaps = new Set<() => void>();
  const calls: string[] = [];
  const reach = async (writes: boolean): Promise<void> => {
    if (cut.slowMs > 0) await new Promise((resolve) => setTimeout(resolve, cut.slowMs));
    else await Promise.resolve();
    if (cut.way === "hangs") await opened();
    if (cut.way === "down" || cut.way === "hangs") {
      throw new StorageFailure("unavailable", "The storage cannot be reached.", "Start it.");
    }
    if (writes && cut.way === "full") throw new StorageError("maxmemory", 1, "Raise it.");
  };
  const opened = async () => {
    for (let waited = 0; cut.way === "hangs" && waited < cut.timeoutMs; waited += 10) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const call = async <T>(name: string, writes: boolean, run: () => T | Promise<T>): Promise<T> => {
    calls.push(name);
    await reach(writes);
    return run();
  };
  const { kv, log, pubsub } = shared;
  const cut: CutStorage = {
    way: "open",
    slowMs: 0,
    timeoutMs: 3000,
    calls,
    disconnect() {
      heard = false;
    },
    reconnect() {
      heard = true;
      for (const gap of gaps) gap();
    },
    kv: {
      get: (key) => call(`get ${key}`, false, () => kv.get(key)),
      set: (key, value, options) => call(`set ${key}`, true, () => kv.set(key, value, options)),
      delete: (key, options) => call(`delete ${key}`, false, () => kv.delete(key, options)),
      touch: (key, ttlMs) => call(`touch ${key}`, false, () => kv.touch(key, ttlMs)),
    },
    log: {
      append: (stream, entry, limits) => call(`append ${stream}`, true, () => log.append(stream, entry, limits)),
      read: (stream, afterId, limit) => call(`read ${stream}`, false, () => log.read(stream, afterId, limit)),
      touch: (stream, ttlMs) => call(`touch ${stream}`, false, () => log.touch(stream, ttlMs)),
      drop: (stream) => call(`drop ${stream}`, false, () => log.drop(stream)),
    },
    pubsub: {
      publish: (topic, message) => call(`publish ${topic}`, false, () => pubsub.publish(topic, message)),
      async subscribe(topic, deliver, onGap) {
        const gap = () => onGap?.();
        const stop = await call(`subscribe ${topic}`, false, () =>
          pubsub.subscribe(topic, (message) => void (heard && deliver(message))),
        );
        gaps.add(gap);
        return async () => {
          gaps.delete(gap);
          await stop();
        };
      },
    },
  };
  return cut;
}
