import { readFileSync } from "node:fs";
import { join } from "node:path";
import { McpError } from "@parley/mcp/protocol";
import { Redactor } from "@parley/mcp/recording";
import type { SharedSession } from "../contract/inspector-state.js";
import type { WrittenFile } from "../contract/keep.js";
import type { EntrySummary } from "../contract/timeline.js";
import { MOST_DETAIL, type Timeline } from "../timeline/timeline.js";
import { fileName, joined } from "./export-session.js";
import { inSlices } from "./in-slices.js";
import type { KeptConnection } from "./kept-connection.js";
import { SharedEntries } from "./shared-entries.js";
import { inertJson, type SharedPage, sharedPage } from "./shared-page.js";

/** What is shared, and with which page. */
export interface ShareOptions {
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
