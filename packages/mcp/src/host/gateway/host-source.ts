import type { MaybePromise } from "../../encoding/maybe-promise.js";
import type { CacheHint } from "../../era/era.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { kindsOf, OFFER_KINDS, type OfferCapability, type OfferKind } from "../../protocol/features/offer-kinds.js";
import type { Tool } from "../../protocol/features/tools.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { cacheHints } from "../../server/contract/cache-hints.js";
import type { ServerOptions } from "../../server/contract/options.js";
import type { Watch } from "../../server/contract/resource.js";
import type { FoundOffer, OfferItems, OfferList, Source } from "../../server/contract/source.js";
import type { Peer } from "../../transport/transport.js";
import type { HostCatalogue, HostOffer } from "../catalogue/host-catalogue.js";
import { narrowest } from "../catalogue/server-lists.js";
import { ToolFilter, type ToolFilterOptions } from "../catalogue/tool-filter.js";
import type { RemoteServer } from "../connection/remote-server.js";
import { ClientViews, type OfferView } from "./client-views.js";
import { forwardError } from "./forward-error.js";
import { callerOf } from "./forward-request.js";
import { type GatewayState, RemoteOffer, type ShownTools } from "./remote-offer.js";
import { ParkedCalls } from "./running-call.js";

/** The servers that a gateway forwards calls to. */
export interface GatewayBackends {
  readonly catalogue: HostCatalogue;
  /** The servers at which each client has its own connection. */
  readonly isolated: readonly RemoteServer[];
  find(name: string): GatewayBackend | undefined;
  /** Calls `listener` when lists have changed, until the returned function is called. */
  onChanged(listener: (lists: readonly OfferCapability[]) => void): () => void;
}

/** One server that a gateway forwards calls to. */
export interface GatewayBackend extends ShownTools {
  readonly remote: RemoteServer;
  readonly config: { readonly filter: ToolFilterOptions };
  watch(uri: string, updated: () => void): () => void;
}

/**
 * Maximum length of all instructions together, in characters. The rest is cut off, because models get the instructions
 * with every conversation.
 */
const MAX_INSTRUCTIONS = 32_768;

/** The offers of the servers of a host. Answers lists from the catalogue and forwards everything else. */
export class HostSource implements Source, GatewayState {
  readonly #backends: GatewayBackends;
  readonly #options: ServerOptions;
  readonly #hints: ReturnType<typeof cacheHints>;
  readonly #views: ClientViews;
  readonly #listeners = new Set<(kinds: readonly OfferKind[]) => void>();
  readonly #lists = new Map<OfferKind, { entries: readonly object[]; list: OfferList }>();
  readonly #watches = new WeakMap<GatewayBackend, Watch>();
  /** Offers by their entries in a catalogue. The entries are replaced together with the lists. */
  readonly #offers = new WeakMap<HostOffer, RemoteOffer>();
  /** The servers at which a client has its own connections. */
  readonly #isolated = new WeakMap<Peer, Set<RemoteServer>>();
  #parked: ParkedCalls | undefined;

