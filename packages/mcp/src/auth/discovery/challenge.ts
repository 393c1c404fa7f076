/** One challenge of a `WWW-Authenticate` header. */
export interface Challenge {
  /** In lower case: `bearer`, `dpop`. */
  readonly scheme: string;
  /** By their names in lower case; of a name that comes twice, the first. */
  readonly params: ReadonlyMap<string, string>;
}

const MAX_LENGTH = 16 * 1024;
const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/y;
const GAP = /[\s,]*/y;
const EQUALS = /\s*=\s*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;

/**
 * Reads the challenges of a `WWW-Authenticate` header (RFC 9110, 11.6.1), which may hold several, with quoted commas inside.
 * What cannot be read ends the list; a header longer than 16 KiB has none.
 */
function parseChallenges(header: string): Challenge[] {
  if (header.length > MAX_LENGTH) return [];
  const challenges: Challenge[] = [];
  const text = new Reader(header);
  text.take(GAP);
  while (!text.done) {
    const scheme = text.take(TOKEN);
    if (scheme === undefined) break;
    const params = new Map<string, string>();
    challenges.push({ scheme: scheme.toLowerCase(), params });
    text.take(/\s*/y);
    if (text.take(TOKEN68) === undefined) readParams(text, params);
    text.take(GAP);
  }
  return challenges;
}

/** Reads `name=value` pairs until something else comes, which is the next scheme. */
function readParams(text: Reader, params: Map<string, string>): void {
  for (;;) {
    const before = text.at;
    text.take(GAP);
    const name = text.take(TOKEN)?.toLowerCase();
    if (name === undefined || text.take(EQUALS) === undefined) {
      text.at = before;
      return;
    }
    const value = text.take(QUOTED)?.slice(1, -1).replace(/\\(.)/g, "$1") ?? text.take(TOKEN);
    if (value === undefined) {
      text.at = before;
      return;
    }
    if (!params.has(name)) params.set(name, value);
  }
}

/** A place in a text. */
class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get done(): boolean {
    return this.at >= this.#text.length;
  }

  /** The text that a sticky pattern matches here; undefined if it does not. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }
}

/**
 * The challenge that OAuth answers: DPoP before Bearer, because it is the stronger offer. What one of them does not say, such as
 * the address of the metadata, the others may (RFC 9728, 5.1).
 */
export function oauthChallenge(header: string | undefined): Challenge | undefined {
  const all = header === undefined ? [] : parseChallenges(header);
  const offers = ["dpop", "bearer"].flatMap((wanted) => all.filter(({ scheme }) => scheme === wanted));
  const [first] = offers;
  // Of a name that comes twice the last entry counts, so the strongest offer comes last.
  return first && { scheme: first.scheme, params: new Map(offers.reverse().flatMap(({ params }) => [...params])) };
}

/** The characters of a scope (RFC 6749, 3.3); others could end the quoted string. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Writes a challenge of `WWW-Authenticate`, with every value as a quoted string that nothing in it can end. */
export function challengeText(scheme: string, params: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(value)}`],
  );
  return pairs.length === 0 ? scheme : `${scheme} ${pairs.join(", ")}`;
}

function quoted(value: string): string {
  return `"${value.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&")}"`;
}

/** Scopes as a challenge lists them; undefined if there are none. A scope that cannot be written is left out. */
export function scopeText(scopes: readonly string[]): string | undefined {
  const listed = scopes.filter((scope) => SCOPE.test(scope) && scope !== "offline_access");
  return listed.length === 0 ? undefined : listed.join(" ");
}
