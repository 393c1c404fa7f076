import { isThenable, type MaybePromise, neverUnhandled, whenReady } from "../../encoding/maybe-promise.js";
import { nearestName } from "../../encoding/nearest-name.js";
import type { CacheHint } from "../../era/era.js";
import { type ParamHeader, paramHeaderTable } from "../../era/param-headers.js";
import { promisesObject } from "../../era/wrapped-output.js";
import { isObject } from "../../jsonrpc/message.js";
import { callHook } from "../../platform/call-hook.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError, resourceNotFound } from "../../protocol/error.js";
import { ALL_OFFER_KINDS, OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import type { Tool } from "../../protocol/features/tools.js";
import { withNextCursor } from "../../protocol/message.js";
import type { Revision } from "../../protocol/revisions.js";
import { type Layer, type Layers, mergeCapabilities } from "../call/layers.js";
import type { MethodHandler, ServerCall } from "../call/server-call.js";
import type { ServerConfig } from "../call/server-config.js";
import type { Hub } from "../changes/hub.js";
import { RESOURCE_FILTER } from "../changes/peer-subscriber.js";
import type { Watch } from "../contract/resource.js";
import type { FoundOffer, OfferItems, OfferList, Source, SourceCall } from "../contract/source.js";
import { checkedSource, type PlainSource } from "./checked-source.js";
import { LABELS, LocalSource } from "./local-source.js";
import { PagedList, pageOf, wholeList } from "./pages.js";
import { ResourceWatches } from "./watch.js";

/**
 * Maximum number of joined lists to cache for each kind, if callers see different lists. Beyond it the oldest list is
 * evicted.
 */
const MAX_LISTS = 16;

type Item = OfferItems[OfferKind];
type Pages = PagedList<Item>;

/** The properties of a tool's list entry that its calls depend on. */
interface ToolCallInfo {
  readonly headers: readonly ParamHeader[];
  readonly wrapsOutput: boolean;
}

const TOOL_CALL_INFO = new WeakMap<object, ToolCallInfo>();

/** Returns the properties of a tool's entry that its calls depend on. Computed once per entry. */
export function toolCallInfo(item: Item): ToolCallInfo {
  let known = TOOL_CALL_INFO.get(item);
  if (known === undefined) {
    const { inputSchema, outputSchema } = item as Tool;
    const table = paramHeaderTable(inputSchema);
    known = {
      headers: "problem" in table ? [] : table.headers,
      wrapsOutput: isObject(outputSchema) && !promisesObject(outputSchema),
    };
    TOOL_CALL_INFO.set(item, known);
  }
  return known;
}

/**
 * Joins the offers of all sources of a server. Only this class joins lists, splits them into pages, completes
 * arguments, checks scopes and headers, sets cache hints, and publishes changes.
 */
export class JoinedSources implements Layer {
  readonly name = "offers";
  readonly stage = "served";
  readonly local: LocalSource;
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  readonly #config: ServerConfig;
  readonly #layers: Layers;
  readonly #hub: Hub;
  readonly #watches: ResourceWatches;
  #sources: readonly PlainSource[];
  readonly #pages = new WeakMap<OfferList, Pages>();
  readonly #joined = new Map<OfferKind, { parts: readonly OfferList[]; list: OfferList }[]>();

  constructor(config: ServerConfig, layers: Layers, hub: Hub) {
    this.#config = config;
    this.#layers = layers;
    this.#hub = hub;
    this.local = new LocalSource(config, layers);
    this.#sources = [this.local];
    this.#watches = new ResourceWatches(config, hub, this);
    hub.watch(RESOURCE_FILTER, this.#watches);
    this.handlers = {
      ...Object.fromEntries(
        ALL_OFFER_KINDS.map((kind) => [OFFER_KINDS[kind].list, (call: ServerCall) => this.#page(kind, call)]),
      ),
      "tools/call": (call) => this.#use("tools", call),
      "prompts/get": (call) => this.#use("prompts", call),
      "resources/read": (call) => this.#use("resources", call),
      "completion/complete": (call) => this.#complete(call),
    };
    this.local.onChange((kinds) => this.changed(kinds));
  }

  /** Adds the sources of the application, in order. */
  addSources(sources: unknown): void {
    if (!Array.isArray(sources)) {
      throw new McpError("invalid_definition", "`sources` of the server is not an array", {
        fix: "Pass `sources: [source]`.",
      });
    }
    for (const [index, source] of (sources as Source[]).entries()) {
      this.add(checkedSource(source, `\`sources[${index}]\``, this.local, this.#config));
    }
  }

  /** Adds a source in front of those with a lower `rank`. Returns a function that removes it. */
  add(source: PlainSource, rank = 0): () => void {
    const plain = withDefaultCapabilities(source, this.#config);
    this.#ranks.set(plain, rank);
    const rest = [...this.#sources.slice(1), plain].sort(
      (a, b) => (this.#ranks.get(b) ?? 0) - (this.#ranks.get(a) ?? 0),
    );
    this.#sources = [this.local, ...rest];
    const end = source.onChange?.((kinds) => this.changed(kinds));
    if (end !== undefined) this.#ends.add(end);
    this.changed(ALL_OFFER_KINDS);
    return () => {
      if (end !== undefined && this.#ends.delete(end)) end();
      this.#sources = this.#sources.filter((known) => known !== plain);
      this.changed(ALL_OFFER_KINDS);
    };
  }

  readonly #ranks = new WeakMap<PlainSource, number>();
  /**
   * Number of sources at the start of the list that can be searched without opening connections. Only these are
   * searched before the call is admitted. Undefined if no source opens connections.
   */
  #searchable: number | undefined;
  /** Functions that end the notifications of sources. */
  readonly #ends = new Set<() => void>();

  /** Publishes a change of the offers of these kinds. An empty list means that only capabilities have changed. */
  changed(kinds: readonly OfferKind[]): void {
    const opening = this.#sources.findIndex(({ connects }) => connects === true);
    this.#searchable = opening === -1 ? undefined : opening;
    this.#layers.changed();
    if (kinds.includes("resources") || kinds.includes("resourceTemplates")) this.#watches.refresh();
    for (const list of new Set(kinds.map((kind) => OFFER_KINDS[kind].capability))) this.#hub.listChanged(list);
  }

  capabilities(revision: Revision): ServerCapabilities {
    const all: ServerCapabilities = {};
    for (const source of this.#sources) mergeCapabilities(all, source.capabilities(revision));
    return all;
  }

  /**
   * The early checks of `tools/call`. Empty if the server has only registered offers and no tool needs an early check.
   */
  get checks(): NonNullable<Layer["checks"]> {
    return this.#sources.length > 1 || this.local.hasChecks ? this.#checks : {};
  }

  readonly #checks: NonNullable<Layer["checks"]> = { "tools/call": (call) => this.#check(call) };

  /** True if finding an offer may open connections. */
  get connects(): boolean {
    return this.#sources.some(({ connects }) => connects === true);
  }

  get needsSession(): boolean {
    // The local source of a server without registered offers does not count, because all offers come from the other
    // sources.
    const first = this.#sources.length > 1 && !this.local.isUsed ? 1 : 0;
    return !this.#sources.slice(first).every((source) => source.sessionless ?? false);
  }

  /** Returns the instructions of the first source that has any. */
  instructions(): string | undefined {
    for (const source of this.#sources) {
      const text = source.instructions?.();
      if (text !== undefined) return text;
    }
    return undefined;
  }

  watchOf(uri: string): Watch | undefined {
    for (const source of this.#sources) {
      const watch = source.watchOf?.(uri);
      if (watch !== undefined) return watch;
    }
    return undefined;
  }

  async close(): Promise<void> {
    for (const end of this.#ends) callHook(this.#config.platform, "the end of onChange", end);
    this.#ends.clear();
    await Promise.all(this.#sources.map(async (source) => source.close?.()));
  }

  /** Returns the entries of one kind that this caller sees. */
  list(kind: OfferKind, call: SourceCall): MaybePromise<OfferList> {
    const [only] = this.#sources;
    if (only !== undefined && this.#sources.length === 1) return only.list(kind, call);
    return this.#listAll(kind, call);
  }

  async #listAll(kind: OfferKind, call: SourceCall): Promise<OfferList> {
    const parts: OfferList[] = [];
    for (const source of this.#sources) {
      if (declares(source, kind, call.request.revision)) parts.push(await source.list(kind, call));
    }
    const known = this.#joined.get(kind) ?? [];
    const same = known.find((joined) => sameItems(joined.parts, parts));
    if (same !== undefined) return same.list;
    const byKey = new Map<unknown, Item>();
    const { key } = OFFER_KINDS[kind];
    for (const item of parts.flatMap(({ items }) => items)) {
      const id = (item as unknown as Record<string, unknown>)[key];
      if (!byKey.has(id)) byKey.set(id, item);
    }
    const list: OfferList = { items: [...byKey.values()], cache: narrowestHint(this.#config.hints[kind], parts) };
    this.#joined.set(kind, [{ parts, list }, ...known].slice(0, MAX_LISTS));
    return list;
  }

  /** Returns the offer with this name, URI or template of the first source that has it, if this caller sees it. */
  find(
    kind: OfferKind,
    name: string,
    call: SourceCall,
    from = 0,
    until = this.#sources.length,
  ): MaybePromise<FoundOffer | undefined> {
    // Skips the local source of a server without registered tools, such as a gateway.
    const first = from === 0 && kind === "tools" && !this.local.used.has(kind) ? 1 : from;
    for (let index = first; index < until; index++) {
      const found = this.#sources[index]?.find(kind, name, call);
      if (isThenable(found)) return found.then((settled) => settled ?? this.find(kind, name, call, index + 1, until));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** True if this caller may subscribe to this URI. Throws if the caller lacks a scope. */
  knows(uri: string, call: ServerCall): MaybePromise<boolean> {
    return whenReady(this.find("resources", uri, call), (found) => {
      if (found === undefined) return false;
      checkScopes("resource", uri, found.scopes, call);
      try {
        found.check?.(call);
        return true;
      } catch {
        return false;
      }
    });
  }

  #page(kind: OfferKind, call: ServerCall): MaybePromise<object> {
    const paging = call.outer === undefined ? this.#pagingSource(kind, call) : undefined;
    if (paging !== undefined) return this.#sourcePage(kind, paging, call);
    return whenReady(this.list(kind, call), (list) => {
      call.cache = list.cache ?? this.#config.hints[kind];
      const pages = this.#pagesOf(kind, list);
      // For a mounted server, the outer server splits the joined list.
      return call.outer === undefined ? pageOf(this.#config, pages, call.request.params) : wholeList(pages);
    });
  }

  #pagesOf(kind: OfferKind, list: OfferList): Pages {
    let pages = this.#pages.get(list);
    if (pages === undefined) {
      const { key } = OFFER_KINDS[kind];
      const keyOf = (item: Item) => String((item as unknown as Record<string, unknown>)[key]);
      const name = kind === "resourceTemplates" ? "resource templates" : kind;
      pages = new PagedList<Item>({ name, keyOf, member: kind }, list.items);
      this.#pages.set(list, pages);
    }
    return pages;
  }

  /** Returns the only source of a kind, if it has its own pages. */
  #pagingSource(kind: OfferKind, { request }: ServerCall): PlainSource | undefined {
    if (this.#sources.length === 1) return undefined;
    const declaring = this.#sources.filter((source) => declares(source, kind, request.revision));
    return declaring.length === 1 && declaring[0]?.page !== undefined ? declaring[0] : undefined;
  }

  #sourcePage(kind: OfferKind, source: PlainSource, call: ServerCall): MaybePromise<object> {
    const { secrets, hints } = this.#config;
    const purpose = `cursor of a source ${kind}`;
    const { cursor } = call.request.params;
    const opened = typeof cursor === "string" ? secrets.verify(purpose, cursor) : undefined;
    if (cursor !== undefined && opened === undefined) {
      throw new McpError("invalid_params", `the cursor of ${call.request.method} was not issued by this server`, {
        fix: "List again without a cursor.",
      });
    }
    call.cache = hints[kind];
    return whenReady(source.page?.(kind, opened, call) ?? { items: [] }, ({ items, next, cache, ...others }) => {
      if (cache !== undefined) call.cache = cache;
      return withNextCursor({ ...others, [kind]: items }, next === undefined ? undefined : secrets.sign(purpose, next));
    });
  }

  #check(call: ServerCall): void {
    const { name } = call.request.params;
    const until = this.#searchable;
    const found = typeof name === "string" ? this.find("tools", name, call, 0, until) : undefined;
    // The promise of a search in only some sources is not stored, because it may resolve with undefined although
    // another source has the offer.
    if (until === undefined || !isThenable(found)) call.offer = found;
    if (isThenable(found)) neverUnhandled(Promise.resolve(found));
    if (found === undefined || isThenable(found)) return;
    found.check?.(call);
    if (found.headers?.length !== 0) this.#checkHeaders(found, call);
  }

  #checkHeaders(found: FoundOffer, call: ServerCall): void {
    const { http } = call.exchange;
    const { item, headers = item === undefined ? [] : toolCallInfo(item).headers } = found;
    const args = call.request.params["arguments"] ?? {};
    if (headers.length > 0 && http !== undefined && isObject(args))
      call.request.era.checkArguments(headers, args, http);
  }

  #use(kind: "tools" | "prompts" | "resources", call: ServerCall): MaybePromise<object> {
    const { offer } = call;
    const { key } = OFFER_KINDS[kind];
    const named = call.request.params[key];
    const name = typeof named === "string" ? named : call.stringParam(key);
    if (offer !== undefined && !isThenable(offer) && (offer.item === undefined || offer.item.name === name))
      return this.#run(kind, name, offer, call);
    // Also searches again if middleware has changed the name.
    const found = isThenable(offer) ? offer : this.find(kind, name, call);
    if (isThenable(found)) return found.then((settled) => this.#runFound(kind, name, settled, call));
    return this.#runFound(kind, name, found, call);
  }

  #runFound(kind: OfferKind, name: string, found: FoundOffer | undefined, call: ServerCall): MaybePromise<object> {
    if (found === undefined) throw this.#unknown(kind, name, call);
    if (kind === "tools") this.#checkHeaders(found, call);
    return this.#run(kind, name, found, call);
  }

  #run(kind: OfferKind, name: string, found: FoundOffer, call: ServerCall): MaybePromise<object> {
    if (found.scopes !== undefined && found.scopes.length > 0) checkScopes(LABELS[kind], name, found.scopes, call);
    if (found.cache !== undefined) call.cache = found.cache;
    if (kind === "tools") {
      const { item, wrapsOutput = item !== undefined && toolCallInfo(item).wrapsOutput } = found;
      if (wrapsOutput) call.root.request.wrapsOutput = true;
    }
    return found.run(call);
  }

  /** The error for an unknown name. Suggests the most similar name that this caller sees. */
  #unknown(kind: OfferKind, name: string, call: ServerCall): McpError {
    if (kind === "resources") return resourceNotFound(name);
    // Suggestions come from registered offers only, because other sources may be slow.
    const listed = this.local.list(kind, call);
    const names = isThenable(listed) ? [] : listed.items.map((item) => item.name);
    const nearest = nearestName(name, names);
    const meant = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
    return new McpError("invalid_params", `unknown ${LABELS[kind]}: ${name}${meant}`, {
      data: { reason: `unknown_${LABELS[kind]}`, name, ...(nearest === undefined ? {} : { nearest }) },
    });
  }

  #complete(call: ServerCall): MaybePromise<object> {
    const { ref } = call.request.params;
    const type = isObject(ref) ? ref["type"] : undefined;
    const name = isObject(ref) ? ref[type === "ref/prompt" ? "name" : "uri"] : undefined;
    if ((type !== "ref/prompt" && type !== "ref/resource") || typeof name !== "string") {
      throw new McpError(
        "invalid_params",
        "`params.ref` must be a ref/prompt with `name` or a ref/resource with `uri`",
      );
    }
    const complete = (kind: OfferKind, found: FoundOffer | undefined) => {
      if (found === undefined) {
        const what = type === "ref/prompt" ? "prompt" : "resource";
        throw new McpError("invalid_params", `the ${what} "${name}" does not exist`);
      }
      checkScopes(LABELS[kind], name, found.scopes, call);
      return found.complete?.(call) ?? { completion: { values: [], total: 0, hasMore: false } };
    };
    if (type === "ref/prompt")
      return whenReady(this.find("prompts", name, call), (found) => complete("prompts", found));
    return whenReady(this.find("resourceTemplates", name, call), (template) =>
      template !== undefined
        ? complete("resourceTemplates", template)
        : whenReady(this.find("resources", name, call), (found) => complete("resourceTemplates", found)),
    );
  }
}

/**
 * Refuses a caller that lacks scopes for an offer. The HTTP transport answers with a challenge.
 *
 * Spec: Tools, "Security Considerations",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations
 */
function checkScopes(what: string, name: string, scopes: readonly string[] | undefined, call: ServerCall): void {
  if (scopes === undefined || scopes.length === 0) return;
  const { principal, peer, http } = call.exchange;
  const auth = principal ?? peer?.principal;
  // A pipe to a parent process has no authorization, so scopes are not checked. Over HTTP, a request without
  // authorization must not pass the check.
  if (auth === undefined && http === undefined) return;
  const missing = scopes.filter((scope) => auth?.scopes?.includes(scope) !== true);
  if (missing.length === 0) return;
  call.reply = { scopes: [...scopes] };
  throw new McpError("insufficient_scope", `the ${what} "${name}" needs the scope ${missing.join(" ")}`, {
    data: { scopes },
  });
}

/** Returns the source with `listChanged` and `subscribe` derived from its members. */
function withDefaultCapabilities(source: PlainSource, { options }: ServerConfig): PlainSource {
  return {
    capabilities(revision) {
      const declared = source.capabilities(revision);
      const all: ServerCapabilities = { ...declared };
      for (const name of ["tools", "prompts", "resources"] as const) {
        if (declared[name] === undefined) continue;
        const changes = source.onChange !== undefined && options.listChanged !== false ? { listChanged: true } : {};
        all[name] = { ...changes, ...declared[name] };
      }
      const { resources } = all;
      // A source may declare `subscribe: false` while it cannot watch any of its resources.
      if (resources === undefined || resources.subscribe === true) return all;
      const { subscribe = source.watchOf !== undefined && options.subscribe !== false, ...rest } = resources;
      all.resources = subscribe ? { ...rest, subscribe } : rest;
      return all;
    },
    list: (kind, call) => source.list(kind, call),
    find: (kind, name, call) => source.find(kind, name, call),
    ...(source.page && {
      page: (kind: OfferKind, cursor: string | undefined, call: SourceCall) =>
        // Safe: the source has `page`.
        (source.page as NonNullable<Source["page"]>)(kind, cursor, call),
    }),
    ...(source.instructions && { instructions: () => source.instructions?.() }),
    ...(source.watchOf && { watchOf: (uri: string) => source.watchOf?.(uri) }),
    ...(source.close && { close: () => source.close?.() }),
    get sessionless() {
      return source.sessionless;
    },
    get connects() {
      return source.connects;
    },
  };
}

/**
 * Returns the hint of a joined list: the shortest time of its parts, and `private` if one part is private.
 *
 * Spec: Caching, "Cacheable Model",
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-model
 */
function narrowestHint(usual: CacheHint, parts: readonly OfferList[]): CacheHint {
  if (parts.length === 0) return usual;
  const hints = parts.map(({ cache = usual }) => cache);
  return {
    ttlMs: Math.min(...hints.map(({ ttlMs }) => ttlMs)),
    scope: hints.some(({ scope }) => scope === "private") ? "private" : "public",
  };
}

function declares(source: PlainSource, kind: OfferKind, revision: Revision): boolean {
  return source.capabilities(revision)[OFFER_KINDS[kind].capability] !== undefined;
}

function sameItems(some: readonly object[], others: readonly object[]): boolean {
  return some.length === others.length && some.every((item, index) => item === others[index]);
}
