import { memoryStorage } from "@parley/mcp/storage";
import type { Storage } from "../../../src/storage/storage.js";

/** What becomes of the next call: undefined lets it pass. */
export type Fault = (operation: string, key: string) => Promise<void> | void;

/** One process's way to a storage that others share, which a test can cut, stop or make fail. */
export interface FaultyStorage extends Storage {
  /** Runs before each call: what it throws is thrown, and what it waits for delays the call. */
  before: Fault;
  /** Runs after each call, before its answer arrives. */
  after: Fault;
  /** From now on no call reaches the storage and none is answered, as after the end of the process. */
  cut(): void;
  /** Calls wait until `go`, as in a process that is stopped. */
  stop(): void;
  go(): void;
  /** Calls so far, by operation. */
  readonly calls: Map<string, number>;
}

/** Wraps a storage; every call takes at least one turn, as over a network. */
export function faultyStorage(shared: Storage = memoryStorage()): FaultyStorage {
  let gate: Promise<void> | undefined;
  let open = () => {};
  const calls = new Map<string, number>();
  const through = async <T>(operation: string, key: string, run: () => T | Promise<T>): Promise<T> => {
    calls.set(operation, (calls.get(operation) ?? 0) + 1);
    await gate;
    await faulty.before(operation, key);
    const result = await run();
    await gate;
    await faulty.after(operation, key);
    return result;
  };
  const { kv, log, pubsub } = shared;
  const faulty: FaultyStorage = {
    calls,
    before() {},
    after() {},
    cut() {
      gate = new Promise(() => {});
    },
    stop() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    go() {
      gate = undefined;
      open();
    },
    kv: {
      get: (key) => through("get", key, () => kv.get(key)),
      set: (key, value, options) => through("set", key, () => kv.set(key, value, options)),
      delete: (key, options) => through("delete", key, () => kv.delete(key, options)),
      touch: (key, ttlMs) => through("touch", key, () => kv.touch(key, ttlMs)),
    },
    log,
    pubsub: {
      publish: (topic, message) => through("publish", topic, () => pubsub.publish(topic, message)),
      subscribe: (topic, deliver) =>
        through("subscribe", topic, () =>
          pubsub.subscribe(topic, (message) => void Promise.resolve(gate).then(() => deliver(message))),
        ),
    },
  };
  return faulty;
}
