import { type CopiedRequest, methodOf } from "./copied-request.js";
import { INITIALIZE_ID, INITIALIZED, initializeText } from "./handshake-text.js";
import { type CopiedHeader, copiedHeaders, urlParts } from "./secret-parts.js";
import { headerWord, pasteableJson, shellWord } from "./shell-word.js";

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
export function curlOverSse(request: CopiedRequest, url: string): string | undefined {
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
