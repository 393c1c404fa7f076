import type { Platform } from "../../platform/platform.js";
import type { Secrets } from "../../seal/secrets.js";

/** Seals values with an end, so that clients and browsers can carry them and neither read nor change them. */
export class SealedJson {
  readonly #secrets: Secrets;
  readonly #platform: Platform;
  readonly #audience: string;

  /** `audience` binds everything sealed here: a proxy for another resource opens none of it, even with the same secret (RFC 8707). */
  constructor(secrets: Secrets, platform: Platform, audience = "") {
    this.#secrets = secrets;
    this.#platform = platform;
    this.#audience = audience;
  }

  seal(purpose: string, value: object, ttlMs: number): Promise<string> {
    return this.#secrets.seal(this.#use(purpose), JSON.stringify({ value, until: this.#platform.now() + ttlMs }));
  }

  /** Opens a text that was sealed for this purpose; undefined if it was not, or has expired. `T` is the type that `seal` was given. */
  async open<T extends object>(purpose: string, sealed: string): Promise<T | undefined> {
    const opened = await this.#secrets.open(this.#use(purpose), sealed);
    if ("fault" in opened) return undefined;
    // Only `seal` makes texts that open.
    const { value, until } = JSON.parse(opened.text) as { value: T; until: number };
    return until > this.#platform.now() ? value : undefined;
  }

  #use(purpose: string): string {
    return `proxy ${purpose} ${this.#audience}`.trimEnd();
  }
}
