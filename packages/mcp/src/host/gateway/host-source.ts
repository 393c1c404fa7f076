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
import { callerOf } from "./pass-on.js";
import { passedError } from "./passed-error.js";
import { type PassedState, RemoteOffer, type ShownTools } from "./remote-offer.js";
import { ParkedCalls } from "./running-call.js";

/** The servers that a gateway passes calls on to, and what is known of them. */
export interface GatewayHost {
  readonly catalogue: HostCatalogue;
  /** The servers at which each client has its own connection. */
  readonly isolated: readonly RemoteServer[];
  find(name: string): GatewayTarget | undefined;
  /** Calls `listener` when lists have changed, until the returned function is called. */
  onChanged(listener: (lists: readonly OfferCapability[]) => void): () => void;
}

/** One server behind a gateway. */
export interface GatewayTarget extends ShownTools {
  readonly remote: RemoteServer;
  readonly parts: { readonly filter: ToolFilterOptions };
  watch(uri: string, updated: () => void): () => void;
}

/** Characters of all instructions together; models get them with every conversation. */
const MAX_INSTRUCTIONS = 32_768;

/** The offers of the servers of a host: lists from what is known of them, everything else by the servers themselves. */
export class HostSource implements Source, PassedState {
  readonly #host: GatewayHost;
  readonly #options: ServerOptions;
  readonly #hints: ReturnType<typeof cacheHints>;
  readonly #views: ClientViews;
  readonly #listeners = new Set<(kinds: readonly OfferKind[]) => void>();
  readonly #lists = new Map<OfferKind, { entries: readonly object[]; list: OfferList }>();
  readonly #watches = new WeakMap<GatewayTarget, Watch>();
  /** Offers by their entries in a catalogue, which are replaced when its lists are. */
  readonly #offers = new WeakMap<HostOffer, RemoteOffer>();
  /** The servers at which clients have connections of their own. */
  readonly #isolated = new WeakMap<Peer, Set<RemoteServer>>();
  #parked: ParkedCalls | undefined;

