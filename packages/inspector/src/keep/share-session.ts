import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { McpError } from "@parley/mcp/protocol";
import { REDACTED, Redactor } from "@parley/mcp/recording";
import type { ConnectionInfo } from "../contract/connections.js";
import type { SharedSession } from "../contract/inspector-state.js";
import type { WrittenFile } from "../contract/keep.js";
import type { EntryDetail, EntrySummary, HttpExchange } from "../contract/timeline.js";
import { boundedJson } from "../timeline/bounded-json.js";
import type { StoredEntry } from "../timeline/entry-ring.js";
import { MOST_DETAIL, type Timeline } from "../timeline/timeline.js";
import { fileName, joined } from "./export-session.js";
import { inSlices } from "./in-slices.js";
import type { KeptConnection } from "./kept-connection.js";

/** What is shared, and with which page. */
interface ShareOptions {
  readonly connections: readonly KeptConnection[];
  readonly timeline: Pick<Timeline, "summaries" | "detail" | "entry" | "range">;
  /** Where the built page is. */
  readonly pageFolder: string;
  /** Bytes of the session in the file. Default 32 MiB: browsers open that at once. */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 32 * 1024 * 1024;

/** The timeline as one HTML file, without secrets. The newest entries are in it, as many as there is room for. */
export async function shareSession(options: ShareOptions): Promise<WrittenFile> {
  const { connections, timeline, pageFolder } = options;
  const page = sharedPage({
    script: pageFile(pageFolder, "inspector.js"),
    style: pageFile(pageFolder, "inspector.css"),
  });
  const shared = sharedBy(connections);
  const { first, next } = timeline.range();
  const summaries = timeline.summaries(first, next - first);
  const entries: string[] = [];
  for await (const slice of inSlices(newestEntries(summaries.toReversed(), shared, options))) entries.push(...slice);
  const exported = new Date();
  const facts: Omit<SharedSession, "entries"> = {
    format: "parley-shared-session",
    exported: exported.toISOString(),
    connections: connections.flatMap(({ id, info }) => shared.get(id)?.connection(info) ?? []),
    leftOut: summaries.length - entries.length,
  };
  const name = fileName(connections[0]?.info.server?.name ?? "session", exported);
  return { name: `${name}.html`, mediaType: "text/html", parts: joined(pageParts(page, facts, entries)) };
}

/** The newest entries as JSON, the newest first, for as long as there is room. */
function* newestEntries(
  summaries: readonly EntrySummary[],
  shared: ReadonlyMap<string, SharedEntries>,
  { timeline, maxBytes = MAX_BYTES }: ShareOptions,
): Generator<string> {
  let room = maxBytes;
  for (const { seq, connection } of summaries) {
    // What a removed connection kept secret is no longer known.
    const clean = shared.get(connection);
    if (clean === undefined) continue;
    // Others add entries meanwhile, and the oldest are forgotten.
    if (seq < timeline.range().first) return;
    const json = inertJson(JSON.stringify(clean.entry(timeline.detail(seq), timeline.entry(seq), MOST_DETAIL)));
    room -= Buffer.byteLength(json) + 1;
    if (room < 0) return;
    yield json;
  }
}

/** The text of the file; `entries` are the newest first, and are written in the order in which they happened. */
function* pageParts(
  { before, after }: SharedPage,
  facts: Omit<SharedSession, "entries">,
  entries: readonly string[],
): Generator<string> {
  yield before;
  yield `${inertJson(JSON.stringify(facts).slice(0, -1))},"entries":[`;
  for (const [at, entry] of entries.toReversed().entries()) yield at === 0 ? entry : `,${entry}`;
  yield `]}${after}`;
}

/** What cleans the entries of each connection: it knows the secrets of all targets, because servers may repeat them. */
function sharedBy(connections: readonly KeptConnection[]): ReadonlyMap<string, SharedEntries> {
  const all = new Redactor({ values: connections.flatMap(({ target }) => target.secrets ?? []) });
  return new Map(connections.map(({ id, redactor }) => [id, new SharedEntries([all, redactor])]));
}

function pageFile(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), "utf8");
  } catch (cause) {
    throw new McpError("invalid_definition", "the page of the inspector is not there to be shared", {
      fix: "Install @parley/inspector again, or run `npm run build` in a checkout.",
      cause,
    });
  }
}

