import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Wrong tokens within a window, after which they are answered as too many. */
const MOST_GUESSES = 20;
const GUESS_WINDOW_MS = 60_000;

/**
 * The two secrets that a request needs. The cookie alone is not enough, because a machine shares cookies between all of its ports:
 * another program that listens here is sent it. The token is in the storage of one tab, which ports do not share.
 */
export class Credentials {
  readonly token = randomBytes(32).toString("base64url");
  readonly #cookie = randomBytes(32).toString("base64url");
  readonly #cookieName: string;
  #guesses: number[] = [];

  constructor(port: number) {
    this.#cookieName = `parley-inspector-${port}`;
  }

  /** The value of `set-cookie` for a browser that has the token. */
  get setCookie(): string {
    return `${this.#cookieName}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`;
  }

  isToken(given: string): boolean {
    return isSame(given, this.token);
  }

  /** Whether the header `cookie` of a request has the cookie. Others of its name may be beside it: any port can plant some. */
  hasCookie(header: string | undefined): boolean {
    const [given, name] = [(header ?? "").split(";"), `${this.#cookieName}=`];
    const named = given.map((pair) => pair.trim()).filter((pair) => pair.startsWith(name));
    return named.some((pair) => isSame(pair.slice(name.length), this.#cookie));
  }

  /** Counts a wrong token, and tells whether there were too many of late. */
  countGuess(now = performance.now()): boolean {
    this.#guesses = [...this.#guesses, now].filter((at) => now - at < GUESS_WINDOW_MS).slice(-MOST_GUESSES - 1);
    return this.#guesses.length > MOST_GUESSES;
  }
}

/** Compares digests, so that neither the time nor the length tells how much of a guess was right. */
function isSame(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
