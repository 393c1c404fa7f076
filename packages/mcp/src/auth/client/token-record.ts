import { canonicalResource } from "../discovery/resource-metadata.js";
import type { Renewal } from "./renewal.js";
import type { TokenStore } from "./token-store.js";

/** A token, and all that belongs to it. */
export interface TokenRecord {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly scheme: "Bearer" | "DPoP";
  /** The scopes that were asked for, and those that were granted beyond them. */
  readonly scopes: readonly string[];
  readonly refreshToken?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
  /** The private key that the token is bound to. */
  readonly dpopKey?: JsonWebKey | undefined;
}

/** Reads and writes the tokens of one server. They are kept by issuer, and none is ever used for another. */
export class StoredTokens {
  readonly #store: TokenStore;
  readonly #server: string;

  constructor(store: TokenStore, url: string) {
    this.#store = store;
    this.#server = canonicalResource(url);
  }

  async load(): Promise<TokenRecord | undefined> {
    const issuer = await this.#store.get(this.#pointer());
    const text = issuer === undefined ? undefined : await this.#store.get(this.#key(issuer));
    const record = text === undefined ? undefined : readRecord(text);
    return record?.issuer === issuer ? record : undefined;
  }

  async save(record: TokenRecord): Promise<void> {
    await this.#store.set(this.#key(record.issuer), JSON.stringify(record));
    await this.#store.set(this.#pointer(), record.issuer);
  }

  async forget(issuer: string): Promise<void> {
    await this.#store.delete(this.#key(issuer));
  }

  /** Forgets the tokens, whoever issued them. */
  async clear(): Promise<void> {
    const issuer = await this.#store.get(this.#pointer());
    if (issuer !== undefined) await this.forget(issuer);
    await this.#store.delete(this.#pointer());
  }

  /** Takes turns with other processes that use the same credential. Deadlines do not count meanwhile if it comes `fromUser`. */
  exclusively(work: () => Promise<void>, renewal: Renewal, fromUser: boolean): Promise<void> {
    if (this.#store.lock === undefined) return work();
    let begin = () => {};
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const watched = () => {
      begin();
      return work();
    };
    const done = this.#store.lock(`tokens ${this.#server}`, watched, renewal.signal);
    // The process that has the turn may be waiting for its user to log in.
    if (fromUser) renewal.whileAsking(() => Promise.race([turn, done])).catch(() => {});
    return done;
  }

  #key(issuer: string): string {
    return `tokens ${issuer} ${this.#server}`;
  }

  #pointer(): string {
    return `issuer of ${this.#server}`;
  }
}

/** A text that is no record is as good as none: the user logs in again. */
function readRecord(text: string): TokenRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { issuer, resource, clientId, accessToken, scheme, scopes, refreshToken, expiresAt } = value as Partial<
      Record<keyof TokenRecord, unknown>
    >;
    const isRead =
      [issuer, resource, clientId, accessToken].every((one) => typeof one === "string") &&
      ["string", "undefined"].includes(typeof refreshToken) &&
      ["number", "undefined"].includes(typeof expiresAt);
    if (!isRead || (scheme !== "Bearer" && scheme !== "DPoP") || !Array.isArray(scopes)) return undefined;
    // Each member was looked at, but the key, which is checked when it is read.
    return value as TokenRecord;
  } catch {
    return undefined;
  }
}