/** Headers whose values say how an exchange went; the values of all others are taken out. */
const OPEN_HEADERS = new Set(
  (
    "accept accept-encoding accept-language allow cache-control connection content-encoding content-length content-type date " +
    "host mcp-method mcp-name mcp-protocol-version retry-after server transfer-encoding user-agent vary www-authenticate"
  ).split(" "),
);

/** Queries of addresses: keys of services and signatures stand there under any name. Ends where a JSON text or a page would. */
const QUERY = /\b((?:https?|wss?):\/\/[^\s"'<>`?#\\]{1,2000})\?[^\s"'<>`\\]*/gi;

/** Takes out of entries what must not be shared: secrets, values of headers, queries of addresses, bodies of logins. */
class SharedEntries {
  readonly #redactors: readonly Redactor[];

  constructor(redactors: readonly Redactor[]) {
    this.#redactors = redactors;
  }

  /** An entry to share; `stored` has the message of it as a value. */
  entry(detail: EntryDetail, { message }: Pick<StoredEntry, "message">, mostText: number): EntryDetail {
    const written =
      message === undefined ? { text: detail.text, cut: detail.cut } : boundedJson(this.#value(message), mostText);
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

  /** A connection to share, as of one that has ended. */
  connection(info: ConnectionInfo): ConnectionInfo {
    const { login, ...rest } = info;
    const steps = login?.steps.map((step) => ({
      ...step,
      shown: this.text(step.shown),
      outcome: this.text(step.outcome),
    }));
    // Redaction keeps the form: members stay, and only texts and numbers under names of secrets change.
    const clean = JSON.parse(this.text(JSON.stringify(this.#value(rest)))) as ConnectionInfo;
    return { ...clean, status: "imported", ...(steps === undefined ? {} : { login: { steps } }) };
  }

  /** A text without secrets and without queries. */
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
    // A metadata document is read by GET; what is posted in a login, and what answers it, are codes and tokens.
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
    const clean = (name: string, value: string) => (OPEN_HEADERS.has(name.toLowerCase()) ? this.text(value) : REDACTED);
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(name, value)]));
  }
}

/** What a shared file is made of. */
export interface SharedPageParts {
  /** The script of the page. */
  readonly script: string;
  /** Its style sheet. */
  readonly style: string;
}

/** A shared file without its session, whose JSON stands between the two and is made by `inertJson`. */
interface SharedPage {
  readonly before: string;
  readonly after: string;
}

/** The id of the element that holds the session; the page looks for it. */
const SHARED_SESSION_ID = "shared-session";

/**
 * One HTML file that needs nothing else: the page with a session in it. Its policy lets this script and this style run and nothing
 * else, whatever a server managed to put into the session.
 */
export function sharedPage(parts: SharedPageParts): SharedPage {
  const [script, style] = [safeScript(parts.script), safeStyle(parts.style)];
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

/** JSON that no HTML parser takes for markup, and no reader of lines for an end of one. */
export function inertJson(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** Inside a script, these letters would end it, or open another one; in strings and expressions, `\x3c` is the same sign. */
function safeScript(script: string): string {
  return plainLines(script).replaceAll(/<(?=\/?script)/gi, "\\x3c");
}

function safeStyle(style: string): string {
  return plainLines(style).replaceAll(/<(?=\/style)/gi, "\\3c ");
}

/** Parsers of HTML change ends of lines, and a digest would no longer fit. */
function plainLines(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
