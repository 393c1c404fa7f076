import { isThenable, type MaybePromise } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import { KeyCounts } from "../../platform/key-counts.js";
import type { Platform } from "../../platform/platform.js";
import { takeToken } from "../../platform/token-bucket.js";
import { createMemoryStorage } from "../../storage/memory.js";
import type { Storage } from "../../storage/storage.js";
import type { PlacedSession } from "../../transport/transport.js";
import type { FullRate, QuotaOptions } from "../contract/quota-options.js";
import { SessionPlaces } from "./session-places.js";
import { SharedBuckets } from "./shared-buckets.js";
import { SharedPlaces } from "./shared-places.js";

/** The storage failed, and the options say that what cannot be counted is refused. */
export class CountingError extends Error {}

/** Counts calls by key: on this node, or on a storage. A key is a text of any length for the node, a short one for a storage. */
export interface Counts {
  /** Takes a token and gives 0, or gives the milliseconds until there is one. */
  acquireToken(key: string, rate: FullRate): MaybePromise<number>;
  /** Takes a place and gives the function that frees it; undefined if `most` are taken. */
  acquirePlace(key: string, most: number): MaybePromise<(() => void) | undefined>;
  /** Takes a place for a session and gives true; false if `most` are taken. */
  acquireSession(key: string, most: number, session: PlacedSession): Promise<boolean>;
  renewSession(key: string, lifeMs: number): Promise<void>;
  releaseSession(key: string, session: Omit<PlacedSession, "exists">): Promise<void>;
  close(): void;
}

const DEFAULT_BUCKETS = 100_000;
const DEFAULT_LEASE_MS = 30_000;

/** The buckets of one node, in memory: at most `most`, of which the one that was not used for longest makes room. */
export class NodeBuckets {
  readonly #platform: Pick<Platform, "monotonic">;
  /** When each is full again. */
  readonly #fullAt: BoundedMap<string, number>;

  constructor(platform: Pick<Platform, "monotonic">, most: number) {
    this.#platform = platform;
    this.#fullAt = new BoundedMap(most);
  }

  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  acquire(key: string, rate: FullRate): number {
    const now = this.#platform.monotonic();
    const { waitMs, fullAt } = takeToken(this.#fullAt.get(key) ?? now, now, rate);
    // A refused one too, so that a flood does not end in a fresh bucket.
    this.#fullAt.set(key, fullAt);
    return waitMs;
  }
}

/** Counts on this node alone. */
export function nodeCounts(platform: Platform, options: QuotaOptions): Counts {
  const { buckets: most = DEFAULT_BUCKETS, leaseMs = DEFAULT_LEASE_MS } = options;
  const buckets = new NodeBuckets(platform, most);
  const places = new KeyCounts();
  const sessions = new SessionPlaces(platform, createMemoryStorage({ clock: platform }).kv, leaseMs);
  return {
    acquireToken: (key, rate) => buckets.acquire(key, rate),
    acquirePlace: (key, most) => (places.take(key, most) ? () => void places.change(key, -1) : undefined),
    acquireSession: (key, most, session) => sessions.acquire(key, most, session),
    renewSession: (key, lifeMs) => sessions.renew(key, lifeMs),
    releaseSession: (key, session) => sessions.release(key, session),
    close() {},
  };
}

/** Counts on a storage for all nodes together; while it fails, as the options say. */
export function sharedCounts(platform: Platform, storage: Storage, options: QuotaOptions, node: Counts): Counts {
  const { buckets: most = DEFAULT_BUCKETS, leaseMs = DEFAULT_LEASE_MS, ifStorageFails = "node" } = options;
  const buckets = new SharedBuckets(platform, storage.kv, most);
  const places = new SharedPlaces(platform, storage.kv, leaseMs);
  const sessions = new SessionPlaces(platform, storage.kv, leaseMs);
  let failing = false;
  const otherwise = async <T>(shared: Promise<T>, onNode: () => MaybePromise<T>): Promise<T> => {
    try {
      const counted = await shared;
      failing = false;
      return counted;
    } catch (error) {
      if (!failing) platform.warn(warning(ifStorageFails, error));
      failing = true;
      if (ifStorageFails === "refuse") throw new CountingError("calls cannot be counted now", { cause: error });
      return onNode();
    }
  };
  return {
    acquireToken(key, rate) {
      const waits = buckets.acquire(key, rate);
      return isThenable(waits) ? otherwise(waits, () => node.acquireToken(key, rate)) : waits;
    },
    acquirePlace: (key, most) =>
      otherwise(
        places.acquire(key, most).then((entered) => (entered ? () => places.release(key) : undefined)),
        () => node.acquirePlace(key, most),
      ),
    acquireSession: (key, most, session) =>
      otherwise(sessions.acquire(key, most, session), () => node.acquireSession(key, most, session)),
    async renewSession(key, lifeMs) {
      await node.renewSession(key, lifeMs);
      await sessions.renew(key, lifeMs);
    },
    async releaseSession(key, session) {
      // It may have got its place while the storage failed.
      await node.releaseSession(key, session);
      await sessions.release(key, session);
    },
    close: () => places.close(),
  };
}

function warning(ifStorageFails: "node" | "refuse", error: unknown): string {
  const then =
    ifStorageFails === "node" ? "this node counts alone until it answers" : "calls are refused until it answers";
  return `\`quotas\` cannot count on the storage, so ${then}: ${thrownMessage(error)}`;
}
