import type { SubscriptionTarget } from "../../client/changes/subscription-filter.js";
import type { Client } from "../../client/client.js";
import type { CallOptions } from "../../client/contract/options.js";
import { collect, walkOffers } from "../../client/features/pages.js";
import type { CacheHint } from "../../era/era.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { kindsOf, type OfferCapability, type OfferKind } from "../../protocol/features/offer-kinds.js";
import type { Prompt } from "../../protocol/features/prompts.js";
import type { Resource, ResourceTemplate } from "../../protocol/features/resources.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { CacheableResult } from "../../protocol/message.js";

/** Capabilities and instructions that a server reports. */
export interface ServerAbout {
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** The lists of one server. */
export interface ServerLists {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  /** Absent before the first connection. */
  readonly about?: ServerAbout | undefined;
  /** Cache hints of the server for each list, if present. */
  readonly hints?: Readonly<Partial<Record<OfferKind, CacheHint>>> | undefined;
}

export const NO_LISTS: ServerLists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

/** The subscription for the lists whose changes a server announces; undefined if it announces none. */
export function announcedLists({ tools, prompts, resources }: ServerCapabilities): SubscriptionTarget | undefined {
  const target = {
    tools: tools?.listChanged === true,
    prompts: prompts?.listChanged === true,
    resourceList: resources?.listChanged === true,
  };
  return Object.values(target).includes(true) ? target : undefined;
}

/** Merges new lists of a server into its previous lists. */
export function joinedLists(before: ServerLists, lists: Partial<ServerLists>): ServerLists {
  return { ...before, ...lists, hints: { ...before.hints, ...lists.hints } };
}

type FetchedList = Partial<ServerLists> & { hints: Partial<Record<OfferKind, CacheHint>> };

/** Fetches lists of a server, bypassing the cache. Lists that the server does not offer are empty. */
export async function fetchLists(
  client: Client,
  changed: readonly OfferCapability[],
  options: CallOptions,
): Promise<Partial<ServerLists>> {
  const { serverCapabilities: capabilities, instructions } = client;
  const all = await Promise.all(
    changed.flatMap((capability) =>
      kindsOf(capability).map((kind) =>
        capabilities[capability] === undefined
          ? { [kind]: [], hints: {} }
          : fetchList(client, kind, { ...options, cache: false }),
      ),
    ),
  );
  const hints = Object.assign({}, ...all.map((one) => one.hints)) as FetchedList["hints"];
  return Object.assign({}, ...all, { about: { capabilities, instructions }, hints });
}

async function fetchList(client: Client, kind: OfferKind, options: CallOptions): Promise<FetchedList> {
  const hints: FetchedList["hints"] = {};
  const walk = walkOffers(kind, async (cursor) => {
    const page = await pageOf(client, kind, cursor, options);
    const { ttlMs, cacheScope } = page;
    if (ttlMs !== undefined) {
      const hint: CacheHint = { ttlMs, scope: cacheScope === "public" ? "public" : "private" };
      hints[kind] = narrowest([hint, hints[kind]]) ?? hint;
    }
    return page;
  });
  try {
    return { [kind]: await collect(walk), hints };
  } catch (error) {
    // These errors count as an empty list: many servers declare more than they have, and old servers reject
    // `resources/templates/list` with various errors.
    const { kind: failure, remote } = McpError.from(error);
    if (remote && (failure === "method_not_found" || kind === "resourceTemplates")) return { [kind]: [], hints };
    throw error;
  }
}

function pageOf(
  client: Client,
  kind: OfferKind,
  cursor: string | undefined,
  options: CallOptions,
): Promise<CacheableResult & Partial<Record<OfferKind, readonly object[]>>> {
  if (kind === "tools") return client.listTools(cursor, options);
  if (kind === "prompts") return client.listPrompts(cursor, options);
  if (kind === "resources") return client.listResources(cursor, options);
  return client.listResourceTemplates(cursor, options);
}

/** The strictest of the hints: the shortest time, and `private` if any hint is private. Undefined without hints. */
export function narrowest(hints: readonly (CacheHint | undefined)[]): CacheHint | undefined {
  const given = hints.filter((hint) => hint !== undefined);
  if (given.length === 0) return undefined;
  return {
    ttlMs: Math.min(...given.map(({ ttlMs }) => ttlMs)),
    scope: given.some(({ scope }) => scope === "private") ? "private" : "public",
  };
}

/** Returns the lists without those of the kinds in `left`. */
export function withoutLists(lists: Partial<ServerLists>, left: readonly OfferKind[]): Partial<ServerLists> {
  const rest = <T extends object>(all: T) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !(left as readonly string[]).includes(name)));
  return { ...rest(lists), hints: rest(lists.hints ?? {}) };
}