  constructor(backends: GatewayBackends, options: ServerOptions) {
    this.#backends = backends;
    this.#options = options;
    this.#hints = cacheHints(options.cache);
    this.#views = new ClientViews({
      catalogue: backends.catalogue,
      filter: (name, tools) => new ToolFilter(backends.find(name)?.config.filter ?? {}).apply(name, tools),
      changed: (list) => this.#changed([list]),
    });
  }

  /** The union of the capabilities that the servers declare. */
  capabilities(): ServerCapabilities {
    const { listChanged, logging, subscribe } = this.#options;
    const { catalogue } = this.#backends;
    const changes = listChanged === false ? {} : { listChanged: true };
    const all: ServerCapabilities = {};
    let logs = logging === true;
    for (const server of catalogue.servers()) {
      const declared = catalogue.listsOf(server).about?.capabilities ?? {};
      if (declared.tools !== undefined) all.tools = changes;
      if (declared.prompts !== undefined) all.prompts = changes;
      if (declared.completions !== undefined) all.completions = {};
      if (declared.logging !== undefined) logs = logging !== false;
      if (declared.resources === undefined) continue;
      const subscribes = declared.resources.subscribe === true && subscribe !== false;
      all.resources = { ...changes, subscribe: all.resources?.subscribe === true || subscribes };
    }
    // By default every server declares logging. A gateway has nothing to log itself, so it declares logging only if an
    // option or one of its servers does.
    return logs ? all : { ...all, ...({ logging: undefined } as object) };
  }

  /** The instructions of all servers. With several servers each text gets the server's name as its heading. */
  instructions(): string | undefined {
    const { catalogue } = this.#backends;
    const given = [...catalogue.servers()].flatMap((server) => {
      const text = catalogue.listsOf(server).about?.instructions;
      return text === undefined || text.trim() === "" ? [] : [{ server, text }];
    });
    const [first] = given;
    if (first === undefined) return undefined;
    const several = [...catalogue.servers()].length > 1;
    const joined = several ? given.map(({ server, text }) => `# ${server}\n\n${text}`).join("\n\n") : first.text;
    return joined.slice(0, MAX_INSTRUCTIONS);
  }

  onChange(listener: (kinds: readonly OfferKind[]) => void): () => void {
    this.#listeners.add(listener);
    const end = this.#backends.onChanged((lists) => this.#changed(lists));
    return () => {
      this.#listeners.delete(listener);
      end();
    };
  }

  #changed(lists: readonly OfferCapability[]): void {
    for (const listener of this.#listeners) listener(lists.flatMap(kindsOf));
  }

  watchOf(uri: string): Watch | undefined {
    const owner = this.#backends.catalogue.ownerOf(uri);
    const target = owner && this.#backends.find(owner.server);
    if (target === undefined) return undefined;
    let watch = this.#watches.get(target);
    if (watch === undefined) {
      watch = (outer, updated) => {
        const inner = this.#backends.catalogue.ownerOf(outer)?.inner;
        return inner === undefined ? undefined : target.watch(inner, () => updated());
      };
      this.#watches.set(target, watch);
    }
    return watch;
  }

  get connects(): boolean {
    return this.#backends.isolated.length > 0;
  }

  list(kind: OfferKind, call: ServerCall): MaybePromise<OfferList> {
    const { isolated } = this.#backends;
    return isolated.length === 0 ? this.#sharedList(kind) : this.#liveList(kind, isolated, call);
  }

  /** The entries of all servers. Returns the same list until an entry or the cache hint changes. */
  #sharedList(kind: OfferKind): OfferList {
    const entries = this.#backends.catalogue.all(kind);
    const cache = this.#hintOf(kind);
    const known = this.#lists.get(kind);
    if (known?.entries === entries && sameHint(known.list.cache, cache)) return known.list;
    const list = { items: kind === "tools" ? withoutTasks(entries as readonly Tool[]) : entries, cache };
    this.#lists.set(kind, { entries, list });
    return list;
  }

  /** The entries that the caller sees, including those of its own connections. */
  async #liveList(kind: OfferKind, isolated: readonly RemoteServer[], call: ServerCall): Promise<OfferList> {
    const { catalogue } = this.#backends;
    const names = new Set(isolated.map(({ name }) => name));
    const { items, cache } = this.#sharedList(kind);
    const { key } = OFFER_KINDS[kind];
    const shared = items.filter((item) => {
      const outer = String((item as unknown as Record<string, unknown>)[key]);
      return !names.has(catalogue.find(kind, outer)?.server ?? "");
    });
    const views = await Promise.all(isolated.map((server) => this.#viewOf(server, call))).finally(() =>
      closeUnknown(call, isolated),
    );
    const own = views.flatMap((view): readonly OfferItems[OfferKind][] => view.catalogue.all(kind));
    return { items: [...shared, ...own], cache: { ...(cache ?? this.#hints[kind]), scope: "private" } };
  }

  /**
   * The cache hint of a list: the strictest hint of the servers that offer it, and of the option `cache` if it is set.
   */
  #hintOf(kind: OfferKind): CacheHint {
    const { cache } = this.#options;
    const { catalogue } = this.#backends;
    const isSet = cache?.ttlMs !== undefined || cache?.[kind]?.ttlMs !== undefined;
    const own = this.#hints[kind];
    const candidates: CacheHint[] = isSet ? [own] : [];
    for (const server of catalogue.servers()) {
      const { about, hints } = catalogue.listsOf(server);
      if (about?.capabilities[OFFER_KINDS[kind].capability] !== undefined) candidates.push(hints?.[kind] ?? own);
    }
    return narrowest(candidates) ?? own;
  }

  find(kind: OfferKind, name: string, call: ServerCall): MaybePromise<FoundOffer | undefined> {
    const { isolated } = this.#backends;
    if (isolated.length > 0) return this.#findLive(kind, name, isolated, call);
    return this.#findIn(this.#backends.catalogue, kind, name);
  }

  /** Finds an offer as the caller sees it, over its own connections. */
  async #findLive(
    kind: OfferKind,
    name: string,
    isolated: readonly RemoteServer[],
    call: ServerCall,
  ): Promise<FoundOffer | undefined> {
    const { catalogue } = this.#backends;
    const owner = (kind === "resources" ? catalogue.ownerOf(name) : catalogue.find(kind, name))?.server;
    if (owner !== undefined && !isolated.some((server) => server.name === owner)) {
      return this.#findIn(catalogue, kind, name);
    }
    let target: RemoteServer | undefined;
    const answered = closeWhenAnswered(call, isolated);
    try {
      for (const server of isolated) {
        const view = await this.#viewOf(server, call);
        const found = this.#findIn(view.catalogue, kind, name, view);
        if (found === undefined) continue;
        target = server;
        return found;
      }
      return undefined;
    } finally {
      closeUnknown(
        call,
        isolated.filter((server) => server !== target || answered()),
      );
    }
  }

  /** Finds an offer in a catalogue: that of the host, or that of a client's view with its `shown` tools. */
  #findIn(catalogue: HostCatalogue, kind: OfferKind, name: string, shown?: ShownTools): RemoteOffer | undefined {
    const listed = catalogue.find(kind, name);
    const known = listed && this.#offers.get(listed);
    if (known !== undefined && known.about === listed?.owner.lists.about) return known;
    const found = listed ?? (kind === "resources" ? catalogue.ownerOf(name) : undefined);
    const target = found && this.#backends.find(found.server);
    if (found === undefined || target === undefined) return undefined;
    const offer = new RemoteOffer(kind, name, found, [target.remote, shown ?? target], this);
    if (listed !== undefined) this.#offers.set(listed, offer);
    return offer;
  }

  /** Calls a tool by the name that clients see. */
  callByName(name: string, args: Record<string, unknown> | undefined, call: ServerCall): Promise<object> {
    const offer = this.#findIn(this.#backends.catalogue, "tools", name);
    if (offer === undefined) throw new McpError("invalid_params", `unknown tool: ${name}`);
    return offer.callTool(args, call);
  }

  async #viewOf(server: RemoteServer, call: ServerCall): Promise<OfferView> {
    try {
      return await this.#views.get(server, call);
    } catch (error) {
      // `forwardError` always throws here, because without a connection no result represents the error.
      throw forwardError(error, call, { server: server.name, names: undefined, connected: false });
    }
  }

  parkedCalls({ config }: ServerCall): ParkedCalls {
    this.#parked ??= new ParkedCalls(config.platform, config.limits.answerMs, () => config.randomId());
    return this.#parked;
  }

  closeWhenGone(peer: Peer | undefined, server: RemoteServer): void {
    if (peer?.onEnded === undefined) return;
    const known = this.#isolated.get(peer) ?? new Set();
    this.#isolated.set(peer, known);
    if (known.has(server)) return;
    known.add(server);
    peer.onEnded(() => server.closeConnectionsOf(peer));
  }

  close(): void {
    this.#parked?.close();
  }
}

