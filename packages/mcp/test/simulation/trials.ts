import { StorageError } from "../../src/storage/storage.js";
import type { Prng } from "./prng.js";
import type { World } from "./world.js";

/** What a run puts its clients and servers through beside the faults of the network. */
export interface Trials {
  /** Nothing breaks but what is named here: every call must bring its result. */
  readonly calm: boolean;
  /** The wall clock is set forward and back while time goes on as ever. */
  readonly clockJumps: boolean;
  /** The storage takes nothing more for a while. */
  readonly fullStorage: boolean;
  /** The credentials of some clients expire. */
  readonly expiry: boolean;
  /** Servers ask a question as soon as a pipe is open, before anybody has said who they are. */
  readonly rude: boolean;
}

/** How many seeds have each of them. */
const SHARES = { clockJumps: 0.25, fullStorage: 0.2, expiry: 0.2, rude: 0.2, calm: 0.1 };

const HOUR_MS = 3_600_000;

/** Has a generator of its own, so that other decisions of a seed stay as they were. */
export function trialsOf(world: World): Trials {
  const random = world.random.fork("trials");
  const clockJumps = random.chance(SHARES.clockJumps);
  const fullStorage = random.chance(SHARES.fullStorage);
  // Both are about the wall clock, and would contradict each other.
  const expiry = !clockJumps && !fullStorage && random.chance(SHARES.expiry);
  const calm = fullStorage || (!expiry && random.chance(clockJumps ? 0.5 : SHARES.calm));
  return { calm, clockJumps, fullStorage, expiry, rude: random.chance(SHARES.rude) };
}

/** Sets the wall clock now and then, by up to an hour. */
export function jumpClock(world: World, forMs: number): void {
  const random = world.random.fork("clock");
  const jumps = random.int(1, 4);
  for (let count = 0; count < jumps; count++) {
    const by = random.pick([HOUR_MS, -HOUR_MS, random.int(-5_000, 5_000)]);
    world.after(random.int(0, forMs), "the clock is set", () => world.setClock(by));
  }
}

/** A storage that is full at times. */
export class FullStorage {
  full = false;

  constructor(world: World, random: Prng, forMs: number) {
    for (let at = random.int(0, 5_000); at < forMs; at += random.int(5_000, 20_000)) {
      const lasts = random.int(1_000, 10_000);
      world.after(at, "the storage is full", () => this.#set(true));
      world.after(at + lasts, "the storage has room", () => this.#set(false));
    }
  }

  /** Throws where a storage would that has no room. */
  check(): void {
    if (this.full) throw new StorageError("room", 1, "Wait.");
  }

  #set(full: boolean): void {
    this.full = full;
  }
}

/** Until when the credentials of each client are good, on the wall clock; absent for those that never expire. */
export class Credentials {
  readonly #world: World;
  readonly #ends = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  expire(client: string, afterMs: number): void {
    this.#ends.set(client, this.#world.wall() + afterMs);
  }

  endOf(client: string): number | undefined {
    return this.#ends.get(client);
  }

  /** Whether they have been invalid for at least this long. */
  expired(client: string, forMs = 0): boolean {
    const end = this.#ends.get(client);
    return end !== undefined && this.#world.wall() >= end + forMs;
  }
}
