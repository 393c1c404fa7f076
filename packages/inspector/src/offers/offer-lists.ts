import type { CallOptions, Client } from "@parley/mcp";
import { type Finding, lintTools } from "@parley/mcp/lint";
import { McpError, nearestName, type Tool } from "@parley/mcp/protocol";
import type { CallableConnection } from "../calls/callable-connection.js";
import { jsonBytes } from "../calls/json-bytes.js";
import type { OfferKind } from "../contract/connections.js";
import type { OfferDetail, OfferList, OfferSummary } from "../contract/offers.js";
import { type Definitions, keyOf, summaryOf } from "./offer-summary.js";

/**
 * Maximum number of tools in a list that is linted as a whole. Linting this number of tools takes about half a second.
 * In a longer list, each tool is linted when it is shown.
 */
const MAX_LINTED_TOOLS = 1000;

/** A list that was read, with derived values. */
interface CachedList<K extends OfferKind> {
  /** The change counter of the list when it was requested. */
  readonly changes: number | undefined;
  readonly read: Promise<ReadList<K>>;
  /** Computed on first use. */
  shown?: Promise<OfferList>;
  findings?: ReadonlyMap<string, readonly Finding[]>;
}

/** The cached lists of one client. */
type CachedLists = { [K in OfferKind]?: CachedList<K> };

/** Caches the lists of all servers. A list is read again when it changes or on request. */
export class OfferLists {
  readonly #limits: ListLimits;
  /** Keyed by client, so that reopening a connection discards its lists. */
  readonly #cache = new WeakMap<Client, CachedLists>();

  constructor(limits: Partial<ListLimits> = {}) {
    this.#limits = { ...DEFAULT_LIST_LIMITS, ...limits };
  }

  /** Returns the summary of a list. `refresh` reads the list again even if it has not changed. */
  async list(connection: CallableConnection, kind: OfferKind, refresh = false): Promise<OfferList> {
    const cached = this.#cached(connection, kind, refresh);
    cached.shown ??= cached.read.then((read) => shownList(kind, read, findingsIn(cached, kind, read)));
    return cached.shown;
  }

  /** Returns a list entry as the server sent it. Throws `invalid_params` for a name that is not listed. */
  async offer(connection: CallableConnection, kind: OfferKind, name: string): Promise<OfferDetail> {
    const cached = this.#cached(connection, kind, false);
    const read = await cached.read;
    const definition = read.entries.get(name);
    if (definition === undefined) throw notListed(kind, name, read.entries.keys());
    // Only tools are linted.
    const findings = findingsIn(cached, kind, read)?.get(name) ?? (kind === "tools" ? lint([definition as Tool]) : []);
    // Safe: the client has validated that an entry is a JSON object.
    return { kind, definition: definition as unknown as OfferDetail["definition"], findings };
  }

  #cached<K extends OfferKind>(connection: CallableConnection, kind: K, refresh: boolean): CachedList<K> {
    const { client, info } = connection;
    const lists: CachedLists = this.#cache.get(client) ?? {};
    this.#cache.set(client, lists);
    const changes = info.lists[kind];
    // Safe: the member `kind` has a list of that kind, which the compiler cannot derive.
    const before = lists[kind] as CachedList<K> | undefined;
    if (!refresh && before !== undefined && before.changes === changes) return before;
    const read = readList(connection, kind, refresh ? { cache: false } : {}, this.#limits);
    const cached: CachedList<K> = { changes, read };
    lists[kind] = cached as CachedLists[K];
    // A failed read is not cached.
    read.catch(() => {
      if (lists[kind] === cached) delete lists[kind];
    });
    return cached;
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

/**
 * Returns the findings for a list of tools, by tool. Undefined for other lists, and for a list that is too long to be
 * linted as a whole.
 */
function findingsIn<K extends OfferKind>(
  cached: CachedList<K>,
  kind: K,
  { entries }: ReadList<K>,
): ReadonlyMap<string, readonly Finding[]> | undefined {
  if (kind !== "tools" || entries.size > MAX_LINTED_TOOLS) return undefined;
  // Safe: the entries of this kind are tools.
  cached.findings ??= byTool(lint([...entries.values()] as Tool[]));
  return cached.findings;
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
    // Linting is optional: a definition on which the linter fails is still shown.
    return [];
  }
}

function isSerious({ severity }: Finding): boolean {
  return severity !== "note";
}

function notListed(kind: OfferKind, name: string, names: Iterable<string>): McpError {
  const meant = nearestName(name, [...names]);
  return new McpError("invalid_params", `"${name}" is not in the list of ${kind}`, {
    fix: meant === undefined ? "Read the list again." : `Did you mean "${meant}"? Otherwise read the list again.`,
  });
}

/** Limits on one list. Reading stops when a limit is reached. */
export interface ListLimits {
  /** Maximum number of entries. Default: 20,000. */
  entries: number;
  /** Maximum size of all entries. Default: 32 MiB. */
  bytes: number;
}

const DEFAULT_LIST_LIMITS: ListLimits = { entries: 20_000, bytes: 32 * 1024 * 1024 };

/** A list as read from the server. */
interface ReadList<K extends OfferKind> {
  /**
   * Entries by their identifier, in the order of the server. Has only the first of several entries with the same
   * identifier.
   */
  readonly entries: ReadonlyMap<string, Definitions[K]>;
  /** Identifiers that the server lists more than once. */
  readonly repeated: ReadonlySet<string>;
  /** True if the server has more entries, or if the list does not end. */
  readonly cut: boolean;
}

/** Reads a list page by page, until it ends or a limit is reached. */
async function readList<K extends OfferKind>(
  connection: CallableConnection,
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
      // Repeated entries count towards the size, so that reading an endless list of repeated entries stops at the
      // limit.
      if (entries.size >= limits.entries || bytes > limits.bytes) return { entries, repeated, cut: true };
      if (entries.has(key)) repeated.add(key);
      else entries.set(key, definition);
    }
  } catch (error) {
    // Too many pages or a repeated cursor: show the entries read so far.
    const endless = McpError.is(error) && error.kind === "limit_exceeded" && entries.size > 0;
    if (!endless) throw error;
    return { entries, repeated, cut: true };
  }
  return { entries, repeated, cut: false };
}

function walk<K extends OfferKind>(
  { client, extensions }: CallableConnection,
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
