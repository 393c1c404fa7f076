import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { Exchange, Peer } from "../../transport/transport.js";

/** The caller whose limits a call counts against. */
export interface QuotaCaller {
  readonly key: string;
  /** True if other nodes use the same key for this caller. */
  readonly onAllNodes: boolean;
}

/** Numbers that identify the connections without a principal. */
const CONNECTIONS = new WeakMap<Peer, number>();
let connections = 0;

/**
 * Identifies the caller by its principal. Without a principal, an HTTP caller is identified by its address, and any
 * other caller by its connection.
 */
export function quotaCallerOf({ principal, peer, http }: Pick<Exchange, "principal" | "peer" | "http">): QuotaCaller {
  const auth = principal ?? peer?.principal;
  if (auth !== undefined) return { key: `principal ${auth.key}`, onAllNodes: true };
  if (http !== undefined) return { key: `address ${networkOf(http.remoteAddress ?? "")}`, onAllNodes: true };
  if (peer === undefined) return { key: "", onAllNodes: false };
  const known = CONNECTIONS.get(peer) ?? ++connections;
  CONNECTIONS.set(peer, known);
  return { key: `connection ${known}`, onAllNodes: false };
}

/**
 * Returns an IPv4 address, also if it is mapped to IPv6, and the first 64 bits of any other IPv6 address: all addresses
 * with that prefix usually belong to one customer of a network provider.
 */
function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [before = [], after = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

/**
 * Returns the key of a count in a storage. The key is a digest, so it is short and has only plain characters, whatever
 * the name of the caller or tool contains.
 */
export function storageKey(platform: Pick<Platform, "sha256">, parts: readonly string[]): string {
  const digest = platform.sha256(new TextEncoder().encode(JSON.stringify(parts)));
  return `quota/{${toBase64Url(digest.subarray(0, 18))}}`;
}
