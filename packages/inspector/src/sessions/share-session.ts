import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { McpError } from "@parley/mcp/protocol";
import { REDACTED, Redactor } from "@parley/mcp/recording";
import type { ConnectionInfo } from "../contract/connections.js";
import type { SharedSession } from "../contract/inspector-state.js";
import type { FileStream } from "../contract/sessions.js";
import type { EntryDetail, EntrySummary, HttpExchange } from "../contract/timeline.js";
import { boundedJson } from "../timeline/bounded-json.js";
import type { StoredEntry } from "../timeline/entry-ring.js";
import { MAX_DETAIL_LENGTH, type Timeline } from "../timeline/timeline.js";
import { fileName, joinSlices } from "./export-session.js";
import { inSlices } from "./in-slices.js";
import type { SessionConnection } from "./session-connection.js";

/** Options of `shareSession`. */
interface ShareOptions {
  readonly connections: readonly SessionConnection[];
  readonly timeline: Pick<Timeline, "summaries" | "detail" | "entry" | "range">;
  /** The folder of the built page. */
  readonly pageFolder: string;
  /** Maximum size of the session in the file, in bytes. Default: 32 MiB, which browsers open without delay. */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Returns the timeline as one HTML file, without secrets. Omits the entries of removed connections, and the oldest
 * entries if the file would be too large.
 */
export async function shareSession(options: ShareOptions): Promise<FileStream> {
  const { connections, timeline, pageFolder } = options;
  const page = sharedPage({
    script: pageFile(pageFolder, "inspector.js"),
    style: pageFile(pageFolder, "inspector.css"),
  });
  const redactors = entryRedactors(connections);
  const { first, next } = timeline.range();
  const summaries = timeline.summaries(first, next - first);
  const entries: string[] = [];
  for await (const slice of inSlices(newestEntries(summaries.toReversed(), redactors, options))) entries.push(...slice);
  const exported = new Date();
  const header: Omit<SharedSession, "entries"> = {
    format: "parley-shared-session",
    exported: exported.toISOString(),
    connections: connections.flatMap(({ id, info }) => redactors.get(id)?.connection(info) ?? []),
    leftOut: summaries.length - entries.length,
  };
  const name = fileName(connections[0]?.info.server?.name ?? "session", exported);
  return { name: `${name}.html`, mediaType: "text/html", parts: joinSlices(pageParts(page, header, entries)) };
}

/** Yields the newest entries as JSON, newest first, until the size limit is reached. */
function* newestEntries(
  summaries: readonly EntrySummary[],
  redactors: ReadonlyMap<string, EntryRedactor>,
  { timeline, maxBytes = MAX_BYTES }: ShareOptions,
): Generator<string> {
  let room = maxBytes;
  for (const { seq, connection } of summaries) {
    // The secrets of a removed connection are no longer known, so its entries cannot be redacted.
    const redactor = redactors.get(connection);
    if (redactor === undefined) continue;
    // The timeline may evict entries while this function runs. All remaining summaries are older, so their entries were
    // evicted too.
    if (seq < timeline.range().first) return;
    const json = inertJson(
      JSON.stringify(redactor.entry(timeline.detail(seq), timeline.entry(seq), MAX_DETAIL_LENGTH)),
    );
    room -= Buffer.byteLength(json) + 1;
    if (room < 0) return;
    yield json;
  }
}

/**
 * Yields the text of the file. `entries` has the newest entry first, and the file has the entries in chronological
 * order.
 */
function* pageParts(
  { before, after }: SharedPage,
  header: Omit<SharedSession, "entries">,
  entries: readonly string[],
): Generator<string> {
  yield before;
  yield `${inertJson(JSON.stringify(header).slice(0, -1))},"entries":[`;
  for (const [at, entry] of entries.toReversed().entries()) yield at === 0 ? entry : `,${entry}`;
  yield `]}${after}`;
}

/**
 * Creates the redactors of all connections. Each redacts the secrets of all targets, because one server may repeat the
 * secrets of another.
 */
function entryRedactors(connections: readonly SessionConnection[]): ReadonlyMap<string, EntryRedactor> {
  const all = new Redactor({ values: connections.flatMap(({ target }) => target.secrets ?? []) });
  return new Map(connections.map(({ id, redactor }) => [id, new EntryRedactor([all, redactor])]));
}

function pageFile(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), "utf8");
  } catch (cause) {
    throw new McpError("invalid_definition", "the built page of the inspector is missing", {
      fix: "Install @parley/inspector again, or run `npm run build` in a checkout.",
      cause,
    });
  }
}

/**
 * Headers whose values remain, because they describe the exchange. Only secrets in them are redacted. The values of all
 * other headers are redacted completely.
 */
const SAFE_HEADERS = new Set(
  (
    "accept accept-encoding accept-language allow cache-control connection content-encoding content-length content-type date " +
    "host mcp-method mcp-name mcp-protocol-version retry-after server transfer-encoding user-agent vary www-authenticate"
  ).split(" "),
);

/**
 * Matches the query of an address, which may contain keys and signatures under any name. Stops at the end of a JSON
 * string or an HTML attribute.
 */
