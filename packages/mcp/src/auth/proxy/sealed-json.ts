import type { Platform } from "../../platform/platform.js";
import type { Secrets } from "../../seal/secrets.js";

/** Seals values with an end, so that clients and browsers can carry them and neither read nor change them. */
export class SealedJson {
  readonly #secrets: Secrets;
  readonly #platform: Platform;

  constructor(secrets: Secrets, platform: Platform) {
    this.#secrets = secrets;
    this.#platform = platform;
  }

  seal(purpose: string, value: object, ttlMs: number): Promise<string> {
    return this.#secrets.seal(`proxy ${purpose}`, JSON.stringify({ value, until: this.#platform.now() + ttlMs }));
  }

  /** What was sealed for this purpose; undefined if it was not, or its time is over. `T` is what `seal` was given. */
  async open<T extends object>(purpose: string, sealed: string): Promise<T | undefined> {
    const opened = await this.#secrets.open(`proxy ${purpose}`, sealed);
    if ("fault" in opened) return undefined;
    // Only `seal` makes texts that open.
    const { value, until } = JSON.parse(opened.text) as { value: T; until: number };
    return until > this.#platform.now() ? value : undefined;
  }
}
