import type { Storage } from "./storage.js";

/** Waits for `turns` rounds of pending promise jobs. */
type Delay = (turns: number) => Promise<void>;

const microtasks: Delay = async (turns) => {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
};

/**
 * Wraps a storage so that every call settles late, as over a network. Each call stays atomic.
 *
 * For tests of code that uses a storage: code that was tested only with a memory storage may rely on synchronous answers.
 * Calls on keys and streams have different delays, so that later calls overtake earlier ones. Messages stay in order.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/testing.md | Testing}
 */
export function delayedStorage(storage: Storage, delay: Delay = microtasks): Storage {
  let calls = 0;
  const late = async <T>(run: () => T | Promise<T>): Promise<T> => {
    await delay(1 + (calls++ % 7));
    const result = await run();
    await delay(1 + (calls++ % 5));
    return result;
  };
  const { kv, log, pubsub } = storage;
  return {
    kv: {
      get: (key) => late(() => kv.get(key)),
      set: (key, value, options) => late(() => kv.set(key, value, options)),
      delete: (key, options) => late(() => kv.delete(key, options)),
      touch: (key, ttlMs) => late(() => kv.touch(key, ttlMs)),
    },
    log: {
      append: (stream, entry, limits) => late(() => log.append(stream, entry, limits)),
      read: (stream, afterId, limit) => late(() => log.read(stream, afterId, limit)),
      touch: (stream, ttlMs) => late(() => log.touch(stream, ttlMs)),
      drop: (stream) => late(() => log.drop(stream)),
    },
    pubsub: {
      async publish(topic, message) {
        await delay(3);
        await pubsub.publish(topic, message);
      },
      async subscribe(topic, deliver, onGap) {
        const stop = await late(() => pubsub.subscribe(topic, deliver, onGap));
        return () => late(() => stop());
      },
    },
    async close() {
      await storage.close?.();
    },
  };
}
