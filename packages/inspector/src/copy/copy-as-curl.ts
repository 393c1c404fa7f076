import { REVISIONS, type Revision, shownRevision } from "@parley/mcp/protocol";
import { type CopiedRequest, hasHandshake, methodOf, namedIn } from "./copied-request.js";
import { type CopiedHeader, copiedHeaders, urlParts } from "./secret-parts.js";
import { headerWord, isPasteable, LONGEST_WORD, pasteableJson, shellWord } from "./shell-word.js";

/** The revision of a copy that does not say which it is for. */
const DEFAULT_REVISION = REVISIONS.findLast((revision) => shownRevision(revision).era === "stateful") ?? REVISIONS[0];

/** The id of the request that begins a handshake. */
const INITIALIZE_ID = 0;

/** The notification that ends a handshake, as JSON. */
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** The request that begins the handshake of a copy, as JSON. */
function initializeText({ revision = DEFAULT_REVISION }: CopiedRequest): string {
  const clientInfo = { name: "curl", version: "1" };
  const params = { protocolVersion: revision, capabilities: {}, clientInfo };
  return JSON.stringify({ jsonrpc: "2.0", id: INITIALIZE_ID, method: "initialize", params });
}

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

/** Seconds after which the stream of a copy ends, also where it was left behind. */
const LONGEST_STREAM = 600;

/**
 * Prints the data of the first whole event in which `p` occurs, and `q` too. An event is whole when an empty line ends it; what is
 * still being written is left for the next look.
 */
const FIND_EVENT = [
  `/^$/ { if (all ~ p && all ~ q) { print data; exit } all = data = ""; next }`,
  `{ all = all " " $0 }`,
  `sub(/^data: ?/, "") { data = data $0 }`,
].join("\n");

/**
 * Lines for a POSIX shell that send a request over HTTP+SSE, the transport of 2024-11-05; undefined for what cannot be written. A
 * stream is opened in the background, tells where to post, and brings the answer. Nothing is left behind, also after Ctrl-C.
 *
 * What the stream tells is only ever a path at the address of the server, so that credentials reach nobody else.
 */
function curlOverSse(request: CopiedRequest, url: string): string | undefined {
  const { message } = request;
  const isInitialize = methodOf(request) === "initialize";
  const hasAnswer = message.id !== undefined;
  const id = typeof message.id === "number" && message.id > INITIALIZE_ID ? message.id : INITIALIZE_ID + 1;
  const body = pasteableJson(hasAnswer ? { ...message, id } : message);
  if (body === undefined) return undefined;
  const lines = [...openStream(request, url)];
  if (!isInitialize) lines.push(...post(initializeText(request)), awaited(INITIALIZE_ID), ...post(INITIALIZED));
  if (methodOf(request) !== "notifications/initialized") lines.push(...post(body));
  if (hasAnswer) lines.push(awaited(id), `printf '%s\\n' "$FOUND"`);
  return ["(", ...lines, ")"].join("\n");
}

/** Opens the stream, and finds out where to post. In a subshell, so that no names are left behind. */
function openStream(request: CopiedRequest, url: string): string[] {
  const own = copiedHeaders(request.headers, "own");
  const stream = [{ name: "accept", value: "text/event-stream" }, ...own];
  const posts = [{ name: "content-type", value: "application/json" }, ...own];
  const { origin, pathname } = new URL(url);
  const folder = pathname.slice(0, pathname.lastIndexOf("/") + 1);
  return [
    "STREAM=$(mktemp) || exit",
    `curl -sS -N -g -m ${LONGEST_STREAM} ${shellWord(urlParts(url))}${headerLines(stream)} >"$STREAM" &`,
    "CURL=$!",
    `trap 'kill "$CURL" 2>/dev/null; rm -f "$STREAM"' EXIT`,
    "trap 'exit 130' HUP INT TERM",
    "await() {",
    "  while :; do",
    '    kill -0 "$CURL" 2>/dev/null; ENDED=$?',
    `    FOUND=$(tr -d '\\r' <"$STREAM" | awk -v p="$1" -v q="$2" ${shellWord(FIND_EVENT)})`,
    '    if [ -n "$FOUND" ]; then return; fi',
    '    if [ "$ENDED" -ne 0 ]; then cat "$STREAM" >&2; exit 1; fi',
    "    sleep 0.2",
    "  done",
    "}",
    `post() { curl -sS -f -g -o /dev/null "$ENDPOINT"${headerLines(posts)} \\\n  --data-binary @- || exit; }`,
    "await 'event: *endpoint'",
    `FOUND=\${FOUND#${shellWord(origin)}}`,
    `case $FOUND in /*) ;; \\?*) FOUND=${shellWord(pathname)}$FOUND ;; *) FOUND=${shellWord(folder)}$FOUND ;; esac`,
    `ENDPOINT=${shellWord(originParts(url))}$FOUND`,
  ];
}

/** The beginning of an address, up to its path, with a variable for the credentials in it. */
function originParts(url: string) {
  const [, credentials = ""] = /^[^:]+:\/\/([^/?#]*@)?/.exec(url) ?? [];
  return urlParts(new URL(url).origin.replace("//", `//${credentials}`));
}

function headerLines(headers: readonly CopiedHeader[]): string {
  return headers.map(({ name, value }) => ` \\\n  -H ${headerWord(name, value)}`).join("");
}

/** JSON on one line cannot be the mark that ends it. */
function post(json: string): string[] {
  return ["post <<'JSON'", json, "JSON"];
}

/** A server may ask with the same id, so that more than the id tells an answer. */
function awaited(id: number): string {
  return `await '"id": *${id} *[,}]' '"(result|error)" *:'`;
}
