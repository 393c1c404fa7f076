import { toBase64Url } from "../../encoding/base64.js";
import type { Principal } from "../../http/authentication.js";
import type { Platform } from "../../platform/platform.js";
import type { VerifiedToken } from "./verified-token.js";

const MAX_TOKENS = 10_000;
/** Those of the last moments are found without a digest, which costs as much as a short call. */
const MAX_RECENT = 256;
/** A token that its issuer withdraws is refused after this time at the latest. */
const MAX_AGE_MS = 60_000;

/** A token that was verified, and what follows from it for every request that carries it. */
export interface KnownToken<Refused> {
  readonly verified: VerifiedToken;
  readonly answer: Principal | Refused;
}

interface Entry<Refused> extends KnownToken<Refused> {
  readonly until: number;
}

/** Remembers credentials that were verified a moment ago: by a digest, so that no copy of them is kept except of the newest. */
export class TokenCache<Refused> {
  readonly #platform: Platform;
  readonly #entries = new Map<string, Entry<Refused>>();
  readonly #recent = new Map<string, Entry<Refused>>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** What is known of the value of an Authorization header. */
  get(credentials: string): KnownToken<Refused> | undefined {
    const entry = this.#recent.get(credentials) ?? this.#byDigest(credentials);
    if (entry === undefined) return undefined;
    if (entry.until > this.#platform.monotonic() && entry.verified.expiresAt > this.#platform.now()) return entry;
    this.#recent.delete(credentials);
    this.#entries.delete(this.#key(credentials));
    return undefined;
  }

  set(credentials: string, known: KnownToken<Refused>): void {
    const entry = { ...known, until: this.#platform.monotonic() + MAX_AGE_MS };
    put(this.#entries, this.#key(credentials), entry, MAX_TOKENS);
    put(this.#recent, credentials, entry, MAX_RECENT);
  }

  #byDigest(credentials: string): Entry<Refused> | undefined {
    // Unverified text costs no digest as long as nobody else was let in.
    const entry = this.#entries.size === 0 ? undefined : this.#entries.get(this.#key(credentials));
    if (entry !== undefined) put(this.#recent, credentials, entry, MAX_RECENT);
    return entry;
  }

  #key(credentials: string): string {
    return toBase64Url(this.#platform.sha256(new TextEncoder().encode(credentials)));
  }
}

/** Sets an entry, for which the oldest makes room. */
function put<E>(entries: Map<string, E>, key: string, entry: E, max: number): void {
  const [oldest] = entries.keys();
  if (entries.size >= max && oldest !== undefined) entries.delete(oldest);
  entries.set(key, entry);
}
