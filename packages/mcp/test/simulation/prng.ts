/** Random numbers that a seed decides. Parts of a run have one each, so that more draws in one change nothing in another. */
export interface Prng {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  chance(share: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
  bytes(count: number): Uint8Array;
  /** A generator of its own for the part with this name. */
  fork(name: string): Prng;
}

export function prng(seed: number): Prng {
  // Seeds that follow each other would begin alike.
  let state = scramble(seed ^ 0x9e3779b9);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    chance: (share) => next() < share,
    pick: (items) => items[int(0, items.length - 1)] ?? items[0],
    bytes(count) {
      const bytes = new Uint8Array(count);
      for (let at = 0; at < count; at++) bytes[at] = int(0, 255);
      return bytes;
    },
    fork: (name) => prng(hashText(scramble(seed), name)),
  };
}

/** Adds a text to a running 32-bit FNV-1a hash. */
export function hashText(hash: number, text: string): number {
  let result = hash;
  for (let at = 0; at < text.length; at++) result = Math.imul(result ^ text.charCodeAt(at), 0x01000193);
  return result;
}

function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
