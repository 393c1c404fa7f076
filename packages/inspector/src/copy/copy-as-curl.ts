import { REVISIONS, type Revision, shownRevision } from "@parley/mcp/protocol";
import { type CopiedRequest, hasHandshake, methodOf, namedIn } from "./copied-request.js";
import { type CopiedHeader, copiedHeaders, urlParts } from "./secret-parts.js";
import { headerWord, isPasteable, MAX_WORD_BYTES, pasteableJson, shellWord } from "./shell-word.js";

/** The revision for a request whose revision is unknown: the newest one with a handshake. */
const DEFAULT_REVISION = REVISIONS.findLast((revision) => shownRevision(revision).era === "stateful") ?? REVISIONS[0];

/** The id of the `initialize` request. */
const INITIALIZE_ID = 0;

/** The notification that completes the handshake, as JSON. */
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** Returns the `initialize` request as JSON. */
function initializeText({ revision = DEFAULT_REVISION }: CopiedRequest): string {
  const clientInfo = { name: "curl", version: "1" };
  const params = { protocolVersion: revision, capabilities: {}, clientInfo };
  return JSON.stringify({ jsonrpc: "2.0", id: INITIALIZE_ID, method: "initialize", params });
}

/** The first revision whose requests have the `mcp-protocol-version` header. */
const VERSION_HEADER_SINCE: Revision = "2025-06-18";

const ACCEPT = "application/json, text/event-stream";
/** Reads the session id from the response headers. */
const SESSION_ID = "tr -d '\\r' | sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii][Dd]: *//p'";

/**
 * Returns a POSIX shell script that sends the request with `curl`. Undefined if the target has no address, or if the
 * address or the message cannot be pasted. The script opens a session or an SSE stream first if the revision needs it.
 * Secrets become variables, such as `$AUTHORIZATION`.
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
  // The handshake negotiates the revision, so the `initialize` request has no header that names one.
  const first = headers.filter(({ name }) => !name.startsWith("mcp-"));
  if (method === "initialize") return curlLine(url, first, body);
  const opening = curlLine(url, first, initializeText(request), "-o /dev/null -D - ");
  // A server without sessions returns no id. The variable is then empty, and curl omits a header without a value.
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

/** Returns the headers that the protocol requires. They are added only if the original headers are unknown. */
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

/** Encodes a header value as Base64 if HTTP cannot carry it. Spec 2026-07-28, Transports, "Value Encoding". */
function headerText(text: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  return plain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

function curlLine(url: string, headers: readonly CopiedHeader[], body: string, before = ""): string {
  const lines = [`curl -sS -N -g ${before}${shellWord(urlParts(url))}`];
  for (const { name, value } of headers) lines.push(`-H ${headerWord(name, value)}`);
  // A long body is a here-document. The quoted delimiter disables expansion, and JSON on one line cannot equal the
  // delimiter.
  const long = Buffer.byteLength(body) > MAX_WORD_BYTES;
  lines.push(long ? `--data-binary @- <<'JSON'\n${body}\nJSON` : `--data-raw ${shellWord(body)}`);
  return lines.join(" \\\n  ");
}

/** Time limit for the SSE stream of a copied script, in case the script does not end the stream. */
const MAX_STREAM_SECONDS = 600;

/**
 * An awk program that prints the data of the first complete event that matches the patterns `p` and `q`. An empty line
 * completes an event. An incomplete event is read again on the next poll.
 */
const FIND_EVENT = [
  `/^$/ { if (all ~ p && all ~ q) { print data; exit } all = data = ""; next }`,
  `{ all = all " " $0 }`,
  `sub(/^data: ?/, "") { data = data $0 }`,
].join("\n");

/**
 * Returns a POSIX shell script that sends a request over HTTP+SSE, the transport of 2024-11-05. Undefined if the
 * message is nested too deeply. The script opens the stream in the background, reads the endpoint from the stream, and
 * waits for the answer. It cleans up on exit, also after Ctrl-C.
 *
 * The script appends the path of the endpoint to the origin of the target, so that no other host can receive the
 * credentials.
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

/**
 * Returns the lines that open the stream and read the endpoint. The whole script runs in a subshell, so the variables
 * that these lines set do not leak.
 */
function openStream(request: CopiedRequest, url: string): string[] {
  const own = copiedHeaders(request.headers, "own");
  const stream = [{ name: "accept", value: "text/event-stream" }, ...own];
  const posts = [{ name: "content-type", value: "application/json" }, ...own];
  const { origin, pathname } = new URL(url);
  const folder = pathname.slice(0, pathname.lastIndexOf("/") + 1);
  return [
    "STREAM=$(mktemp) || exit",
    `curl -sS -N -g -m ${MAX_STREAM_SECONDS} ${shellWord(urlParts(url))}${headerLines(stream)} >"$STREAM" &`,
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

/** Returns an address up to its path, with a variable for its credentials. */
function originParts(url: string) {
  const [, credentials = ""] = /^[^:]+:\/\/([^/?#]*@)?/.exec(url) ?? [];
  return urlParts(new URL(url).origin.replace("//", `//${credentials}`));
}

function headerLines(headers: readonly CopiedHeader[]): string {
  return headers.map(({ name, value }) => ` \\\n  -H ${headerWord(name, value)}`).join("");
}

/** Returns a call of the shell function `post` with a here-document. JSON on one line cannot equal its delimiter. */
function post(json: string): string[] {
  return ["post <<'JSON'", json, "JSON"];
}

/**
 * Returns the line that waits for the answer with this id. The event must also have a `result` or an `error`, because a
 * request from the server may have the same id.
 */
function awaited(id: number): string {
  return `await '"id": *${id} *[,}]' '"(result|error)" *:'`;
}
