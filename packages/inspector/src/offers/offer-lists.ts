import type { CallOptions, Client } from "@parley/mcp";
import { type Finding, lintTools } from "@parley/mcp/lint";
import { McpError, nearestName, type Tool } from "@parley/mcp/protocol";
import type { CalledConnection } from "../calls/called-connection.js";
import { jsonBytes } from "../calls/json-bytes.js";
import type { OfferKind } from "../contract/connections.js";
import type { OfferDetail, OfferList, OfferSummary } from "../contract/offers.js";
import { type Definitions, keyOf, summaryOf } from "./offer-summary.js";

/** Tools of one list that are linted at once, which takes about half a second; those of longer lists one by one when they are shown. */
const MOST_LINTED = 1000;

/** A list that was read, and what was made of it. */
interface KeptList<K extends OfferKind> {
  /** How often the list had changed when it was asked for. */
  readonly changes: number | undefined;
  readonly read: Promise<ReadList<K>>;
  /** Made at the first use. */
  shown?: Promise<OfferList>;
  findings?: ReadonlyMap<string, readonly Finding[]>;
}

/** Of one client, by the kind of list. */
type KeptLists = { [K in OfferKind]?: KeptList<K> };

/** The lists of all servers, each kept until it changes or is asked for anew. */
export class OfferLists {
  readonly #limits: ListLimits;
  /** By client, so that nothing of a connection is kept after it was opened again. */
  readonly #kept = new WeakMap<Client, KeptLists>();

  constructor(limits: Partial<ListLimits> = {}) {
    this.#limits = { ...DEFAULT_LIST_LIMITS, ...limits };
  }

  /** A list in short. `refresh` asks the server also where nothing has changed. */
  async list(connection: CalledConnection, kind: OfferKind, refresh = false): Promise<OfferList> {
    const kept = this.#keep(connection, kind, refresh);
    kept.shown ??= kept.read.then((read) => shownList(kind, read, findingsIn(kept, kind, read)));
    return kept.shown;
  }

  /** One entry of a list as the server sent it. Throws `invalid_params` for a name that is not listed. */
  async offer(connection: CalledConnection, kind: OfferKind, name: string): Promise<OfferDetail> {
    const kept = this.#keep(connection, kind, false);
    const read = await kept.read;
    const definition = read.entries.get(name);
    if (definition === undefined) throw unlisted(kind, name, read.entries.keys());
    // Only tools are linted.
    const findings = findingsIn(kept, kind, read)?.get(name) ?? (kind === "tools" ? lint([definition as Tool]) : []);
    // The client has checked that an entry is an object of JSON.
    return { kind, definition: definition as unknown as OfferDetail["definition"], findings };
  }

  #keep<K extends OfferKind>(connection: CalledConnection, kind: K, refresh: boolean): KeptList<K> {
    const { client, info } = connection;
    const lists: KeptLists = this.#kept.get(client) ?? {};
    this.#kept.set(client, lists);
    const changes = info.lists[kind];
    // The compiler cannot tell that the member `kind` of this type is a list of that kind.
    const before = lists[kind] as KeptList<K> | undefined;
    if (!refresh && before !== undefined && before.changes === changes) return before;
    const read = readList(connection, kind, refresh ? { cache: false } : {}, this.#limits);
    const kept: KeptList<K> = { changes, read };
    lists[kind] = kept as KeptLists[K];
    // The next one who asks tries again.
    read.catch(() => {
      if (lists[kind] === kept) delete lists[kind];
    });
    return kept;
  }
}

function shownList<K extends OfferKind>(
  kind: K,
  { entries, repeated, cut }: ReadList<K>,
  findings: ReadonlyMap<string, readonly Finding[]> | undefined,
): OfferList {
  const offers = [...entries].map(([name, definition]): OfferSummary => {
    const summary = summaryOf(kind, definition);
    const marks = repeated.has(name) ? [...summary.marks, "listed more than once"] : summary.marks;
    return { ...summary, marks, findings: findings?.get(name)?.filter(isSerious).length ?? 0 };
  });
  return { kind, offers, cut };
}

