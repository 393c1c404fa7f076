import { fromBase64Url, toBase64Url } from "../encoding/base64.js";
import type { Cipher, Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";

/** The reason why a sealed text was refused. */
export type SealFault = "malformed" | "foreign" | "forged";

/**
 * Seals and signs texts that clients store and return, such as cursors, event ids and the state of questions. Each
 * purpose has its own key. The first secret seals and signs. All secrets open and verify, so that a secret can be
 * replaced.
 */
export class Secrets {
  readonly #platform: Platform;
  #values: readonly string[];
  readonly #ciphers = new Map<string, Cipher>();
  readonly #kids = new Map<string, string>();

  /** Uses a random secret if none is set. Throws if `checkSecret` refuses the secret. */
  constructor(platform: Platform, secret: string | readonly string[] | undefined) {
    this.#platform = platform;
    if (secret !== undefined) checkSecret(secret);
    this.#values = secret === undefined ? [] : typeof secret === "string" ? [secret] : secret;
  }

  /** Seals a text. Returns `1.<key id>.<base64url>`. */
  async seal(purpose: string, text: string): Promise<string> {
    const secret = this.#secrets()[0] ?? "";
    const head = `1.${this.#kid(secret)}`;
    const sealed = await this.#cipher(secret, purpose).seal(encode(text), encode(head));
    return `${head}.${toBase64Url(sealed)}`;
  }

  /** Opens a sealed text. Returns the plain text, or the reason for the refusal. */
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

  /**
   * Returns the text with a signature, both as base64url. Anyone can read the text, but changes are detected.
   * Synchronous on every platform, unlike `seal`.
   */
  sign(purpose: string, text: string): string {
    const payload = encode(text);
    return `${toBase64Url(payload)}.${toBase64Url(this.#mac(this.#secrets()[0] ?? "", purpose, payload))}`;
  }

  /** Returns the signed text, or undefined if `sign` did not sign it for this purpose. */
  verify(purpose: string, signed: string): string | undefined {
    const [payload, mac, ...rest] = signed.split(".").map(fromBase64Url);
    if (payload === undefined || mac === undefined || rest.length > 0) return undefined;
    const made = this.#secrets().some((secret) => sameBytes(this.#mac(secret, purpose, payload), mac));
    return made ? new TextDecoder().decode(payload) : undefined;
  }

  #mac(secret: string, purpose: string, payload: Uint8Array): Uint8Array {
    const key = this.#platform.sha256(encode(`parley ${purpose} ${secret}`));
    return hmac(this.#platform, key, payload).subarray(0, 16);
  }

  /** Creates a random secret on first use, because some runtimes forbid randomness while modules load. */
  #secrets(): readonly string[] {
    if (this.#values.length === 0) this.#values = [toBase64Url(this.#platform.randomBytes(32))];
    return this.#values;
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

/**
 * Minimum length of a secret, in characters. A shorter secret could be guessed from one sealed text, and then used to
 * forge other texts.
 */
const MIN_SECRET_LENGTH = 32;

/**
 * Sample secrets from the documentation. They are long enough, but public, and a program may have copied one of them.
 */
const PUBLISHED_SECRETS: readonly unknown[] = [
  "the output of `openssl rand -base64 32`",
  "at least 32 characters of randomness",
  "the same 32 or more characters on every node",
  "the same 32 or more characters for each process",
];

/**
 * Throws `invalid_definition` if a secret, or any secret of a list, can be guessed: it is missing, too short, or a
 * sample from the documentation. Applies to every option that accepts a secret.
 */
export function checkSecret(secret: unknown): void {
  if (!Array.isArray(secret)) return checkOne("secret", secret);
  if (secret.length === 0) throw weakSecret("`secret` is an empty list");
  secret.forEach((one, index) => {
    checkOne(`secret[${index}]`, one);
  });
}

function checkOne(name: string, secret: unknown): void {
  if (typeof secret !== "string")
    throw weakSecret(`\`${name}\` is ${secret === undefined ? "missing" : "not a string"}`);
  if (secret.trim() === "") throw weakSecret(`\`${name}\` is empty. Is an environment variable not set?`);
  if (secret.length < MIN_SECRET_LENGTH) {
    throw weakSecret(`\`${name}\` has ${secret.length} characters, but needs at least ${MIN_SECRET_LENGTH}`);
  }
  if (PUBLISHED_SECRETS.includes(secret)) throw weakSecret(`\`${name}\` is a sample from the documentation`);
}

function weakSecret(message: string): McpError {
  return new McpError("invalid_definition", message, {
    fix: "Set it to an unguessable value, for example the output of `openssl rand -base64 32`.",
  });
}

const BLOCK_BYTES = 64;

/** HMAC (RFC 2104) for a key that is shorter than a block. */
function hmac(platform: Platform, key: Uint8Array, message: Uint8Array): Uint8Array {
  const inner = new Uint8Array(BLOCK_BYTES + message.length).fill(0x36, 0, BLOCK_BYTES);
  const outer = new Uint8Array(BLOCK_BYTES + 32).fill(0x5c, 0, BLOCK_BYTES);
  for (const [index, byte] of key.entries()) {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  inner.set(message, BLOCK_BYTES);
  outer.set(platform.sha256(inner), BLOCK_BYTES);
  return platform.sha256(outer);
}

/** Compares in constant time, so that the time does not reveal where the first difference is. */
function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
