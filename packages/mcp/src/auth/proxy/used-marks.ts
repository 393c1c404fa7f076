import type { KeyValue } from "../../storage/storage.js";

/** Marks of one list. */
const MAX_MARKS = 64;
/** Lists in the storage. With `MAX_MARKS` they hold 16,384 marks in less than 1 MiB, however many strangers begin a login. */
const LISTS = 256;
/** A list is written by two requests at once rarely, and by more hardly ever. */
const MAX_TRIES = 20;
/** 132 bits of a digest. */
const MARK_LENGTH = 22;

/** The digest of a text that was used, and when it may be forgotten. */
type Mark = readonly [digest: string, until: number];

/**
 * Remembers which pages and logins were used, for all nodes, in a fixed number of keys: these steps cost a stranger nothing, so they
 * must not fill the storage. A full list forgets its oldest mark. A forgotten mark gives no access: the cookie of the browser and
 * the provider's one-time code are still needed.
 */
export class UsedMarks {
  readonly #kv: KeyValue;
  readonly #now: () => number;

  constructor(kv: KeyValue, now: () => number) {
    this.#kv = kv;
    this.#now = now;
  }

  /** True for the first call with this digest, on any node. */
  async first(digest: string, ttlMs: number): Promise<boolean> {
    const key = `oauth used ${listOf(digest)}`;
    const mark = digest.slice(0, MARK_LENGTH);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = await this.#kv.get(key);
      const now = this.#now();
      const marks = read(stored?.value).filter(([, until]) => until > now);
      if (marks.some(([known]) => known === mark)) return false;
      const value = JSON.stringify([...marks, [mark, now + ttlMs]].slice(-MAX_MARKS));
      const version = await this.#kv.set(key, value, { ttlMs, ifVersion: stored?.version ?? 0 });
      if (version !== undefined) return true;
    }
    return false;
  }
}

/** The list of a digest: by its last characters, which are as random as the rest. */
function listOf(digest: string): number {
  let sum = 0;
  for (const character of digest.slice(-8)) sum = (sum * 31 + character.charCodeAt(0)) % 65_521;
  return sum % LISTS;
}

function read(value: string | undefined): readonly Mark[] {
  // Only `first` writes these keys.
  return value === undefined ? [] : (JSON.parse(value) as Mark[]);
}
