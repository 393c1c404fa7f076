import type { Cipher, Platform } from "../../src/platform/platform.js";
import { sha256 } from "../../src/platform/sha256.js";
import { hashText, type Prng, prng } from "./prng.js";
import type { Lane, Pending, World } from "./world.js";

/**
 * One simulated process: a platform whose timers and deferred work end with it. What runs in a process that was killed can
 * do nothing any more that others see.
 */
export class SimProcess {
  readonly name: string;
  readonly platform: Platform;
  readonly warnings: string[] = [];
  /** What `guardRejections` was told to recognise. */
  isOurs: ((reason: unknown) => boolean) | undefined;
  readonly #world: World;
  readonly #timers = new Set<Pending>();
  readonly #deferred: Lane = { last: 0 };
  #alive = true;
  #pausedAt = Number.NEGATIVE_INFINITY;
  /** What reached the process while it stood still, in order. */
  #held: (() => void)[] | undefined;
  readonly #onKill: (() => void)[] = [];

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    const random = world.random.fork(`process ${name}`);
    this.platform = {
      now: () => world.wall(),
      monotonic: () => world.now(),
      timer: (ms, run) => this.#timer(ms, run),
      defer: (run) => this.#defer(run),
      randomBytes: (count) => random.bytes(count),
      sha256,
      cipher: (secret, purpose) => simCipher(secret, purpose, random),
      fetch: () => Promise.reject(new Error("a simulated process has no network but the simulated one")),
      warn: (message) => void this.warnings.push(message),
      guardRejections: (isOurs) => {
        this.isOurs = isOurs;
      },
    };
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Timers that are set and not yet due. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Waits in simulated time; for ever once the process is killed. For applications: it is no timer of the library. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#world.after(ms, `${this.name} wakes`, () => this.reach(resolve));
    });
  }

  /** Whether it has stood still at any time since then. */
  pausedSince(time: number): boolean {
    return this.#held !== undefined || this.#pausedAt >= time;
  }

  /** Stops everything in the process, as a stopped machine does; what it had sent is on its way all the same. */
  pause(): void {
    if (this.#alive) this.#held ??= [];
  }

  /** Goes on where it stopped, and learns one thing after the other what has happened since. */
  resume(): void {
    if (this.#held === undefined) return;
    this.#pausedAt = this.#world.now();
    this.#world.after(0, `${this.name} goes on`, () => {
      this.#held?.shift()?.();
      if (this.#held?.length === 0) this.#held = undefined;
      else this.resume();
    });
  }

  /** Lets something from outside happen in the process: now, after its pause, or never if it was killed. */
  reach(run: () => void): void {
    if (!this.#alive) return;
    if (this.#held === undefined) run();
    else this.#held.push(run);
  }

  onKill(run: () => void): void {
    this.#onKill.push(run);
  }

  kill(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#held = undefined;
    for (const timer of this.#timers) this.#world.cancel(timer);
    this.#timers.clear();
    for (const run of this.#onKill.splice(0)) run();
  }

  #timer(ms: number, run: () => void): { cancel(): void } {
    if (!this.#alive) return { cancel() {} };
    const event = this.#world.after(ms, `timer of ${this.name}`, () => {
      // It may be cancelled while the process catches up after a pause.
      this.reach(() => {
        if (this.#timers.delete(event)) run();
      });
    });
    this.#timers.add(event);
    return {
      cancel: () => {
        if (this.#timers.delete(event)) this.#world.cancel(event);
      },
    };
  }

  #defer(run: () => void): void {
    if (!this.#alive) return;
    this.#world.inOrder(this.#deferred, 0, `turn of ${this.name}`, () => this.reach(run));
  }
}

/** Not secret at all, but it refuses what it did not seal, and it needs no turn of the host. */
function simCipher(secret: string, purpose: string, random: Prng): Cipher {
  const key = hashText(hashText(0x811c9dc5, secret), purpose);
  return {
    seal(plain, bound) {
      const nonce = random.bytes(12);
      const mixed = mask(plain, key, nonce);
      return concat(nonce, mixed, tag(key, nonce, mixed, bound));
    },
    open(sealed, bound) {
      if (sealed.length < 28) return undefined;
      const nonce = sealed.subarray(0, 12);
      const mixed = sealed.subarray(12, sealed.length - 16);
      const expected = tag(key, nonce, mixed, bound);
      const given = sealed.subarray(sealed.length - 16);
      return expected.every((byte, at) => byte === given[at]) ? mask(mixed, key, nonce) : undefined;
    },
  };
}

function mask(data: Uint8Array, key: number, nonce: Uint8Array): Uint8Array {
  const stream = prng(hashBytes(key, nonce));
  return data.map((byte) => byte ^ stream.int(0, 255));
}

function tag(key: number, ...parts: Uint8Array[]): Uint8Array {
  let hash = key;
  for (const part of parts) hash = hashBytes(Math.imul(hash ^ part.length, 0x01000193), part);
  return prng(hash).bytes(16);
}

function hashBytes(hash: number, bytes: Uint8Array): number {
  let result = hash;
  for (const byte of bytes) result = Math.imul(result ^ byte, 0x01000193);
  return result;
}

function concat(...parts: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