/**
 * Removes the task support that servers declare for their tools. The extensions of the gateway's own server declare it
 * instead.
 */
function withoutTasks(tools: readonly Tool[]): readonly Tool[] {
  return tools.map(({ execution: _tasks, ...tool }) => tool);
}

function sameHint(one: CacheHint | undefined, other: CacheHint): boolean {
  return one?.ttlMs === other.ttlMs && one.scope === other.scope;
}

/**
 * Closes the connections of an anonymous caller, because no later request can be recognised as coming from the same
 * caller.
 */
function closeUnknown(call: ServerCall, servers: readonly RemoteServer[]): void {
  if (callerOf(call) === call.root) for (const server of servers) server.closeConnectionsOf(call.root);
}

/**
 * Closes the idle connections of an anonymous caller when its call is answered. This is needed for a call that is
 * rejected after its offer was found, because such a call never uses its connection. The returned function returns true
 * after the call has been answered.
 */
function closeWhenAnswered(call: ServerCall, servers: readonly RemoteServer[]): () => boolean {
  let isAnswered = false;
  if (callerOf(call) === call.root) {
    call.root.whenAnswered(() => {
      isAnswered = true;
      for (const server of servers) server.closeConnectionsOf(call.root, "idle");
    });
  }
  return () => isAnswered;
}
