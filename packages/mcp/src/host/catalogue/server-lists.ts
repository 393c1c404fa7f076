import type { SubscriptionTarget } from "../../client/changes/subscription-filter.js";
import type { Client } from "../../client/client.js";
import type { CallOptions } from "../../client/contract/options.js";
import { collect, walkPages } from "../../client/features/pages.js";
import type { CacheHint } from "../../era/era.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { Prompt } from "../../protocol/features/prompts.js";
import type { Resource, ResourceTemplate } from "../../protocol/features/resources.js";
import type { Tool } from "../../protocol/features/tools.js";

/** The kinds of what has a name or URI of its own. */
export type ListKind = "tools" | "prompts" | "resources" | "resourceTemplates";

/** What a server says of itself. */
export interface ServerAbout {
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** What one server lists. */
export interface ServerLists {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  /** Absent before the server was connected. */
  readonly about?: ServerAbout | undefined;
  /** How long each list may be cached, where the server says so. */
  readonly hints?: Readonly<Partial<Record<ListKind, CacheHint>>> | undefined;
}

export const NO_LISTS: ServerLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

/** The lists that a change of each kind may concern. */
export const LISTS_OF = {
  tools: ["tools"],
  prompts: ["prompts"],
  resources: ["resources", "resourceTemplates"],
} as const satisfies Record<string, readonly ListKind[]>;

/** The lists whose changes a server announces, to subscribe to; undefined if there are none. */
export function announcedLists({ tools, prompts, resources }: ServerCapabilities): SubscriptionTarget | undefined {
  const target = {
    tools: tools?.listChanged === true,
    prompts: prompts?.listChanged === true,
    resourceList: resources?.listChanged === true,
  };
  return Object.values(target).includes(true) ? target : undefined;
}

/** Lists of a server with some of them replaced. */
export function joinedLists(before: ServerLists, lists: Partial<ServerLists>): ServerLists {
  return { ...before, ...lists, hints: { ...before.hints, ...lists.hints } };
}

type Fetched = Partial<ServerLists> & { hints: Partial<Record<ListKind, CacheHint>> };

/** Fetches lists of a server anew; of what it does not offer, they are empty. */
export async function fetchLists(
  client: Client,
  kinds: readonly (keyof typeof LISTS_OF)[],
  options: CallOptions,
): Promise<Partial<ServerLists>> {
  const { serverCapabilities: capabilities, instructions } = client;
  const offered = kinds.filter((kind) => capabilities[kind] !== undefined);
  const empty = kinds.flatMap((kind) => LISTS_OF[kind].map((list) => [list, []] as const));
  const all = await Promise.all(
    offered.flatMap((kind) => LISTS_OF[kind].map((list) => fetchList(client, list, { ...options, cache: false }))),
  );
  const hints = Object.assign({}, ...all.map((one) => one.hints)) as Fetched["hints"];
  return Object.assign(Object.fromEntries(empty), ...all, { about: { capabilities, instructions }, hints });
}

async function fetchList(client: Client, list: ListKind, options: CallOptions): Promise<Fetched> {
  const hints: Fetched["hints"] = {};
  const page = async (cursor: string | undefined): Promise<{ items: readonly object[]; nextCursor?: string }> => {
    const result = await pageOf(client, list, cursor, options);
    const { ttlMs, cacheScope } = result;
    if (ttlMs !== undefined) {
      const hint: CacheHint = { ttlMs, scope: cacheScope === "public" ? "public" : "private" };
      hints[list] = narrowest([hint, hints[list]]) ?? hint;
    }
    return { items: result[list] ?? [], ...(result.nextCursor === undefined ? {} : { nextCursor: result.nextCursor }) };
  };
  const walk = walkPages(
    list,
    async (cursor) => {
      const { items, nextCursor } = await page(cursor);
      return { items, nextCursor };
    },
    keyOf,
  );
  try {
    return { [list]: await collect(walk), hints };
  } catch (error) {
    // Many servers declare more than they have, and old ones refuse templates in ways of their own.
    const { kind, remote } = McpError.from(error);
    if (remote && (kind === "method_not_found" || list === "resourceTemplates")) return { [list]: [], hints };
    throw error;
  }
}

type Page = Partial<Record<ListKind, readonly object[]>> & {
  nextCursor?: string | undefined;
  ttlMs?: number | undefined;
  cacheScope?: string | undefined;
};

function pageOf(client: Client, list: ListKind, cursor: string | undefined, options: CallOptions): Promise<Page> {
  if (list === "tools") return client.listTools(cursor, options);
  if (list === "prompts") return client.listPrompts(cursor, options);
  if (list === "resources") return client.listResources(cursor, options);
  return client.listResourceTemplates(cursor, options);
}

function keyOf(item: object): string {
  // Checked by the client: each kind has one of them.
  const { name, uri, uriTemplate } = item as { name?: string; uri?: string; uriTemplate?: string };
  return uri ?? uriTemplate ?? String(name);
}

/** The shortest time, and private if one of them is. Undefined without any. */
export function narrowest(hints: readonly (CacheHint | undefined)[]): CacheHint | undefined {
  const given = hints.filter((hint) => hint !== undefined);
  if (given.length === 0) return undefined;
  return {
    ttlMs: Math.min(...given.map(({ ttlMs }) => ttlMs)),
    scope: given.some(({ scope }) => scope === "private") ? "private" : "public",
  };
}

/** The same without some of the lists. */
export function withoutLists(lists: Partial<ServerLists>, left: readonly ListKind[]): Partial<ServerLists> {
  const rest = <T extends object>(all: T) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !(left as readonly string[]).includes(name)));
  return { ...rest(lists), hints: rest(lists.hints ?? {}) };
}
