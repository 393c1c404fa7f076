import type { Platform } from "../../platform/platform.js";
import type { KeyValue } from "../../storage/storage.js";
import type { PlacedSession } from "../../transport/transport.js";

/** Times that a write may lose against other nodes; more count as a failure of the storage. */
const MAX_ATTEMPTS = 20;
/** Sessions that are looked at for one that wants the place of another. */
const MAX_CHECKS = 16;
/** How long a session that was found alive is not looked at again. */
const RECHECK_MS = 10_000;

/** The sessions with a place, each with the time from which on it is worth looking whether it still exists. */
type SessionChecks = Map<string, number>;

/**
 * The places of sessions, one list for each caller. Any node may free a place. One that nobody has freed is free as soon as
 * its session does not exist any more, because a full list is compared with the sessions.
 */
export class SessionPlaces {
  readonly #platform: Pick<Platform, "now">;
  readonly #kv: KeyValue;
  readonly #openingMs: number;
  /** The last change of each list that this node changes, so that it does not compete with itself. */
  readonly #changing = new Map<string, Promise<unknown>>();

  /** `openingMs`: how long a session may take to exist after it got its place. */
  constructor(platform: Pick<Platform, "now">, kv: KeyValue, openingMs: number) {
    this.#platform = platform;
    this.#kv = kv;
    this.#openingMs = openingMs;
  }

  /** Takes a place and gives true, unless `most` sessions have one. Rejects, without a place, if the storage fails. */
  acquire(key: string, most: number, session: PlacedSession): Promise<boolean> {
    return this.#change(key, session, async (placed) => {
      const looked = placed.size >= most && (await this.#dropEnded(placed, session));
      const entered = placed.size < most;
      if (entered) placed.set(session.id, this.#platform.now() + this.#openingMs);
      return { write: entered || looked, result: entered };
    });
  }

  /** Frees the place of a session, if it has one. */
  async release(key: string, session: Omit<PlacedSession, "exists">): Promise<void> {
    await this.#change(key, session, (placed) => ({ write: placed.delete(session.id), result: true }));
  }

  /** The list lives as long as the last of its sessions. */
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

  /** Drops sessions that do not exist any more. Gives false if none was looked at. */
  async #dropEnded(placed: SessionChecks, { exists }: PlacedSession): Promise<boolean> {
    const now = this.#platform.now();
    // A time further ahead comes from a node whose clock was wrong.
    const furthest = now + this.#openingMs + RECHECK_MS;
    const due = [...placed].filter(([, lookAt]) => lookAt <= now || lookAt > furthest).slice(0, MAX_CHECKS);
    const alive = await Promise.all(due.map(([id]) => exists(id)));
    due.forEach(([id], index) => {
      // Those that were looked at last come last.
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

/** The sessions of a list; none if the text is damaged, as for the places of calls. */
function read(text: string | undefined): SessionChecks {
  const placed: SessionChecks = new Map();
  if (text === undefined) return placed;
  try {
    for (const entry of JSON.parse(text) as unknown[]) {
      const [id, lookAt] = Array.isArray(entry) ? (entry as unknown[]) : [];
      if (typeof id === "string" && typeof lookAt === "number") placed.set(id, lookAt);
    }
  } catch {
    // See `SharedPlaces`.
  }
  return placed;
}
