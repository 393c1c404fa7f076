import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWK, jwtVerify } from "jose";
import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import { Secrets } from "../../seal/secrets.js";
import type { KeyValue } from "../../storage/storage.js";
import { InvalidToken, type VerifiedToken } from "./verified-token.js";

/** One request whose sender must prove that it has the key of its token. */
interface ProvenRequest {
  readonly method: string;
  /** The addresses by which clients may call this server. */
  readonly urls: readonly string[];
  readonly proof: string;
  readonly token: string;
}

export const PROOF_ALGORITHMS: readonly string[] = ["ES256", "ES384", "ES512", "RS256", "PS256", "EdDSA", "Ed25519"];
const WINDOW_MS = 300_000;
const MAX_PROOF_LENGTH = 8 * 1024;

/** Error for a valid proof without a current nonce. The response to the client carries the current nonce. */
export class NonceNeeded extends Error {}

/** Verifies DPoP proofs (RFC 9449). Each proof is valid for one request. */
export class DpopProofs {
  readonly #platform: Platform;
  readonly #nonces: DpopNonces | undefined;
  readonly #seen: SeenProofs;

  constructor(platform: Platform, nonces: DpopNonces | undefined, seen: SeenProofs) {
    this.#platform = platform;
    this.#nonces = nonces;
    this.#seen = seen;
  }

  /**
   * Verifies the proof of a request. Rejects with `InvalidToken` if the sender does not have the key that the token is
   * bound to, with `NonceNeeded` if only the nonce is wrong, and with `TooManyProofs` if the key has used too many
   * proofs.
   */
  async check({ method, urls, proof, token }: ProvenRequest, verified: VerifiedToken): Promise<void> {
    if (proof.length > MAX_PROOF_LENGTH || proof.includes(",")) throw invalid("the proof is malformed");
    const { payload, jwk } = await this.#verify(proof);
    const expected = jktOf(verified);
    const got = await calculateJwkThumbprint(jwk);
    if (expected === undefined || got !== expected) throw invalid("the token is bound to another key", expected, got);
    const ath = toBase64Url(this.#platform.sha256(new TextEncoder().encode(token)));
    const { htm, htu, jti, iat } = payload;
    const target = typeof htu === "string" ? withoutQuery(htu) : "";
    const isOwn = htm === method && target !== "" && urls.some((url) => withoutQuery(url) === target);
    if (!isOwn) throw invalid("the proof is for another request", [method, ...urls], [htm, htu]);
    if (payload["ath"] !== ath) throw invalid("the proof is for another token");
    const now = this.#platform.now();
    const madeAt = (typeof iat === "number" ? iat : 0) * 1_000;
    if (Math.abs(now - madeAt) > WINDOW_MS) throw invalid("the proof is too old", String(now / 1_000), iat);
    if (typeof jti !== "string" || jti === "" || jti.length > 256) throw invalid("the proof has no id");
    if (this.#nonces?.accepts(payload["nonce"]) === false) throw new NonceNeeded("the proof lacks the nonce");
    // Store the proof for one second longer than it would be accepted.
    await this.#seen.use(expected, jti, madeAt + WINDOW_MS - now + 1_000);
  }

  async #verify(proof: string): Promise<{ payload: Record<string, unknown>; jwk: JWK }> {
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: "dpop+jwt",
        algorithms: [...PROOF_ALGORITHMS],
        currentDate: new Date(this.#platform.now()),
      });
      const { jwk } = protectedHeader;
      if (jwk === undefined || "d" in jwk) throw invalid("the proof has no public key");
      return { payload, jwk };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw invalid(`the proof is not valid (${error.code})`);
      throw error instanceof TypeError ? invalid("the proof is not valid") : error;
    }
  }
}

function invalid(message: string, expected?: string | readonly string[], got?: unknown): InvalidToken {
  return new InvalidToken(message, { reason: "dpop_invalid", expected, got });
}

