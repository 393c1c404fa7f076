import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Maximum number of wrong tokens within `GUESS_WINDOW_MS`. Further ones are answered with 429. */
const MAX_GUESSES = 20;
const GUESS_WINDOW_MS = 60_000;

/**
 * The two secrets that a request needs. The cookie alone is not enough, because browsers share cookies between all
 * ports of a host: another program that listens on this machine could receive the cookie. The token is in the storage
 * of one tab, and browsers separate this storage by port.
 */
export class Credentials {
  readonly token = randomBytes(32).toString("base64url");
  readonly #cookie = randomBytes(32).toString("base64url");
  readonly #cookieName: string;
  #guesses: number[] = [];

  constructor(port: number) {
    this.#cookieName = `parley-inspector-${port}`;
  }

  /** The `set-cookie` header for a browser that has the token. */
  get setCookie(): string {
    return `${this.#cookieName}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`;
  }

  isToken(given: string): boolean {
    return isSame(given, this.token);
  }

  /**
   * True if the `cookie` header contains the cookie. The header may contain other cookies of the same name, because a
   * program on any port can set them.
   */
  hasCookie(header: string | undefined): boolean {
    const [given, name] = [(header ?? "").split(";"), `${this.#cookieName}=`];
    const named = given.map((pair) => pair.trim()).filter((pair) => pair.startsWith(name));
    return named.some((pair) => isSame(pair.slice(name.length), this.#cookie));
  }

  /** Counts a wrong token. Returns true if there were too many within the window. */
  countGuess(now = performance.now()): boolean {
    this.#guesses = [...this.#guesses, now].filter((at) => now - at < GUESS_WINDOW_MS).slice(-MAX_GUESSES - 1);
    return this.#guesses.length > MAX_GUESSES;
  }
}

/**
 * Compares digests, which all have the same length, in constant time. A refusal thus does not reveal how much of a
 * guess was right.
 */
function isSame(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
