import type { Platform } from "../../platform/platform.js";
import { Secrets } from "../../seal/secrets.js";

/** How long a nonce is given out; it is accepted for as long again. */
const PERIOD_MS = 300_000;
const PURPOSE = "dpop nonce";

/**
 * Numbers that proofs must repeat (RFC 9449, 9), so that none can be made in advance. They follow from a secret and the time:
 * nothing is stored, and servers with the same secret accept each other's.
 */
export class DpopNonces {
  readonly #platform: Platform;
  readonly #secrets: Secrets;

  constructor(platform: Platform, secret: string | readonly string[] | undefined) {
    this.#platform = platform;
    this.#secrets = new Secrets(platform, secret);
  }

  /** The one for the next proof. */
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
