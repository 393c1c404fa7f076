import {
  type CryptoKey,
  createLocalJWKSet,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from "jose";
import type { Platform } from "../../platform/platform.js";
import { TokenBucket } from "../../platform/token-bucket.js";
import { parseObject, readMetadata, textMember } from "../discovery/metadata-document.js";
import { metadataUrls } from "../discovery/server-metadata.js";
import { Steps } from "../discovery/steps.js";
import type { BoundedFetch } from "../url/bounded-fetch.js";
import { InvalidToken } from "./verified-token.js";

export interface IssuerKeysParts {
  readonly issuer: string;
  /** Where the keys are. Default: as the issuer's metadata says. */
  readonly jwksUri: string | undefined;
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
}

const MINUTE = 60_000;
const FRESH_MS = 10 * MINUTE;
const MIN_FRESH_MS = MINUTE;
const MAX_FRESH_MS = 24 * 60 * MINUTE;
/** How long keys are used that cannot be fetched again: an outage of the issuer must not stop its users at once. */
const STALE_MS = 60 * MINUTE;
/** The pause after a failure without keys; shorter, because every caller is refused until then. */
const RETRY_MS = 5_000;
/** The pause after which keys that are due are asked for again while the old ones can be used. */
const COOL_DOWN_MS = 30_000;
/** A token with an unknown key leads to a request at once, so that a new key is found; a flood of them to few requests. */
const MAX_SEARCHES = 3;
const SEARCH_EVERY_MS = 10_000;
const MAX_KEYS = 100;

type KeyOf = ReturnType<typeof createLocalJWKSet>;

/** The public keys of an issuer, fetched when they are needed and again when they change. */
export class IssuerKeys {
  readonly #parts: IssuerKeysParts;
  #keyOf: KeyOf | undefined;
  #freshUntil = 0;
  #usableUntil = 0;
  #lastFetch = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  readonly #searches: TokenBucket;

  constructor(parts: IssuerKeysParts) {
    this.#parts = parts;
    this.#searches = new TokenBucket(parts.platform, { intervalMs: SEARCH_EVERY_MS, burst: MAX_SEARCHES });
  }

  /** The key that a token names. Rejects with `InvalidToken` if the issuer has no such key. */
  async key(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const before = this.#lastFetch;
    await this.#refresh();
    try {
      return await this.#find(header, token);
    } catch (error) {
      // The issuer may have changed its keys a moment ago, and another token may have led to the request for them.
      if (this.#fetching === undefined && this.#lastFetch === before && !this.#maySearch(error)) throw error;
      if (this.#fetching !== undefined || this.#lastFetch === before) await this.#fetch();
      return this.#find(header, token);
    }
  }

  async #find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const keyOf = this.#now() < this.#usableUntil ? this.#keyOf : undefined;
    if (keyOf === undefined) throw new Error(`the keys of ${this.#parts.issuer} could not be fetched`);
    try {
      return await keyOf(header, token);
    } catch {
      throw new InvalidToken("the issuer has no key for the token", { reason: "unknown_key", got: header.kid });
    }
  }

  #now(): number {
    return this.#parts.platform.monotonic();
  }

  /** Whether the keys may be asked for because a token names an unknown one. One more request may every few seconds. */
  #maySearch(error: unknown): boolean {
    // Without any keys, only time lets them be asked for again.
    return error instanceof InvalidToken && this.#searches.take() === 0;
  }

  async #refresh(): Promise<void> {
    if (this.#now() < this.#freshUntil) return;
    const pauseMs = this.#keyOf === undefined ? RETRY_MS : COOL_DOWN_MS;
    if (this.#fetching === undefined && this.#now() - this.#lastFetch < pauseMs) return;
    await this.#fetch();
  }

  /** One request for all tokens that wait for it. A failure leaves the old keys, for as long as they may be used. */
  #fetch(): Promise<void> {
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(): Promise<void> {
    this.#lastFetch = this.#now();
    try {
      const { keys, freshMs } = await this.#read();
      this.#keyOf = createLocalJWKSet(keys);
      this.#freshUntil = this.#now() + freshMs;
      this.#usableUntil = this.#freshUntil + STALE_MS;
    } catch (error) {
      if (this.#now() >= this.#usableUntil) this.#keyOf = undefined;
      this.#parts.platform.warn(`the keys of ${this.#parts.issuer} could not be fetched: ${(error as Error).message}`);
    }
  }

  async #read(): Promise<{ keys: JSONWebKeySet; freshMs: number }> {
    const { fetch } = this.#parts;
    const uri = this.#parts.jwksUri ?? (await this.#published());
    const response = await fetch(uri, { headers: { accept: "application/json" } });
    if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
    // The error of the JSON parser would repeat a part of the document.
    const keys = parseObject(await response.text())?.["keys"];
    if (!Array.isArray(keys) || keys.length > MAX_KEYS) throw new Error(`no set of up to ${MAX_KEYS} keys`);
    // Symmetric keys have no place in a public document: every reader could sign with them.
    const usable = keys.filter((key) => typeof key === "object" && key !== null && key.kty !== "oct");
    const maxAge = /\bmax-age=(\d+)/.exec(response.headers.get("cache-control") ?? "")?.[1];
    const wished = maxAge === undefined ? FRESH_MS : Number(maxAge) * 1_000;
    return { keys: { keys: usable }, freshMs: Math.min(MAX_FRESH_MS, Math.max(MIN_FRESH_MS, wished)) };
  }

  async #published(): Promise<string> {
    const { issuer, fetch } = this.#parts;
    const steps = new Steps();
    for (const url of metadataUrls(issuer)) {
      const document = await readMetadata(fetch, url, "authorization server metadata", steps);
      const uri =
        document === undefined || document["issuer"] !== issuer ? undefined : textMember(document, "jwks_uri");
      if (uri !== undefined) return uri;
    }
    throw steps.failure(`the metadata of ${issuer} names no keys`, "Set `jwksUri`.");
  }
}
