import { sha256 } from "../../platform/sha256.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";

/** How names of several servers are written as one. */
export interface OuterNameOptions {
  /** The longest name. Default: 60, which every known client accepts for the server and the tool together. */
  maxLength?: number | undefined;
}

const DEFAULT_LENGTH = 60;
/** Room for the digest, two separators and a few letters of each part. */
const LEAST_LENGTH = 24;
const LONGEST_PREFIX = 32;
const SEPARATOR = "__";
/** 50 bits: the names of one host do not meet by chance, and the catalogue lets the first one keep what somebody makes to meet. */
const DIGEST_CHARACTERS = 10;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const LOOKS_DIGESTED = /[_-][a-z2-7]{10}$/;
const PLAIN = /^[A-Za-z0-9_-]+$/;

/**
 * The name under which clients of a host see a server's tool or prompt: `server__name`. Depends on the pair alone, so it is
 * the same in any order of servers and after any restart.
 *
 * Where that text is longer than `maxLength`, has characters that model providers refuse, or could also stand for another pair,
 * a digest of the pair is its end. Throws `invalid_definition` for a `maxLength` below 24.
 */
export function outerName(server: string, name: string, options: OuterNameOptions = {}): string {
  const maxLength = checkedLength(options);
  const plain = `${server}${SEPARATOR}${name}`;
  if (plain.length <= maxLength && PLAIN.test(server) && PLAIN.test(name) && splitsOneWay(server, name)) return plain;
  const room = maxLength - SEPARATOR.length - 1 - DIGEST_CHARACTERS;
  const [cleanServer, cleanName] = [replaced(server), replaced(name)];
  const forServer = Math.max(Math.floor(room / 3), room - cleanName.length);
  const first = cleanServer.slice(0, forServer);
  return `${first}${SEPARATOR}${cleanName.slice(0, room - first.length)}_${digestOf(server, name)}`;
}

/**
 * Where a server without `__` and without `_` at its end meets a name, the first `__` is the separator. A name that ends like a
 * digest gets one too: without that, a server could take the name of another server's tool.
 */
function splitsOneWay(server: string, name: string): boolean {
  return !server.includes(SEPARATOR) && !server.endsWith("_") && !LOOKS_DIGESTED.test(name);
}

function replaced(text: string): string {
  // What is cut off anyway need not be looked at, however long a server makes it.
  return text.slice(0, 256).replace(/[^A-Za-z0-9_-]/g, "_");
}

function digestOf(...parts: readonly string[]): string {
  // As JSON, because it keeps lone surrogates apart, which UTF-8 cannot.
  const bytes = sha256(new TextEncoder().encode(JSON.stringify(parts)));
  return Array.from(bytes.subarray(0, DIGEST_CHARACTERS), (byte) => BASE32[byte % 32]).join("");
}

/** The longest name that is allowed. Throws `invalid_definition` for one that cannot be. */
export function checkedLength(options: OuterNameOptions): number {
  checkOptions("an outer name", options, "maxLength");
  const { maxLength = DEFAULT_LENGTH } = options;
  if (Number.isInteger(maxLength) && maxLength >= LEAST_LENGTH) return maxLength;
  throw new McpError(
    "invalid_definition",
    `maxLength is ${maxLength}, not a whole number of at least ${LEAST_LENGTH}`,
    {
      fix: `Use ${DEFAULT_LENGTH}, or the limit of the model provider.`,
    },
  );
}

/**
 * What stands before `+` in URIs of a server: its name where that is a lower-case URI scheme, and otherwise what is left of it
 * and a digest. Depends on the name alone.
 */
export function uriPrefix(server: string): string {
  if (server.length <= LONGEST_PREFIX && /^[a-z][a-z0-9-]*$/.test(server) && !LOOKS_DIGESTED.test(server))
    return server;
  const room = LONGEST_PREFIX - 1 - DIGEST_CHARACTERS;
  const clean = server
    .slice(0, 256)
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/^[^a-z]/, (first) => `s${first}`);
  return `${clean.slice(0, room) || "s"}-${digestOf(server)}`;
}