const QUERY = /\b((?:https?|wss?):\/\/[^\s"'<>`?#\\]{1,2000})\?[^\s"'<>`\\]*/gi;

/** Redacts secrets, header values, the queries of addresses, and the bodies of requests that may contain tokens. */
class EntryRedactor {
  readonly #redactors: readonly Redactor[];

  constructor(redactors: readonly Redactor[]) {
    this.#redactors = redactors;
  }

  /** Returns an entry without secrets. `message` is the message of the entry as a value. */
  entry(detail: EntryDetail, { message }: Pick<StoredEntry, "message">, maxText: number): EntryDetail {
    const written =
      message === undefined ? { text: detail.text, cut: detail.cut } : boundedJson(this.#value(message), maxText);
    return {
      ...detail,
      summary: this.#summary(detail.summary),
      text: this.text(written.text),
      cut: written.cut,
      problems: detail.problems.map((problem) => ({
        ...problem,
        path: this.text(problem.path),
        message: this.text(problem.message),
      })),
      ...(detail.http === undefined ? {} : { http: this.#exchange(detail.http) }),
    };
  }

  /** Returns a connection without secrets, with the status `imported`. */
  connection(info: ConnectionInfo): ConnectionInfo {
    const { login, ...rest } = info;
    const steps = login?.steps.map((step) => ({
      ...step,
      shown: this.text(step.shown),
      outcome: this.text(step.outcome),
    }));
    // Safe: redaction does not change the structure. It changes only strings, and numbers under the names of secrets.
    const clean = JSON.parse(this.text(JSON.stringify(this.#value(rest)))) as ConnectionInfo;
    return { ...clean, status: "imported", ...(steps === undefined ? {} : { login: { steps } }) };
  }

  /** Returns a text without secrets and without queries of addresses. */
  text(text: string): string {
    const clean = this.#redactors.reduce((rest, redactor) => redactor.text(rest), text);
    return clean.replace(QUERY, `$1?${REDACTED}`);
  }

  #value(value: unknown): unknown {
    return this.#redactors.reduce((rest, redactor) => redactor.value(rest), value);
  }

  #summary(summary: EntrySummary): EntrySummary {
    const { label, about } = summary;
    return { ...summary, label: this.text(label), ...(about === undefined ? {} : { about: this.text(about) }) };
  }

  #exchange(http: HttpExchange): HttpExchange {
    const { responseBody, requestBody, responseHeaders, failure } = http;
    // Metadata documents are read by GET. The bodies of other requests and of their responses may contain codes and
    // tokens, so the whole body is redacted.
    const answered = (text: string) => (http.method === "GET" ? this.text(text) : REDACTED);
    return {
      ...http,
      url: this.text(http.url),
      requestHeaders: this.#headers(http.requestHeaders),
      ...(responseHeaders === undefined ? {} : { responseHeaders: this.#headers(responseHeaders) }),
      ...(requestBody === undefined ? {} : { requestBody: REDACTED }),
      ...(responseBody === undefined ? {} : { responseBody: answered(responseBody) }),
      ...(failure === undefined ? {} : { failure: this.text(failure) }),
    };
  }

  #headers(headers: Readonly<Record<string, string>>): Record<string, string> {
    const clean = (name: string, value: string) => (SAFE_HEADERS.has(name.toLowerCase()) ? this.text(value) : REDACTED);
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(name, value)]));
  }
}

/** The assets that are embedded in a shared file. */
export interface SharedPageAssets {
  /** The script of the page. */
  readonly script: string;
  /** The style sheet of the page. */
  readonly style: string;
}

/** A shared file without its session. The JSON of the session, escaped by `inertJson`, goes between the two parts. */
interface SharedPage {
  readonly before: string;
  readonly after: string;
}

/** The id of the element from which the page reads the session. */
const SHARED_SESSION_ID = "shared-session";

/**
 * Returns a self-contained HTML file in two parts, between which the caller writes the session. The content security
 * policy of the file allows only the embedded script and style, so nothing that a server put into the session can run.
 */
export function sharedPage(assets: SharedPageAssets): SharedPage {
  const [script, style] = [safeScript(assets.script), safeStyle(assets.style)];
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    "img-src data:",
    "media-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  const before = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Parley inspector: shared session</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="inspector"><p class="starting">Parley inspector</p></div>
<noscript>The inspector needs JavaScript.</noscript>
<script type="application/json" id="${SHARED_SESSION_ID}">`;
  const after = `</script>
<script type="module">${script}</script>
</body>
</html>
`;
  return { before, after };
}

/** Escapes JSON, so that an HTML parser finds no markup in it. Also escapes line and paragraph separators. */
export function inertJson(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/**
 * Escapes sequences that would end the script element or open another one. Such sequences occur only in strings and
 * regular expressions, where `\x3c` means `<`.
 */
function safeScript(script: string): string {
  return plainLines(script).replaceAll(/<(?=\/?script)/gi, "\\x3c");
}

function safeStyle(style: string): string {
  return plainLines(style).replaceAll(/<(?=\/style)/gi, "\\3c ");
}

/** Normalizes line ends, as HTML parsers do. Otherwise the digest in the policy would not match. */
function plainLines(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
