import type { Storage } from "../../src/storage/storage.js";
import type { Prng } from "./prng.js";
import type { SimProcess } from "./sim-process.js";
import type { FullStorage } from "./trials.js";
import type { Lane, World } from "./world.js";

/** A storage that throws, as the one in memory does, whenever it is full. */
export function fullAtTimes({ kv, log, pubsub }: Storage, fullness: FullStorage): Storage {
  return {
    kv: {
      get: (key) => kv.get(key),
      set(key, value, options) {
        // What replaces something needs no more room.
        if (kv.get(key) === undefined) fullness.check();
        return kv.set(key, value, options);
      },
      delete: (key, options) => kv.delete(key, options),
      touch: (key, ttlMs) => kv.touch(key, ttlMs),
    },
    log: {
      append(stream, entry, limits) {
        fullness.check();
        return log.append(stream, entry, limits);
      },
      read: (stream, afterId, limit) => log.read(stream, afterId, limit),
      touch: (stream, ttlMs) => log.touch(stream, ttlMs),
      drop: (stream) => log.drop(stream),
    },
    pubsub,
  };
}

/** What goes wrong between a process and its storage. */
export interface StorageFaults {
  /** Whether a call that uses this key is refused, or is done although the process is told that it failed. */
  failure(key: string): "refused" | "done" | undefined;
  /** Whether a subscriber misses a message of this topic. */
  loses(topic: string): boolean;
}

/**
 * One process's view of a storage that outlives it, each call at one instant but with its answer late, as over a network.
 * A process that was killed reads and writes nothing any more.
 */
export function storageOf(
  world: World,
  process: SimProcess,
  shared: Storage,
  random: Prng,
  maxMs: number,
  faults?: StorageFaults,
): Storage {
  const messages: Lane = { last: 0 };
  const late: Late = <T>(name: string, run: () => T | Promise<T>, key = "") =>
    new Promise<T>((resolve, reject) => {
      world.after(random.next() * maxMs, `${process.name} asks storage to ${name}`, () => {
        if (!process.alive) return;
        const failure = faults?.failure(key);
        try {
          const result = failure === "refused" ? undefined : run();
          world.after(random.next() * maxMs, `storage ${failure ?? "answers"} ${process.name}`, () =>
            process.reach(() => {
              if (failure === undefined) resolve(result as T);
              else reject(new Error(`the simulated storage did not answer ${name} ${key}`));
            }),
          );
        } catch (error) {
          reject(error);
        }
      });
    });
  const { kv, log, pubsub } = shared;
  return {
    kv: {
      get: (key) => late("get", () => kv.get(key), key),
      set: (key, value, options) => late("set", () => kv.set(key, value, options), key),
      delete: (key, options) => late("delete", () => kv.delete(key, options), key),
      touch: (key, ttlMs) => late("touch", () => kv.touch(key, ttlMs), key),
    },
    log: {
      append: (stream, entry, limits) => late("append", () => log.append(stream, entry, limits)),
      read: (stream, afterId, limit) => late("read", () => log.read(stream, afterId, limit)),
      touch: (stream, ttlMs) => late("touch a log", () => log.touch(stream, ttlMs)),
      drop: (stream) => late("drop", () => log.drop(stream)),
    },
    pubsub: {
      publish: (topic, message) =>
        new Promise((resolve) => {
          // One publisher's messages keep their order.
          world.inOrder(messages, random.next() * maxMs, `${process.name} publishes`, () => {
            if (!process.alive) return;
            void pubsub.publish(topic, message);
            process.reach(resolve);
          });
        }),
      subscribe(topic, deliver) {
        const hear = (message: string) => {
          if (faults?.loses(topic) !== true) deliver(message);
        };
        return subscribe(world, process, shared, random, maxMs, topic, hear, late);
      },
    },
  };
}

type Late = <T>(name: string, run: () => T | Promise<T>, key?: string) => Promise<T>;

async function subscribe(
  world: World,
  process: SimProcess,
  { pubsub }: Storage,
  random: Prng,
  maxMs: number,
  topic: string,
  deliver: (message: string) => void,
  late: Late,
): Promise<() => Promise<void>> {
  const lane: Lane = { last: 0 };
  let stopped = false;
  const stop = await late("subscribe", () =>
    pubsub.subscribe(topic, (message) => {
      world.inOrder(lane, random.next() * maxMs, `${process.name} hears`, () => {
        process.reach(() => {
          if (!stopped) deliver(message);
        });
      });
    }),
  );
  process.onKill(() => void stop());
  return async () => {
    await late("unsubscribe", () => stop());
    stopped = true;
  };
}
