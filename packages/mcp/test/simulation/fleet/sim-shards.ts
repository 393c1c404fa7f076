import { createMemoryStorage, type MemoryStorage } from "../../../src/storage/memory.js";
import { type Storage, StorageFailure } from "../../../src/storage/storage.js";
import { hashText, type Prng } from "../prng.js";
import type { SimProcess } from "../sim-process.js";
import type { Lane, World } from "../world.js";

/** As the driver of Redis has it by default. */
const TIMEOUT_MS = 2_000;
const RECONNECT_MS = 500;
const FIX = "Wait until it is back.";

interface Listener {
  connected: boolean;
  /** The way of the messages to the process, which keeps their order. */
  readonly lane: Lane;
  readonly process: SimProcess;
  readonly onGap: (() => void) | undefined;
}

/** One server of the storage: it keeps what it has acknowledged, whatever happens to it. */
class Shard {
  readonly memory: MemoryStorage;
  readonly listeners = new Set<Listener>();
  up = true;
  /** Longest wait for one way. */
  maxMs: number;
  /** Changes with each end, so that what was under way is known to be lost. */
  life = 0;
  operations = 0;
  deliveries = 0;

  constructor(world: World, maxMs: number) {
    this.memory = createMemoryStorage({ clock: world });
    this.maxMs = maxMs;
  }
}

type Ask = <T>(key: string, name: string, run: (storage: Storage) => T | Promise<T>) => Promise<T>;

/**
 * A storage of many servers, as a cluster of Redis is: what has the same text in its first braces is at the same server. Each
 * process has one connection to each of them, which keeps the order of its calls.
 */
export class SimShards {
  readonly #world: World;
  readonly #random: Prng;
  readonly #shards: readonly Shard[];
  readonly #calmMs: number;

  constructor(world: World, count: number, maxMs: number) {
    this.#world = world;
    this.#random = world.random.fork("shards");
    this.#calmMs = maxMs;
    this.#shards = Array.from({ length: count }, () => new Shard(world, maxMs));
  }

  /** Calls that each server has had, and messages that it has passed on. */
  get loads(): { operations: number; deliveries: number }[] {
    return this.#shards.map(({ operations, deliveries }) => ({ operations, deliveries }));
  }

  /** Keys and streams that are left. */
  get size(): number {
    return this.#shards.reduce((sum, { memory }) => sum + memory.usage().keys + memory.usage().streams, 0);
  }

  kill(at: number, awayMs: number): void {
    const shard = this.#shards[at];
    if (shard === undefined || !shard.up) return;
    this.#world.note(`shard ${at} dies`);
    shard.up = false;
    shard.life++;
    for (const listener of shard.listeners) listener.connected = false;
    this.#world.after(awayMs, `shard ${at} is back`, () => this.#revive(shard));
  }