/** Returns the thumbprint of the key that a token is bound to. Undefined for a bearer token. */
export function jktOf({ claims }: Pick<VerifiedToken, "claims">): string | undefined {
  const cnf = claims["cnf"];
  const jkt = typeof cnf === "object" && cnf !== null && "jkt" in cnf ? cnf.jkt : undefined;
  return typeof jkt === "string" ? jkt : undefined;
}

/**
 * Throws for a token with a binding that cannot be verified here, such as a certificate (RFC 8705). Accepting it as a
 * bearer token would ignore the restriction that its issuer set.
 */
export function checkBinding({ claims }: VerifiedToken): void {
  const cnf = claims["cnf"] ?? undefined;
  if (cnf === undefined) return;
  const methods = typeof cnf === "object" ? Object.entries(cnf) : [];
  const isKnown = methods.length === 1 && methods[0]?.[0] === "jkt" && typeof methods[0][1] === "string";
  if (isKnown && methods[0]?.[1] !== "") return;
  throw new InvalidToken("the token is bound in a way that cannot be verified", {
    reason: "unsupported_binding",
    expected: "cnf with one text, jkt",
    got: methods.map(([name]) => name),
  });
}

function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** Period in which the same nonce is issued. A nonce is accepted in its own period and in the next one. */
const PERIOD_MS = 300_000;
const PURPOSE = "dpop nonce";

/**
 * Nonces that proofs must contain (RFC 9449, 9), so that proofs cannot be made in advance. They are derived from a
 * secret and the time. Nothing is stored, and servers with the same secret accept each other's nonces.
 */
export class DpopNonces {
  readonly #platform: Platform;
  readonly #secrets: Secrets;

  constructor(platform: Platform, secret: string | readonly string[] | undefined) {
    this.#platform = platform;
    this.#secrets = new Secrets(platform, secret);
  }

  /** The nonce for the next proof. */
  current(): string {
    return this.#secrets.sign(PURPOSE, String(this.#period()));
  }

  accepts(nonce: unknown): boolean {
    if (typeof nonce !== "string" || nonce.length > 256) return false;
    const age = this.#period() - Number(this.#secrets.verify(PURPOSE, nonce) ?? Number.NaN);
    return age === 0 || age === 1;
  }

  #period(): number {
    return Math.floor(this.#platform.now() / PERIOD_MS);
  }
}

/** Limits on the used proofs that are stored. */
interface ProofLimits {
  readonly perKey: number;
  readonly total: number;
}

/** The used proofs of one key. */
interface KeyProofs {
  readonly jkt: string;
  /** Expiry times of proofs by their digest, in the order of use. */
  readonly ends: Map<string, number>;
  lastEnd: number;
}

/**
 * Maximum number of stored proofs of all keys together, unless the limit per key requires more. A digest with its entry
 * needs about 130 bytes.
 */
const MAX_PROOFS = 100_000;
/** Number of proofs of each key that are never evicted before they expire. */
const MIN_SHARE = 100;
/** Minimum interval between searches for expired proofs, while no proof can be evicted. */
const SWEEP_MS = 1_000;

/** Error for a proof that cannot be stored, because its key or all keys together have reached the limit. */
export class TooManyProofs extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Stores used proofs until they expire, so that none is accepted twice.
 *
 * A key at its own limit has to wait. If all keys together reach their limit, the key with the most proofs has to wait.
 * Its oldest proof is evicted for the proof of another key, as long as it has more than `MIN_SHARE` proofs. If no key
 * has more than `MIN_SHARE`, new proofs are refused until stored ones expire.
 *
 * To make a key with fewer than `MIN_SHARE` proofs wait, an attacker needs very many keys, each with a token. The proofs
 * of such a key are never evicted, so an attacker cannot replay them.
 */
