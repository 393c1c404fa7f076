import type { Storage } from "../storage.js";

/** The clock of a storage under test. For a real store `advance` waits; for memory it moves a counter. */
export interface ContractClock {
  advance(ms: number): void | Promise<void>;
}

/** One rule of the storage contract, as a test that depends on no test framework. */
export interface StorageCase {
  readonly name: string;
  /** Whether `run` needs a clock. Times are multiples of 100 ms, so that a real store can wait them out. */
  readonly timed: boolean;
  /**
   * Throws when the storage breaks the contract.
   *
   * `storage` is fresh and empty; `other` is a second handle on the same store, if the driver has one. A missing message
   * leaves the promise pending, so run the case under the time limit of the test framework.
   */
  run(storage: Storage, clock?: ContractClock, other?: Storage): Promise<void>;
}

/** A case that needs no clock. */
export function storageCase(name: string, run: (storage: Storage, other: Storage) => Promise<void>): StorageCase {
  return { name, timed: false, run: (storage, _clock, other) => run(storage, other ?? storage) };
}

/** A case that lets time pass. */
export function timedCase(
  name: string,
  run: (storage: Storage, advance: (ms: number) => Promise<void>) => Promise<void>,
): StorageCase {
  return {
    name,
    timed: true,
    async run(storage, clock) {
      if (clock === undefined) throw new Error(`"${name}" needs a clock: pass one, or skip cases that are timed.`);
      await run(storage, async (ms) => clock.advance(ms));
    },
  };
}

/** Throws unless both are the same JSON value; `undefined` equals only itself. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const got = JSON.stringify(actual);
  const text = JSON.stringify(expected);
  if (got !== text) throw new Error(`${what}: expected ${text}, got ${got}`);
}

export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}
