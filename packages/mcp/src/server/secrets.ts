import type { Cipher, Platform } from "../platform/platform.js";
import { fromBase64Url, toBase64Url } from "./base64url.js";

/** Why a sealed text was refused. */
export type SealFault = "malformed" | "foreign" | "forged";

/**
 * Seals texts that travel through the client and come back. One source for question state, cursors and event ids, each
 * under a key of its own purpose. The first secret seals, all of them open, so that a secret can be replaced.
 */
export class Secrets {
  readonly #platform: Platform;
  #given: readonly string[];
  readonly #ciphers = new Map<string, Cipher>();
  readonly #kids = new Map<string, string>();

  constructor(platform: Platform, secret: string | readonly string[] | undefined) {
    this.#platform = platform;
    this.#given = secret === undefined ? [] : typeof secret === "string" ? [secret] : secret;
  }

  /** Returns `1.<key id>.<base64url>`. */
  async seal(purpose: string, text: string): Promise<string> {
    const secret = this.#secrets()[0] ?? "";
    const head = `1.${this.#kid(secret)}`;
    const sealed = await this.#cipher(secret, purpose).seal(encode(text), encode(head));
    return `${head}.${toBase64Url(sealed)}`;
  }

  /** Returns the text, or why it is refused. */
  async open(purpose: string, sealed: string): Promise<{ text: string } | { fault: SealFault }> {
    const [version, kid, body, ...rest] = sealed.split(".");
    if (version !== "1" || kid === undefined || body === undefined || rest.length > 0) return { fault: "malformed" };
    const secret = this.#secrets().find((candidate) => this.#kid(candidate) === kid);
    if (secret === undefined) return { fault: "foreign" };
    const bytes = fromBase64Url(body);
    if (bytes === undefined) return { fault: "malformed" };
    const plain = await this.#cipher(secret, purpose).open(bytes, encode(`1.${kid}`));
    return plain === undefined ? { fault: "forged" } : { text: new TextDecoder().decode(plain) };
  }

  /** Made on first use: some runtimes forbid randomness while modules load. */
  #secrets(): readonly string[] {
    if (this.#given.length === 0) this.#given = [toBase64Url(this.#platform.randomBytes(32))];
    return this.#given;
  }

  #cipher(secret: string, purpose: string): Cipher {
    const name = `${purpose} ${secret}`;
    let cipher = this.#ciphers.get(name);
    if (cipher === undefined) {
      cipher = this.#platform.cipher(secret, `parley ${purpose}`);
      this.#ciphers.set(name, cipher);
    }
    return cipher;
  }

  #kid(secret: string): string {
    let kid = this.#kids.get(secret);
    if (kid === undefined) {
      kid = toBase64Url(this.#platform.sha256(encode(`parley key id ${secret}`)).subarray(0, 6));
      this.#kids.set(secret, kid);
    }
    return kid;
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
