import type { Storage } from "../storage.js";

/** The clock of a storage under test. */
export interface ContractClock {
  /**
   * Lets `ms` milliseconds pass. With a real clock, waits for that long. With a simulated clock, such as that of a
   * memory storage, moves the clock.
   */
  advance(ms: number): void | Promise<void>;
}

/** One rule of the storage contract, as a test that depends on no test framework. */
export interface StorageCase {
  /** The rule as a sentence, for the title of the test. */
  readonly name: string;
  /**
   * True if `run` needs a clock. Times are multiples of 100 ms, so that a test with a real clock can wait for them.
   */
  readonly timed: boolean;
  /**
   * Throws if the storage breaks the rule.
   *
   * `storage` must be new and empty. `other` is a second handle on the same store, if the driver has one. If the storage
   * does not deliver a published message, the promise never settles, so run the case under the time limit of the test
   * framework.
   */
  run(storage: Storage, clock?: ContractClock, other?: Storage): Promise<void>;
}

/** Creates a case that needs no clock. */
export function storageCase(name: string, run: (storage: Storage, other: Storage) => Promise<void>): StorageCase {
  return { name, timed: false, run: (storage, _clock, other) => run(storage, other ?? storage) };
}

/** Creates a case that lets time pass. */
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

/** Throws unless both values have the same JSON text. `undefined` equals only itself. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const got = JSON.stringify(actual);
  const text = JSON.stringify(expected);
  if (got !== text) throw new Error(`${what}: expected ${text}, got ${got}`);
}

/** Throws `what` unless the condition holds. */
export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}