  constructor(host: GatewayHost, options: ServerOptions) {
    this.#host = host;
    this.#options = options;
    this.#hints = cacheHints(options.cache);
    this.#views = new ClientViews({
      catalogue: host.catalogue,
      filtered: (name, tools) => new ToolFilter(host.find(name)?.parts.filter ?? {}).apply(name, tools),
      changed: (list) => this.#changed([list]),
    });
  }

  /** The capabilities that the servers declare together; of what none of them has, nothing. */
  capabilities(): ServerCapabilities {
    const { listChanged, logging, subscribe } = this.#options;
    const { catalogue } = this.#host;
    const changes = listChanged === false ? {} : { listChanged: true };
    const all: ServerCapabilities = {};
    let logs = logging === true;
    for (const server of catalogue.servers()) {
      const declared = catalogue.of(server).about?.capabilities ?? {};
      if (declared.tools !== undefined) all.tools = changes;
      if (declared.prompts !== undefined) all.prompts = changes;
      if (declared.completions !== undefined) all.completions = {};
      if (declared.logging !== undefined) logs = logging !== false;
      if (declared.resources === undefined) continue;
      const subscribes = declared.resources.subscribe === true && subscribe !== false;
      all.resources = { ...changes, subscribe: all.resources?.subscribe === true || subscribes };
    }
    // Every server declares it by default; this one has nothing to log unless it is said.
    return logs ? all : { ...all, ...({ logging: undefined } as object) };
  }

  /** The instructions of all servers, each under its name where there are several. */
  instructions(): string | undefined {
    const { catalogue } = this.#host;
    const given = [...catalogue.servers()].flatMap((server) => {
      const text = catalogue.of(server).about?.instructions;
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
    const end = this.#host.onChanged((lists) => this.#changed(lists));
    return () => {
      this.#listeners.delete(listener);
      end();
    };
  }

  #changed(lists: readonly OfferCapability[]): void {
    for (const listener of this.#listeners) listener(lists.flatMap(kindsOf));
  }

  watchOf(uri: string): Watch | undefined {
    const owner = this.#host.catalogue.ownerOf(uri);
    const target = owner && this.#host.find(owner.server);
    if (target === undefined) return undefined;
    let watch = this.#watches.get(target);
    if (watch === undefined) {
      watch = (outer, updated) => {
        const inner = this.#host.catalogue.ownerOf(outer)?.inner;
        return inner === undefined ? undefined : target.watch(inner, () => updated());
      };
      this.#watches.set(target, watch);
    }
    return watch;
  }

  get connects(): boolean {
    return this.#host.isolated.length > 0;
  }

  list(kind: OfferKind, call: ServerCall): MaybePromise<OfferList> {
    const { isolated } = this.#host;
    return isolated.length === 0 ? this.#sharedList(kind) : this.#liveList(kind, isolated, call);
  }

  /** The entries of all servers; the same list until one of them changes. */
  #sharedList(kind: OfferKind): OfferList {
    const entries = this.#host.catalogue.all(kind);
    const cache = this.#hintOf(kind);
    const known = this.#lists.get(kind);
    if (known?.entries === entries && sameHint(known.list.cache, cache)) return known.list;
    const list = { items: kind === "tools" ? withoutTasks(entries as readonly Tool[]) : entries, cache };
    this.#lists.set(kind, { entries, list });
    return list;
  }

  /** The entries as the caller sees them. */
  async #liveList(kind: OfferKind, isolated: readonly RemoteServer[], call: ServerCall): Promise<OfferList> {
    const { catalogue } = this.#host;
    const names = new Set(isolated.map(({ name }) => name));
    const { items, cache } = this.#sharedList(kind);
    const { key } = OFFER_KINDS[kind];
    const shared = items.filter((item) => {
      const outer = String((item as unknown as Record<string, unknown>)[key]);
      return !names.has(catalogue.find(kind, outer)?.server ?? "");
    });
    const views = await Promise.all(isolated.map((server) => this.#viewOf(server, call))).finally(() =>
      leaveUnknown(call, isolated),
    );
    const own = views.flatMap((view): readonly OfferItems[OfferKind][] => view.catalogue.all(kind));
    return { items: [...shared, ...own], cache: { ...(cache ?? this.#hints[kind]), scope: "private" } };
  }

  /** How long a list may be cached: as the narrowest of its parts. */
  #hintOf(kind: OfferKind): CacheHint {
    const { cache } = this.#options;
    const { catalogue } = this.#host;
    const isSet = cache?.ttlMs !== undefined || cache?.[kind]?.ttlMs !== undefined;
    const own = this.#hints[kind];
    const parts: CacheHint[] = isSet ? [own] : [];
    for (const server of catalogue.servers()) {
      const { about, hints } = catalogue.of(server);
      if (about?.capabilities[OFFER_KINDS[kind].capability] !== undefined) parts.push(hints?.[kind] ?? own);
    }
    return narrowest(parts) ?? own;
  }

  find(kind: OfferKind, name: string, call: ServerCall): MaybePromise<FoundOffer | undefined> {
    const { isolated } = this.#host;
    if (isolated.length > 0) return this.#findLive(kind, name, isolated, call);
    return this.#findIn(this.#host.catalogue, kind, name);
  }

  /** The offer as its caller sees the servers. */
  async #findLive(
    kind: OfferKind,
    name: string,
    isolated: readonly RemoteServer[],
    call: ServerCall,
  ): Promise<FoundOffer | undefined> {
    const { catalogue } = this.#host;
    const owner = (kind === "resources" ? catalogue.ownerOf(name) : catalogue.find(kind, name))?.server;
    if (owner !== undefined && !isolated.some((server) => server.name === owner)) {
      return this.#findIn(catalogue, kind, name);
    }
    let target: RemoteServer | undefined;
    const answered = leaveWhenAnswered(call, isolated);
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
      leaveUnknown(
        call,
        isolated.filter((server) => server !== target || answered()),
      );
    }
  }

  /** The offer in a catalogue: that of the host, or one that a client has for itself, with the tools that are shown to it. */
  #findIn(catalogue: HostCatalogue, kind: OfferKind, name: string, shown?: ShownTools): RemoteOffer | undefined {
    const listed = catalogue.find(kind, name);
    const known = listed && this.#offers.get(listed);
    if (known !== undefined && known.about === listed?.owner.lists.about) return known;
    const found = listed ?? (kind === "resources" ? catalogue.ownerOf(name) : undefined);
    const target = found && this.#host.find(found.server);
    if (found === undefined || target === undefined) return undefined;
    const offer = new RemoteOffer(kind, name, found, [target.remote, shown ?? target], this);
    if (listed !== undefined) this.#offers.set(listed, offer);
    return offer;
  }

  /** Calls a tool by the name that clients see. */
  callByName(name: string, args: Record<string, unknown> | undefined, call: ServerCall): Promise<object> {
    const offer = this.#findIn(this.#host.catalogue, "tools", name);
    if (offer === undefined) throw new McpError("invalid_params", `unknown tool: ${name}`);
    return offer.callTool(args, call);
  }

  async #viewOf(server: RemoteServer, call: ServerCall): Promise<OfferView> {
    try {
      return await this.#views.of(server, call);
    } catch (error) {
      // It always throws: only errors of the caller's own request have results that stand for them.
      throw passedError(error, call, { server: server.name, names: undefined, connected: false });
    }
  }

  parkedCalls({ config }: ServerCall): ParkedCalls {
    this.#parked ??= new ParkedCalls(config.platform, config.limits.answerMs, () => config.randomId());
    return this.#parked;
  }

  untilGone(peer: Peer | undefined, server: RemoteServer): void {
    if (peer?.onEnded === undefined) return;
    const known = this.#isolated.get(peer) ?? new Set();
    this.#isolated.set(peer, known);
    if (known.has(server)) return;
    known.add(server);
    peer.onEnded(() => server.left(peer));
  }

  close(): void {
    this.#parked?.close();
  }
}

/** The entries for the list: what they say of tasks is for extensions of this server to say. */
function withoutTasks(tools: readonly Tool[]): readonly Tool[] {
  return tools.map(({ execution: _tasks, ...tool }) => tool);
}

function sameHint(one: CacheHint | undefined, other: CacheHint): boolean {
  return one?.ttlMs === other.ttlMs && one.scope === other.scope;
}

/** Closes the connections of a caller that is not known by the next request. */
function leaveUnknown(call: ServerCall, servers: readonly RemoteServer[]): void {
  if (callerOf(call) === call.root) for (const server of servers) server.left(call.root);
}

/**
 * Closes the idle connections of such a caller when its call is answered, because a call that is refused after its offer was found
 * does not use them. Returns whether it has been answered.
 */
function leaveWhenAnswered(call: ServerCall, servers: readonly RemoteServer[]): () => boolean {
  let isAnswered = false;
  if (callerOf(call) === call.root) {
    call.root.whenAnswered(() => {
      isAnswered = true;
      for (const server of servers) server.left(call.root, "idle");
    });
  }
  return () => isAnswered;
}
