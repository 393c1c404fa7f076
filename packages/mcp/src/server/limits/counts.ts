import { isThenable, type MaybePromise } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { BoundedMap } from "../../platform/bounded-map.js";
import { KeyCounts } from "../../platform/key-counts.js";
import type { Platform } from "../../platform/platform.js";
import { acquireToken } from "../../platform/token-bucket.js";
import { createMemoryStorage } from "../../storage/memory.js";
import type { Storage } from "../../storage/storage.js";
import type { PlacedSession } from "../../transport/transport.js";
import type { FullRate, QuotaOptions } from "../contract/quota-options.js";
import { SessionPlaces } from "./session-places.js";
import { SharedBuckets } from "./shared-buckets.js";
import { SharedPlaces } from "./shared-places.js";

/** Thrown if the storage fails and `ifStorageFails` is `"refuse"`. */
export class CountingError extends Error {}

/**
 * Counts calls, streams and sessions by key, on this node or in a storage. A key for the node may have any length. A
 * key for a storage is short.
 */
export interface Counts {
  /** Takes a token and returns 0, or returns the milliseconds until the next token. */
  acquireToken(key: string, rate: FullRate): MaybePromise<number>;
  /** Acquires a place and returns the function that releases it; undefined if `max` places are taken. */
  acquirePlace(key: string, max: number): MaybePromise<(() => void) | undefined>;
  /** Acquires a place for a session. False if `max` places are taken. */
  acquireSession(key: string, max: number, session: PlacedSession): Promise<boolean>;
  /** Extends the lifetime of the stored list of places, because one of its sessions was active. */
  renewSession(key: string, lifeMs: number): Promise<void>;
  /** Releases the place of a session, if it has one. */
  releaseSession(key: string, session: Omit<PlacedSession, "exists">): Promise<void>;
  close(): void;
}

const DEFAULT_BUCKETS = 100_000;
const DEFAULT_LEASE_MS = 30_000;

/** The buckets of one node, in memory. Beyond `max`, the least recently used bucket is evicted. */
export class NodeBuckets {
  readonly #platform: Pick<Platform, "monotonic">;
  /** The time at which each bucket is full again. */
  readonly #fullAt: BoundedMap<string, number>;

  constructor(platform: Pick<Platform, "monotonic">, max: number) {
    this.#platform = platform;
    this.#fullAt = new BoundedMap(max);
  }

  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes a token and returns 0, or returns the milliseconds until the next token. */
  acquire(key: string, rate: FullRate): number {
    const now = this.#platform.monotonic();
    const { waitMs, fullAt } = acquireToken(this.#fullAt.get(key) ?? now, now, rate);
    // A refused call counts as use too. Otherwise a flood could get its empty bucket evicted, and would start again
    // with a full one.
    this.#fullAt.set(key, fullAt);
    return waitMs;
  }
}

/** Counts on this node only. */
export function nodeCounts(platform: Platform, options: QuotaOptions): Counts {
  const { buckets: max = DEFAULT_BUCKETS, leaseMs = DEFAULT_LEASE_MS } = options;
  const buckets = new NodeBuckets(platform, max);
  const places = new KeyCounts();
  const sessions = new SessionPlaces(platform, createMemoryStorage({ clock: platform }).kv, leaseMs);
  return {
    acquireToken: (key, rate) => buckets.acquire(key, rate),
    acquirePlace: (key, max) => (places.tryAdd(key, max) ? () => void places.change(key, -1) : undefined),
    acquireSession: (key, max, session) => sessions.acquire(key, max, session),
    renewSession: (key, lifeMs) => sessions.renew(key, lifeMs),
    releaseSession: (key, session) => sessions.release(key, session),
    close() {},
  };
}

/** Counts in a storage for all nodes together. If the storage fails, `ifStorageFails` decides. */
export function sharedCounts(platform: Platform, storage: Storage, options: QuotaOptions, node: Counts): Counts {
  const { buckets: max = DEFAULT_BUCKETS, leaseMs = DEFAULT_LEASE_MS, ifStorageFails = "node" } = options;
  const buckets = new SharedBuckets(platform, storage.kv, max);
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
    acquirePlace: (key, max) =>
      otherwise(
        places.acquire(key, max).then((entered) => (entered ? () => places.release(key) : undefined)),
        () => node.acquirePlace(key, max),
      ),
    acquireSession: (key, max, session) =>
      otherwise(sessions.acquire(key, max, session), () => node.acquireSession(key, max, session)),
    async renewSession(key, lifeMs) {
      await node.renewSession(key, lifeMs);
      await sessions.renew(key, lifeMs);
    },
    async releaseSession(key, session) {
      // The session may have acquired its place on this node while the storage failed.
      await node.releaseSession(key, session);
      await sessions.release(key, session);
    },
    close: () => places.close(),
  };
}

function warning(ifStorageFails: "node" | "refuse", error: unknown): string {
  const then =
    ifStorageFails === "node"
      ? "this node counts on its own until the storage answers"
      : "calls are refused until the storage answers";
  return `\`quotas\` cannot count in the storage, so ${then}: ${thrownMessage(error)}`;
}
