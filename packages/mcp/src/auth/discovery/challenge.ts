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
  const text: Reader = { text: header, at: 0 };
  take(text, GAP);
  while (text.at < header.length) {
    const scheme = take(text, TOKEN);
    if (scheme === undefined) break;
    const params = new Map<string, string>();
    challenges.push({ scheme: scheme.toLowerCase(), params });
    take(text, /\s*/y);
    if (take(text, TOKEN68) === undefined) readParams(text, params);
    take(text, GAP);
  }
  return challenges;
}

/** A place in a text. */
interface Reader {
  readonly text: string;
  at: number;
}

/** Takes the text that a sticky pattern matches at the place; undefined if it does not match. */
function take(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0];
  if (found !== undefined) reader.at += found.length;
  return found;
}

/** Reads `name=value` pairs until something else comes, which is the next scheme. */
function readParams(text: Reader, params: Map<string, string>): void {
  for (;;) {
    const before = text.at;
    take(text, GAP);
    const name = take(text, TOKEN)?.toLowerCase();
    if (name === undefined || take(text, EQUALS) === undefined) {
      text.at = before;
      return;
    }
    const value = take(text, QUOTED)?.slice(1, -1).replace(/\\(.)/g, "$1") ?? take(text, TOKEN);
    if (value === undefined) {
      text.at = before;
      return;
    }
    if (!params.has(name)) params.set(name, value);
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