/** The findings of a list of tools by tool; undefined for lists that are too long to be linted at once. */
function findingsIn<K extends OfferKind>(
  kept: KeptList<K>,
  kind: K,
  { entries }: ReadList<K>,
): ReadonlyMap<string, readonly Finding[]> | undefined {
  if (kind !== "tools" || entries.size > MOST_LINTED) return undefined;
  // The entries of this kind are tools.
  kept.findings ??= byTool(lint([...entries.values()] as Tool[]));
  return kept.findings;
}

function byTool(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  const all = new Map<string, Finding[]>();
  for (const finding of findings) {
    if (finding.tool === undefined) continue;
    const known = all.get(finding.tool);
    if (known === undefined) all.set(finding.tool, [finding]);
    else known.push(finding);
  }
  return all;
}

function lint(tools: readonly Tool[]): readonly Finding[] {
  try {
    return lintTools(tools);
  } catch {
    // Findings are a help: a definition that lint stumbles over is shown all the same.
    return [];
  }
}

function isSerious({ severity }: Finding): boolean {
  return severity !== "note";
}

function unlisted(kind: OfferKind, name: string, names: Iterable<string>): McpError {
  const meant = nearestName(name, [...names]);
  return new McpError("invalid_params", `"${name}" is not in the list of ${kind}`, {
    fix: meant === undefined ? "Read the list again." : `Did you mean "${meant}"? Otherwise read the list again.`,
  });
}

/** How much of one list is read. */
export interface ListLimits {
  /** Entries. Default 20,000. */
  entries: number;
  /** Bytes of all entries. Default 32 MiB. */
  bytes: number;
}

const DEFAULT_LIST_LIMITS: ListLimits = { entries: 20_000, bytes: 32 * 1024 * 1024 };

/** A list as it was read. */
interface ReadList<K extends OfferKind> {
  /** By what identifies them, in the order of the server; of entries with the same name the first. */
  readonly entries: ReadonlyMap<string, Definitions[K]>;
  /** Names that the server lists more than once. */
  readonly repeated: ReadonlySet<string>;
  /** The list goes on, or does not end. */
  readonly cut: boolean;
}

/** Reads a list of a server, page by page, until it ends or a limit is reached. */
async function readList<K extends OfferKind>(
  connection: CalledConnection,
  kind: K,
  options: CallOptions,
  limits: ListLimits,
): Promise<ReadList<K>> {
  const entries = new Map<string, Definitions[K]>();
  const repeated = new Set<string>();
  let bytes = 0;
  try {
    for await (const definition of walk(connection, kind, options)) {
      bytes += jsonBytes(definition);
      const key = keyOf(kind, definition);
      // One that repeats itself for ever counts with its bytes.
      if (entries.size >= limits.entries || bytes > limits.bytes) return { entries, repeated, cut: true };
      if (entries.has(key)) repeated.add(key);
      else entries.set(key, definition);
    }
  } catch (error) {
    // Too many pages, or a cursor that comes back: what came before is worth showing.
    const endless = McpError.is(error) && error.kind === "limit_exceeded" && entries.size > 0;
    if (!endless) throw error;
    return { entries, repeated, cut: true };
  }
  return { entries, repeated, cut: false };
}

function walk<K extends OfferKind>(
  { client, extensions }: CalledConnection,
  kind: K,
  options: CallOptions,
): AsyncIterable<Definitions[K]> {
  const walks: { readonly [L in OfferKind]: () => AsyncIterable<Definitions[L]> } = {
    tools: () => client.tools(options),
    resources: () => client.resources(options),
    templates: () => client.resourceTemplates(options),
    prompts: () => client.prompts(options),
    skills: () => client.extension(extensions.skills).list(options),
  };
  return walks[kind]();
}
