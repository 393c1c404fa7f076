import { toBase64Url } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { Exchange, Peer } from "../../transport/transport.js";

/** Whose limits a call counts against. */
export interface QuotaCaller {
  readonly key: string;
  /** Whether other nodes know the caller by the same key. */
  readonly onAllNodes: boolean;
}

/** Connections without a principal, by a number of their own. */
const CONNECTIONS = new WeakMap<Peer, number>();
let connections = 0;

/** The principal; without one, the address over HTTP, and elsewhere the connection. */
export function quotaCallerOf({ principal, peer, http }: Pick<Exchange, "principal" | "peer" | "http">): QuotaCaller {
  const auth = principal ?? peer?.principal;
  if (auth !== undefined) return { key: `principal ${auth.key}`, onAllNodes: true };
  if (http !== undefined) return { key: `address ${networkOf(http.remoteAddress ?? "")}`, onAllNodes: true };
  if (peer === undefined) return { key: "", onAllNodes: false };
  const known = CONNECTIONS.get(peer) ?? ++connections;
  CONNECTIONS.set(peer, known);
  return { key: `connection ${known}`, onAllNodes: false };
}

/** Of IPv6 the first 64 bits, because whoever has one such address has all that begin so; of IPv4 the address. */
function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [before = [], after = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}

/** The key of a count on a storage; short and of plain characters, whatever the caller and the tool are called. */
export function storageKey(platform: Pick<Platform, "sha256">, parts: readonly string[]): string {
  const digest = platform.sha256(new TextEncoder().encode(JSON.stringify(parts)));
  return `quota/{${toBase64Url(digest.subarray(0, 18))}}`;
}