  slow(at: number, maxMs: number, forMs: number): void {
    const shard = this.#shards[at];
    if (shard === undefined) return;
    this.#world.note(`shard ${at} is slow`);
    shard.maxMs = maxMs;
    this.#world.after(forMs, `shard ${at} is fast again`, () => {
      shard.maxMs = this.#calmMs;
    });
  }

  heal(): void {
    for (const shard of this.#shards) {
      shard.maxMs = this.#calmMs;
      this.#revive(shard);
    }
  }

  /** The storage as one process sees it. */
  storageFor(process: SimProcess, random: Prng): Storage {
    const ways = this.#shards.map(() => ({ there: { last: 0 }, back: { last: 0 } }));
    const ask: Ask = (key, name, run) => {
      const at = this.#placeOf(key);
      const [shard, way] = [this.#shards[at], ways[at]];
      if (shard === undefined || way === undefined) throw new Error("there is no such shard");
      return this.#ask(process, random, shard, way, `${name} at shard ${at}`, run);
    };
    return {
      kv: {
        get: (key) => ask(key, "get", ({ kv }) => kv.get(key)),
        set: (key, value, options) => ask(key, "set", ({ kv }) => kv.set(key, value, options)),
        delete: (key, options) => ask(key, "delete", ({ kv }) => kv.delete(key, options)),
        touch: (key, ttlMs) => ask(key, "touch", ({ kv }) => kv.touch(key, ttlMs)),
      },
      log: {
        append: (stream, entry, limits) => ask(stream, "append", ({ log }) => log.append(stream, entry, limits)),
        read: (stream, after, limit) => ask(stream, "read", ({ log }) => log.read(stream, after, limit)),
        touch: (stream, ttlMs) => ask(stream, "touch a log", ({ log }) => log.touch(stream, ttlMs)),
        drop: (stream) => ask(stream, "drop", ({ log }) => log.drop(stream)),
      },
      pubsub: {
        publish: (topic, message) => ask(topic, "publish", ({ pubsub }) => pubsub.publish(topic, message)),
        subscribe: (topic, deliver, onGap) => {
          const listener: Listener = { connected: true, lane: { last: 0 }, process, onGap };
          return this.#subscribe(topic, listener, random, deliver, ask);
        },
      },
    };
  }

  #ask<T>(
    process: SimProcess,
    random: Prng,
    shard: Shard,
    way: { there: Lane; back: Lane },
    name: string,
    run: (storage: Storage) => T | Promise<T>,
  ): Promise<T> {
    const world = this.#world;
    return new Promise<T>((resolve, reject) => {
      const late = world.after(TIMEOUT_MS, `${process.name} has waited for ${name}`, () =>
        process.reach(() => reject(new StorageFailure("timeout", `The shard did not ${name} in time.`, FIX))),
      );
      const settle = (act: () => void) => {
        world.cancel(late);
        process.reach(act);
      };
      const away = () => reject(new StorageFailure("unavailable", `The shard is away and did not ${name}.`, FIX));
      shard.operations++;
      world.inOrder(way.there, random.next() * shard.maxMs, `${process.name} asks to ${name}`, () => {
        if (!process.alive) return world.cancel(late);
        if (!shard.up) return settle(away);
        const { life } = shard;
        void Promise.resolve()
          .then(() => run(shard.memory))
          .then(
            (value) =>
              void world.inOrder(way.back, random.next() * shard.maxMs, `${name} is answered`, () =>
                // What was done stays done, although nobody hears of it.
                settle(shard.life === life ? () => resolve(value) : away),
              ),
            (error) => settle(() => reject(error)),
          );
      });
    });
  }

  async #subscribe(
    topic: string,
    listener: Listener,
    random: Prng,
    deliver: (message: string) => void,
    ask: Ask,
  ): Promise<() => Promise<void>> {
    const shard = this.#shards[this.#placeOf(topic)];
    let stop: (() => unknown) | undefined;
    const end = () => {
      shard?.listeners.delete(listener);
      listener.connected = false;
      void stop?.();
      stop = undefined;
    };
    try {
      await ask(topic, "subscribe", async ({ pubsub }) => {
        stop = await pubsub.subscribe(topic, (message) => {
          if (shard !== undefined) this.#deliver(shard, listener, random, () => deliver(message));
        });
        shard?.listeners.add(listener);
      });
    } catch (error) {
      // Nobody waits for it, whether it came about or not.
      end();
      throw error;
    }
    listener.process.onKill(end);
    return async () => {
      end();
      // The connection is told, and whether it still works makes no difference.
      await ask(topic, "unsubscribe", () => undefined).catch(() => undefined);
    };
  }

  #deliver(shard: Shard, { lane, process, ...listener }: Listener, random: Prng, act: () => void): void {
    if (!listener.connected) return;
    shard.deliveries++;
    this.#world.inOrder(lane, random.next() * shard.maxMs, `${process.name} hears`, () => process.reach(act));
  }

  #revive(shard: Shard): void {
    if (shard.up) return;
    shard.up = true;
    for (const listener of shard.listeners) {
      const { process, lane } = listener;
      this.#world.inOrder(lane, this.#random.next() * RECONNECT_MS, `${process.name} hears again`, () => {
        if (!shard.up || !process.alive || !shard.listeners.has(listener)) return;
        listener.connected = true;
        process.reach(() => listener.onGap?.());
      });
    }
  }

  #placeOf(key: string): number {
    const tag = /\{([^}]+)\}/.exec(key)?.[1] ?? key;
    return (hashText(0x811c9dc5, tag) >>> 0) % this.#shards.length;
  }
}
