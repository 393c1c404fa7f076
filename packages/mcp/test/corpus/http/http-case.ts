import { MODERN_META } from "../../http/modern.js";

/** One hostile or unusual request, and what must come back. */
export interface HttpCase {
  category: string;
  name: string;
  method?: string;
  /** Names and values as sent; a name may come twice. */
  headers: readonly (readonly [string, string])[];
  body?: string | Uint8Array;
  /** The whole request as bytes, where its framing is the point. Only a socket can carry it. */
  raw?: string;
  status: number | readonly number[];
  /** The JSON-RPC code in the body; null for a reply that need not be ours. */
  code?: number | null;
  /** A well-formed request: its handler may run. */
  good?: boolean;
  /** Why only the Node adapter can be asked. */
  socketOnly?: string;
  /** The id that the refusal echoes. */
  id?: string | number;
}

export const HOST = "localhost:3000";

export const GOOD_HEADERS: readonly (readonly [string, string])[] = [
  ["host", HOST],
  ["content-type", "application/json"],
  ["accept", "application/json, text/event-stream"],
  ["mcp-protocol-version", "2026-07-28"],
  ["mcp-method", "tools/call"],
  ["mcp-name", "count"],
];

/** A call of the newest revision that runs the tool `count`. */
export const GOOD_MESSAGE = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "count", arguments: {}, _meta: MODERN_META },
};

export const GOOD_BODY = JSON.stringify(GOOD_MESSAGE);

/** The good headers with some replaced (by one value or several) and some left out (by `undefined`). */
export function headers(changes: Record<string, string | readonly string[] | undefined>): [string, string][] {
  const kept = GOOD_HEADERS.filter(([name]) => !Object.hasOwn(changes, name)).map(([name, value]) => [name, value]);
  for (const [name, value] of Object.entries(changes)) {
    for (const one of typeof value === "string" ? [value] : (value ?? [])) kept.push([name, one]);
  }
  return kept as [string, string][];
}

/** A case that differs from the good request in its body alone. */
export function bodyCase(
  category: string,
  name: string,
  body: string | Uint8Array,
  code: number,
  status = 400,
): HttpCase {
  return { category, name, headers: GOOD_HEADERS, body, status, code };
}
