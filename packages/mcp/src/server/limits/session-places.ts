import type { Platform } from "../../platform/platform.js";
import type { KeyValue } from "../../storage/storage.js";
import type { PlacedSession } from "../../transport/transport.js";

/**
 * Maximum number of attempts to write a list that other nodes change at the same time. After that, the storage counts
 * as failed.
 */
const MAX_ATTEMPTS = 20;
/**
 * Maximum number of sessions that are checked when a new session finds no free place. The next new session checks
 * further ones.
 */
const MAX_CHECKS = 16;
/** Time before a session that was found alive is checked again. */
const RECHECK_MS = 10_000;

/** The sessions that have a place, each with the time of its next existence check. */
type SessionChecks = Map<string, number>;

/**
 * The places of sessions, one list per caller. Any node may release a place. When a new session finds the list full,
 * its node removes the places of sessions that no longer exist.
 */
export class SessionPlaces {
  readonly #platform: Pick<Platform, "now">;
  readonly #kv: KeyValue;
  readonly #openingMs: number;
  /**
   * The last change of each list that is not finished yet. The next change on this node waits for it, so that the node
   * does not compete with itself.
   */
  readonly #changing = new Map<string, Promise<unknown>>();

  /** `openingMs` is the maximum time between the acquisition of a place and the creation of its session. */
  constructor(platform: Pick<Platform, "now">, kv: KeyValue, openingMs: number) {
    this.#platform = platform;
    this.#kv = kv;
    this.#openingMs = openingMs;
  }

  /**
   * Acquires a place. Resolves with false if `max` sessions already have one. Rejects if the storage fails; the session
   * then has no place.
   */
  acquire(key: string, max: number, session: PlacedSession): Promise<boolean> {
    return this.#change(key, session, async (placed) => {
      const checked = placed.size >= max && (await this.#dropEnded(placed, session));
      const entered = placed.size < max;
      if (entered) placed.set(session.id, this.#platform.now() + this.#openingMs);
      return { write: entered || checked, result: entered };
    });
  }

  /** Releases the place of a session, if it has one. */
  async release(key: string, session: Omit<PlacedSession, "exists">): Promise<void> {
    await this.#change(key, session, (placed) => ({ write: placed.delete(session.id), result: true }));
  }

  /** Extends the lifetime of the list, which must outlive its last session. */
  async renew(key: string, lifeMs: number): Promise<void> {
    await this.#kv.touch(key, lifeMs);
  }

  async #change(
    key: string,
    session: Omit<PlacedSession, "exists">,
    decide: (placed: SessionChecks) => Decision | Promise<Decision>,
  ): Promise<boolean> {
    const before = this.#changing.get(key);
    const changing = (async () => {
      await before?.catch(() => {});
      return this.#changeNow(key, session.lifeMs, decide);
    })();
    this.#changing.set(key, changing);
    try {
      return await changing;
    } finally {
      if (this.#changing.get(key) === changing) this.#changing.delete(key);
    }
  }

  async #changeNow(
    key: string,
    ttlMs: number,
    decide: (placed: SessionChecks) => Decision | Promise<Decision>,
  ): Promise<boolean> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await this.#kv.get(key);
      const placed = read(stored?.value);
      const { write, result } = await decide(placed);
      if (!write) return result;
      const ifVersion = stored?.version ?? 0;
      const done =
        placed.size > 0
          ? (await this.#kv.set(key, JSON.stringify([...placed]), { ttlMs, ifVersion })) !== undefined
          : await this.#kv.delete(key, { ifVersion });
      if (done) return result;
    }
    throw new Error(`the storage refused ${MAX_ATTEMPTS} writes of a count in a row`);
  }

  /** Drops sessions that no longer exist from the list. Resolves with false if no session was due for a check. */
  async #dropEnded(placed: SessionChecks, { exists }: PlacedSession): Promise<boolean> {
    const now = this.#platform.now();
    // The latest time for which a check can be due. A later time was written by a node whose clock was wrong, so that
    // session is checked now.
    const furthest = now + this.#openingMs + RECHECK_MS;
    const due = [...placed].filter(([, checkAt]) => checkAt <= now || checkAt > furthest).slice(0, MAX_CHECKS);
    const alive = await Promise.all(due.map(([id]) => exists(id)));
    due.forEach(([id], index) => {
      // Reinserted last, so that the least recently checked session comes first.
      placed.delete(id);
      if (alive[index] === true) placed.set(id, now + RECHECK_MS);
    });
    return due.length > 0;
  }
}

interface Decision {
  readonly write: boolean;
  readonly result: boolean;
}

/** Parses a list of sessions. Returns an empty list for damaged text, as `SharedPlaces` does. */
function read(text: string | undefined): SessionChecks {
  const placed: SessionChecks = new Map();
  if (text === undefined) return placed;
  try {
    for (const entry of JSON.parse(text) as unknown[]) {
      const [id, checkAt] = Array.isArray(entry) ? (entry as unknown[]) : [];
      if (typeof id === "string" && typeof checkAt === "number") placed.set(id, checkAt);
    }
  } catch {
    // Damaged text counts as an empty list, for the reason that `livePlaces` in `shared-places.ts` states.
  }
  return placed;
}
