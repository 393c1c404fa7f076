import { sha256 } from "../../platform/sha256.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";

/** Format of the names under which a host offers the tools and prompts of its servers. */
export interface OuterNameOptions {
  /** Maximum length of a name. Default: 60, which every known client accepts for the server and the tool together. */
  maxLength?: number | undefined;
}

const DEFAULT_LENGTH = 60;
/** The smallest accepted `maxLength`. It leaves room for the digest, two separators and a few letters of each part. */
const MIN_LENGTH = 24;
const MAX_PREFIX_LENGTH = 32;
const SEPARATOR = "__";
/** 50 bits make accidental collisions negligible. If a server forges a collision, the first server keeps the name. */
const DIGEST_CHARACTERS = 10;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const LOOKS_DIGESTED = /[_-][a-z2-7]{10}$/;
const PLAIN = /^[A-Za-z0-9_-]+$/;

/**
 * The name under which clients of a host see a tool or prompt of a server: `server__name`. It depends only on these two
 * names, so that it does not change with the order of the servers or after a restart.
 *
 * Ends with a digest of both names if the plain text is longer than `maxLength`, has characters that model providers
 * reject, or is ambiguous. Throws `invalid_definition` for a `maxLength` below 24.
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
 * True if `server__name` can only be split in one way: the first `__` is the separator if the server has no `__` and
 * does not end with `_`. False for names that look digested, so that they get a digest too. Otherwise a server could
 * forge the name of another server's tool.
 */
function splitsOneWay(server: string, name: string): boolean {
  return !server.includes(SEPARATOR) && !server.endsWith("_") && !LOOKS_DIGESTED.test(name);
}

function replaced(text: string): string {
  // Cuts first, because a server may send very long names and the caller uses only the beginning.
  return text.slice(0, 256).replace(/[^A-Za-z0-9_-]/g, "_");
}

function digestOf(...parts: readonly string[]): string {
  // JSON escapes lone surrogates. UTF-8 would encode all of them as the same bytes, so different names could get the
  // same digest.
  const bytes = sha256(new TextEncoder().encode(JSON.stringify(parts)));
  return Array.from(bytes.subarray(0, DIGEST_CHARACTERS), (byte) => BASE32[byte % 32]).join("");
}

/** Returns the maximum length of names. Throws `invalid_definition` if the option is invalid. */
export function checkedLength(options: OuterNameOptions): number {
  checkOptions("an outer name", options, "maxLength");
  const { maxLength = DEFAULT_LENGTH } = options;
  if (Number.isInteger(maxLength) && maxLength >= MIN_LENGTH) return maxLength;
  throw new McpError("invalid_definition", `maxLength is ${maxLength}, not a whole number of at least ${MIN_LENGTH}`, {
    fix: `Use ${DEFAULT_LENGTH}, or the limit of the model provider.`,
  });
}

/**
 * The text before `+` in the URIs of a server: its name if that is a short lower-case URI scheme and does not look
 * digested, otherwise its cleaned name and a digest. Depends only on the server's name.
 */
export function uriPrefix(server: string): string {
  if (server.length <= MAX_PREFIX_LENGTH && /^[a-z][a-z0-9-]*$/.test(server) && !LOOKS_DIGESTED.test(server))
    return server;
  const room = MAX_PREFIX_LENGTH - 1 - DIGEST_CHARACTERS;
  const clean = server
    .slice(0, 256)
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/^[^a-z]/, (first) => `s${first}`);
  return `${clean.slice(0, room) || "s"}-${digestOf(server)}`;
}