export class SeenProofs {
  readonly #platform: Platform;
  readonly #limits: ProofLimits;
  readonly #shared: KeyValue | undefined;
  /** The least recently used key comes first. */
  readonly #keys = new Map<string, KeyProofs>();
  /** Sets of keys. The index of a set is the number of proofs that each of its keys has. */
  readonly #bySize: (Set<KeyProofs> | undefined)[] = [];
  #largest = 0;
  #count = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `shared` is a store for the used proofs of all nodes. Default: each process stores its own. */
  constructor(platform: Platform, maxPerKey: number, shared?: KeyValue, total = Math.max(MAX_PROOFS, 2 * maxPerKey)) {
    this.#platform = platform;
    this.#limits = { perKey: maxPerKey, total };
    this.#shared = shared;
  }

  /**
   * Stores a proof for `ms`. Rejects with `InvalidToken` if it was used before, and with `TooManyProofs` if its key
   * must wait.
   */
  async use(jkt: string, jti: string, ms: number): Promise<void> {
    const id = toBase64Url(this.#platform.sha256(new TextEncoder().encode(`${jkt} ${jti}`)));
    this.#useHere(jkt, id, ms);
    if (this.#shared === undefined) return;
    const isFirst = (await this.#shared.set(`dpop/${id}`, "", { ttlMs: Math.ceil(ms), ifVersion: 0 })) !== undefined;
    if (!isFirst) throw replayError();
  }

  #useHere(jkt: string, id: string, ms: number): void {
    const now = this.#platform.monotonic();
    this.#dropExpired(now);
    const known = this.#keys.get(jkt);
    if (known !== undefined) this.#trim(known, now);
    if (known?.ends.has(id) === true) throw replayError();
    if (this.#count >= this.#limits.total && this.#largest <= MIN_SHARE) this.#sweep(now);
    const isFull = this.#count >= this.#limits.total;
    const most = isFull ? Math.min(this.#limits.perKey, Math.max(this.#largest, MIN_SHARE)) : this.#limits.perKey;
    if (known !== undefined && known.ends.size >= most) {
      const [next = now] = known.ends.values();
      throw new TooManyProofs("the key has reached its limit of stored proofs (`maxProofsPerKey`)", next - now);
    }
    if (isFull) this.#evict(now);
    const proofs = known ?? { jkt, ends: new Map<string, number>(), lastEnd: 0 };
    proofs.ends.set(id, now + ms);
    proofs.lastEnd = Math.max(proofs.lastEnd, now + ms);
    this.#keys.delete(jkt);
    this.#keys.set(jkt, proofs);
    this.#resized(proofs, proofs.ends.size - 1);
  }

  /** Removes keys that were unused for so long that all of their proofs have expired. */
  #dropExpired(now: number): void {
    for (const proofs of this.#keys.values()) {
      if (proofs.lastEnd > now) return;
      this.#trim(proofs, now);
    }
  }

  /** Removes expired proofs of a key, in the order of use, up to the first proof that has not expired. */
  #trim(proofs: KeyProofs, now: number): void {
    const before = proofs.ends.size;
    for (const [id, end] of proofs.ends) {
      if (end > now) break;
      proofs.ends.delete(id);
    }
    if (proofs.ends.size < before) this.#resized(proofs, before);
  }

  /**
   * Removes the expired proofs of all keys. Runs at most once per `SWEEP_MS`, because refused callers repeat their
   * requests.
   */
  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const proofs of [...this.#keys.values()]) this.#trim(proofs, now);
  }

  /** Evicts the oldest proof of the key with the most proofs. Throws if no key has more than `MIN_SHARE` proofs. */
  #evict(now: number): void {
    if (this.#largest <= MIN_SHARE) {
      const [oldest] = this.#keys.values();
      throw new TooManyProofs(
        "all keys together have reached the limit of stored proofs",
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

function replayError(): InvalidToken {
  return new InvalidToken("the proof was used before", { reason: "dpop_replayed" });
}
