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

/** Options for `IssuerKeys`. */
export interface IssuerKeysOptions {
  readonly issuer: string;
  /** Address of the keys. Default: the `jwks_uri` of the issuer's metadata. */
  readonly jwksUri: string | undefined;
  readonly fetch: BoundedFetch;
  readonly platform: Platform;
}

const MINUTE = 60_000;
const FRESH_MS = 10 * MINUTE;
const MIN_FRESH_MS = MINUTE;
const MAX_FRESH_MS = 24 * 60 * MINUTE;
/**
 * Time for which expired keys are used if new ones cannot be fetched, so that an outage of the issuer does not lock out
 * its users at once.
 */
const STALE_MS = 60 * MINUTE;
/**
 * Minimum pause between fetches while there are no usable keys. It is short, because every caller is refused meanwhile.
 */
const RETRY_MS = 5_000;
/** Minimum pause between fetches while expired keys are still usable. */
const COOL_DOWN_MS = 30_000;
/**
 * Maximum number of fetches in a row that tokens with an unknown key cause, so that a flood of such tokens does not
 * reach the issuer. Beyond that, one fetch per `SEARCH_INTERVAL_MS` is allowed, and other tokens with an unknown key
 * are refused.
 */
const MAX_SEARCHES = 3;
const SEARCH_INTERVAL_MS = 10_000;
const MAX_KEYS = 100;

type KeyOf = ReturnType<typeof createLocalJWKSet>;

/** The public keys of an issuer. Fetches them on demand, when they expire and when a token names an unknown key. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #keyOf: KeyOf | undefined;
  #freshUntil = 0;
  #usableUntil = 0;
  #lastFetch = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  readonly #searches: TokenBucket;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#searches = new TokenBucket(options.platform, { intervalMs: SEARCH_INTERVAL_MS, burst: MAX_SEARCHES });
  }

  /** Returns the key that a token names. Rejects with `InvalidToken` if the issuer has no such key. */
  async key(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const before = this.#lastFetch;
    await this.#refresh();
    try {
      return await this.#find(header, token);
    } catch (error) {
      // The issuer may have changed its keys just now. If another token has already caused a fetch, use its result.
      if (this.#fetching === undefined && this.#lastFetch === before && !this.#maySearch(error)) throw error;
      if (this.#fetching !== undefined || this.#lastFetch === before) await this.#fetch();
      return this.#find(header, token);
    }
  }

  async #find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const keyOf = this.#now() < this.#usableUntil ? this.#keyOf : undefined;
    if (keyOf === undefined) throw new Error(`the keys of ${this.#options.issuer} could not be fetched`);
    try {
      return await keyOf(header, token);
    } catch {
      throw new InvalidToken("the issuer has no key for the token", { reason: "unknown_key", got: header.kid });
    }
  }

  #now(): number {
    return this.#options.platform.monotonic();
  }

  /** True if an unknown key may trigger a fetch. Each call that returns true uses up one of the allowed fetches. */
  #maySearch(error: unknown): boolean {
    // If there are no keys at all, the error is not an `InvalidToken`, and the next fetch has to wait for `RETRY_MS`.
    return error instanceof InvalidToken && this.#searches.acquire() === 0;
  }

  async #refresh(): Promise<void> {
    if (this.#now() < this.#freshUntil) return;
    const pauseMs = this.#keyOf === undefined ? RETRY_MS : COOL_DOWN_MS;
    if (this.#fetching === undefined && this.#now() - this.#lastFetch < pauseMs) return;
    await this.#fetch();
  }

  /** Fetches the keys once for all waiting tokens. A failure leaves the old keys in use while they are usable. */
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
      this.#options.platform.warn(
        `the keys of ${this.#options.issuer} could not be fetched: ${(error as Error).message}`,
      );
    }
  }

  async #read(): Promise<{ keys: JSONWebKeySet; freshMs: number }> {
    const { fetch } = this.#options;
    const uri = this.#options.jwksUri ?? (await this.#publishedJwksUri());
    const response = await fetch(uri, { headers: { accept: "application/json" } });
    if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
    // Not `JSON.parse`, because its error would repeat part of the document.
    const keys = parseObject(await response.text())?.["keys"];
    if (!Array.isArray(keys) || keys.length > MAX_KEYS)
      throw new Error(`the document is not a set of up to ${MAX_KEYS} keys`);
    // Ignore symmetric keys: anyone who reads a public document could sign with them.
    const usable = keys.filter((key) => typeof key === "object" && key !== null && key.kty !== "oct");
    const maxAge = /\bmax-age=(\d+)/.exec(response.headers.get("cache-control") ?? "")?.[1];
    const wished = maxAge === undefined ? FRESH_MS : Number(maxAge) * 1_000;
    return { keys: { keys: usable }, freshMs: Math.min(MAX_FRESH_MS, Math.max(MIN_FRESH_MS, wished)) };
  }

  async #publishedJwksUri(): Promise<string> {
    const { issuer, fetch } = this.#options;
    const steps = new Steps();
    for (const url of metadataUrls(issuer)) {
      const document = await readMetadata(fetch, url, "authorization server metadata", steps);
      const uri =
        document === undefined || document["issuer"] !== issuer ? undefined : textMember(document, "jwks_uri");
      if (uri !== undefined) return uri;
    }
    throw steps.failure(`the metadata of ${issuer} has no usable \`jwks_uri\``, "Set `jwksUri`.");
  }
}
