import type { Revision } from "@parley/mcp/protocol";
import { type CopiedRequest, hasHandshake, methodOf, namedIn } from "./copied-request.js";
import { curlOverSse } from "./curl-over-sse.js";
import { DEFAULT_REVISION, INITIALIZED, initializeText } from "./handshake-text.js";
import { type CopiedHeader, copiedHeaders, urlParts } from "./secret-parts.js";
import { headerWord, isPasteable, LONGEST_WORD, pasteableJson, shellWord } from "./shell-word.js";

/** The first revision whose requests repeat it in a header. */
const VERSION_HEADER_SINCE: Revision = "2025-06-18";

const ACCEPT = "application/json, text/event-stream";
/** Reads the id of the session from the headers of the answer. */
const SESSION_ID = "tr -d '\\r' | sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii][Dd]: *//p'";

/**
 * Lines for a POSIX shell that send the request with `curl`; undefined for what is not at an address. A revision with sessions gets
 * a session first, and the transport of 2024-11-05 its stream. Secrets become variables, such as `$AUTHORIZATION`.
 */
export function copyAsCurl(request: CopiedRequest): string | undefined {
  const { url } = request.target;
  if (request.target.kind !== "url" || url === undefined || !isPasteable(url)) return undefined;
  if (request.transport === "sse") return curlOverSse(request, url);
  const body = pasteableJson(request.message);
  if (body === undefined) return undefined;
  const method = methodOf(request);
  const headers = headersOf(request);
  if (!hasHandshake(request)) return curlLine(url, headers, body);
  // The handshake finds the revision out, so that its own request names none.
  const first = headers.filter(({ name }) => !name.startsWith("mcp-"));
  if (method === "initialize") return curlLine(url, first, body);
  const opening = curlLine(url, first, initializeText(request), "-o /dev/null -D - ");
  // A server that keeps no session gives no id, and curl sends no header without a value.
  const later = [...headers, { name: "mcp-session-id", value: { variable: "SESSION" } }];
  const lines = [`SESSION=$(${opening} | ${SESSION_ID})`, curlLine(url, later, INITIALIZED)];
  if (method !== "notifications/initialized") lines.push(curlLine(url, later, body));
  return lines.join("\n");
}

function headersOf(request: CopiedRequest): CopiedHeader[] {
  const given = copiedHeaders(request.headers, "all");
  const names = new Set(given.map(({ name }) => name));
  const needed = Object.entries({ accept: ACCEPT, "content-type": "application/json", ...protocolHeaders(request) });
  return [...needed.flatMap(([name, value]) => (names.has(name) ? [] : [{ name, value }])), ...given];
}

/** What the protocol demands besides; only missing where the headers of the request are not known. */
function protocolHeaders(request: CopiedRequest): Record<string, string> {
  const { revision = DEFAULT_REVISION } = request;
  const version = revision < VERSION_HEADER_SINCE ? {} : { "mcp-protocol-version": revision };
  if (hasHandshake(request)) return version;
  const name = namedIn(request);
  return {
    ...version,
    "mcp-method": methodOf(request),
    ...(name === undefined ? {} : { "mcp-name": headerText(name) }),
  };
}

/** Spec 2026-07-28, Transports, "Value Encoding": what HTTP cannot carry is sent as Base64. */
function headerText(text: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  return plain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

function curlLine(url: string, headers: readonly CopiedHeader[], body: string, before = ""): string {
  const lines = [`curl -sS -N -g ${before}${shellWord(urlParts(url))}`];
  for (const { name, value } of headers) lines.push(`-H ${headerWord(name, value)}`);
  // Behind a quoted mark nothing is special, and JSON on one line cannot be the mark.
  const long = Buffer.byteLength(body) > LONGEST_WORD;
  lines.push(long ? `--data-binary @- <<'JSON'\n${body}\nJSON` : `--data-raw ${shellWord(body)}`);
  return lines.join(" \\\n  ");
}
