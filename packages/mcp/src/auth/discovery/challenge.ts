/** One challenge of a `WWW-Authenticate` header. */
export interface Challenge {
  /** Scheme in lower case: `bearer`, `dpop`. */
  readonly scheme: string;
  /** Parameters by their names in lower case. If a name is repeated, the first value counts. */
  readonly params: ReadonlyMap<string, string>;
}

const MAX_HEADER_LENGTH = 16 * 1024;
const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/y;
const GAP = /[\s,]*/y;
const EQUALS = /\s*=\s*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;

/**
 * Parses a `WWW-Authenticate` header (RFC 9110, 11.6.1), which may contain several challenges, with commas inside
 * quoted values. Stops at the first text that it cannot parse. Returns no challenges for a header over 16 KiB.
 */
function parseChallenges(header: string): Challenge[] {
  if (header.length > MAX_HEADER_LENGTH) return [];
  const challenges: Challenge[] = [];
  const text: Reader = { text: header, at: 0 };
  consume(text, GAP);
  while (text.at < header.length) {
    const scheme = consume(text, TOKEN);
    if (scheme === undefined) break;
    const params = new Map<string, string>();
    challenges.push({ scheme: scheme.toLowerCase(), params });
    consume(text, /\s*/y);
    if (consume(text, TOKEN68) === undefined) readParams(text, params);
    consume(text, GAP);
  }
  return challenges;
}

/** A text and the position of the parser in it. */
interface Reader {
  readonly text: string;
  at: number;
}

/** Consumes the text that a sticky pattern matches at the current position. Undefined if it does not match. */
function consume(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0];
  if (found !== undefined) reader.at += found.length;
  return found;
}

/** Reads `name=value` pairs until the next scheme. */
function readParams(text: Reader, params: Map<string, string>): void {
  for (;;) {
    const before = text.at;
    consume(text, GAP);
    const name = consume(text, TOKEN)?.toLowerCase();
    if (name === undefined || consume(text, EQUALS) === undefined) {
      text.at = before;
      return;
    }
    const value = consume(text, QUOTED)?.slice(1, -1).replace(/\\(.)/g, "$1") ?? consume(text, TOKEN);
    if (value === undefined) {
      text.at = before;
      return;
    }
    if (!params.has(name)) params.set(name, value);
  }
}

/**
 * Returns the first DPoP challenge or, if there is none, the first Bearer challenge. DPoP is preferred because it is
 * stronger. Adds parameters that only the other DPoP and Bearer challenges have, such as the address of the metadata
 * (RFC 9728, 5.1).
 */
export function oauthChallenge(header: string | undefined): Challenge | undefined {
  const all = header === undefined ? [] : parseChallenges(header);
  const offers = ["dpop", "bearer"].flatMap((wanted) => all.filter(({ scheme }) => scheme === wanted));
  const [first] = offers;
  // In a `Map`, the last entry of a repeated name wins, so the strongest challenge comes last.
  return first && { scheme: first.scheme, params: new Map(offers.reverse().flatMap(({ params }) => [...params])) };
}

/** The characters of a scope (RFC 6749, 3.3). Scopes with other characters are omitted from challenges. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Writes a `WWW-Authenticate` challenge. Escapes every value, so that no value can end its quoted string. */
export function challengeText(scheme: string, params: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(value)}`],
  );
  return pairs.length === 0 ? scheme : `${scheme} ${pairs.join(", ")}`;
}

function quoted(value: string): string {
  return `"${value.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&")}"`;
}

/**
 * Joins scopes for the `scope` parameter of a challenge. Omits `offline_access` and scopes with characters that are not
 * allowed. Undefined if no scope remains.
 */
export function scopeText(scopes: readonly string[]): string | undefined {
  const listed = scopes.filter((scope) => SCOPE.test(scope) && scope !== "offline_access");
  return listed.length === 0 ? undefined : listed.join(" ");
}
