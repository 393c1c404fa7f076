import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { VerifiedToken } from "./verified-token.js";

const MAX_TOKENS = 10_000;
/** A token that its issuer withdraws is refused after this time at the latest. */
const MAX_AGE_MS = 60_000;

interface Entry {
  readonly verified: VerifiedToken;
  readonly until: number;
}

/** Remembers tokens that were verified a moment ago, by a digest, so that no copy of them is kept. */
export class TokenCache {
  readonly #platform: Platform;
  readonly #entries = new Map<string, Entry>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  get(token: string): VerifiedToken | undefined {
    const key = this.#key(token);
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > this.#platform.monotonic() && entry.verified.expiresAt > this.#platform.now())
      return entry.verified;
    this.#entries.delete(key);
    return undefined;
  }

  set(token: string, verified: VerifiedToken): void {
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= MAX_TOKENS && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(this.#key(token), { verified, until: this.#platform.monotonic() + MAX_AGE_MS });
  }

  #key(token: string): string {
    return toBase64Url(this.#platform.sha256(new TextEncoder().encode(token)));
  }
}
