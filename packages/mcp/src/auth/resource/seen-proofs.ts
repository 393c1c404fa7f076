import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { KeyValue } from "../../storage/storage.js";
import { InvalidToken } from "./verified-token.js";

/** How many used proofs are remembered. */
export interface ProofLimits {
  readonly perKey: number;
  readonly total: number;
}

/** The used proofs of one key. */
interface KeyProofs {
  readonly jkt: string;
  /** The ends of proofs by their digest, in the order of use. */
  readonly ends: Map<string, number>;
  lastEnd: number;
}

/** Proofs of all keys together; a digest and its entry take about 130 bytes. */
const MAX_PROOFS = 100_000;
/** Proofs of a key that are never forgotten before they expire. */
const MIN_SHARE = 100;
/** How often all keys are searched for proofs that have expired while no other one can be forgotten. */
const SWEEP_MS = 1_000;

/** No further proof is remembered for a key. */
export class TooManyProofs extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Remembers the proofs that were used until they expire, so that none is accepted twice. A key that reaches its own limit has to
 * wait. When all keys together reach theirs, the key with the most proofs has to wait, and loses its oldest proof to the others
 * as long as it has more than `MIN_SHARE`. When no key has more, proofs are refused until others expire: a key with few proofs
 * can be made to wait by very many keys, each of which needs a token, but none of its proofs can be used again.
 */
export class SeenProofs {
  readonly #platform: Platform;
  readonly #limits: ProofLimits;
  readonly #shared: KeyValue | undefined;
  /** The key that was used longest ago comes first. */
  readonly #keys = new Map<string, KeyProofs>();
  /** The keys that have as many proofs as the index says. */
  readonly #bySize: (Set<KeyProofs> | undefined)[] = [];
  #largest = 0;
  #count = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `shared` is where other nodes look, too. */
  constructor(platform: Platform, maxPerKey: number, shared?: KeyValue, total = Math.max(MAX_PROOFS, 2 * maxPerKey)) {
    this.#platform = platform;
    this.#limits = { perKey: maxPerKey, total };
    this.#shared = shared;
  }

  /** Remembers a proof for `ms`. Rejects with `InvalidToken` if it was used before, with `TooManyProofs` if its key must wait. */
  async use(jkt: string, jti: string, ms: number): Promise<void> {
    const id = toBase64Url(this.#platform.sha256(new TextEncoder().encode(`${jkt} ${jti}`)));
    this.#useHere(jkt, id, ms);
    if (this.#shared === undefined) return;
    const isFirst = (await this.#shared.set(`dpop/${id}`, "", { ttlMs: Math.ceil(ms), ifVersion: 0 })) !== undefined;
    if (!isFirst) throw replayed();
  }

  #useHere(jkt: string, id: string, ms: number): void {
    const now = this.#platform.monotonic();
    this.#dropExpired(now);
    const known = this.#keys.get(jkt);
    if (known !== undefined) this.#trim(known, now);
    if (known?.ends.has(id) === true) throw replayed();
    if (this.#count >= this.#limits.total && this.#largest <= MIN_SHARE) this.#sweep(now);
    const isFull = this.#count >= this.#limits.total;
    const most = isFull ? Math.min(this.#limits.perKey, Math.max(this.#largest, MIN_SHARE)) : this.#limits.perKey;
    if (known !== undefined && known.ends.size >= most) {
      const [next = now] = known.ends.values();
      throw new TooManyProofs(
        "the key has used more proofs than are remembered for it (`maxProofsPerKey`)",
        next - now,
      );
    }
    if (isFull) this.#evict(now);
    const proofs = known ?? { jkt, ends: new Map<string, number>(), lastEnd: 0 };
    proofs.ends.set(id, now + ms);
    proofs.lastEnd = Math.max(proofs.lastEnd, now + ms);
    this.#keys.delete(jkt);
    this.#keys.set(jkt, proofs);
    this.#resized(proofs, proofs.ends.size - 1);
  }

  /** Removes keys that were not used for so long that all of their proofs have expired. */
  #dropExpired(now: number): void {
    for (const proofs of this.#keys.values()) {
      if (proofs.lastEnd > now) return;
      this.#trim(proofs, now);
    }
  }

  /** Removes the oldest proofs of a key that have expired. */
  #trim(proofs: KeyProofs, now: number): void {
    const before = proofs.ends.size;
    for (const [id, end] of proofs.ends) {
      if (end > now) break;
      proofs.ends.delete(id);
    }
    if (proofs.ends.size < before) this.#resized(proofs, before);
  }

  /** Removes the expired proofs of all keys. At most once in a while: callers who are refused repeat their requests. */
  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const proofs of [...this.#keys.values()]) this.#trim(proofs, now);
  }

  /** Makes room for a proof. Throws if no key can do with fewer. */
  #evict(now: number): void {
    if (this.#largest <= MIN_SHARE) {
      const [oldest] = this.#keys.values();
      throw new TooManyProofs(
        "all keys together have used the proofs that are remembered",
        (oldest?.lastEnd ?? now) - now,
      );
    }
    const [greediest] = this.#bySize[this.#largest] ?? [];
    const [oldest] = greediest?.ends.keys() ?? [];
    if (greediest === undefined || oldest === undefined) return;
    greediest.ends.delete(oldest);
    this.#resized(greediest, greediest.ends.size + 1);
  }

  #resized(proofs: KeyProofs, before: number): void {
    const { size } = proofs.ends;
    const old = this.#bySize[before];
    old?.delete(proofs);
    if (old?.size === 0) this.#bySize[before] = undefined;
    if (size === 0) this.#keys.delete(proofs.jkt);
    else this.#bySize[size] = (this.#bySize[size] ?? new Set()).add(proofs);
    this.#count += size - before;
    this.#largest = Math.max(this.#largest, size);
    while (this.#largest > 0 && this.#bySize[this.#largest] === undefined) this.#largest--;
  }
}

function replayed(): InvalidToken {
  return new InvalidToken("the proof was used before", { reason: "dpop_replayed" });
}
