import { ALL_OFFER_KINDS, OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import { type OfferNames, outerItem, prefixedUri, splitUri } from "../../server/sources/offer-names.js";
import { checkedLength, type OuterNameOptions, outerName, uriPrefix } from "./outer-names.js";
import { joinedLists, NO_LISTS, type ServerLists } from "./server-lists.js";
import { linkMatcher, WEB_ADDRESS } from "./template-matches.js";

type Item<K extends OfferKind> = ServerLists[K][number];

/** An offer under the name that clients of a host see, with its server and the name that the server uses. */
export interface HostOffer<K extends OfferKind = OfferKind> {
  /** The name of the server. */
  readonly server: string;
  /** The name, URI or template that the server uses. */
  readonly inner: string;
  readonly owner: ListedServer;
  /** The entry that clients see. */
  readonly item: Item<K>;
}

/**
 * Maximum number of items of one kind, over all servers. Further items are left out, so that endless lists cannot use
 * up the memory.
 */
const MAX_ITEMS = 100_000;

/** A server in a catalogue. */
export interface ListedServer {
  /** Maps the server's names to those that clients see. */
  readonly names: OfferNames;
  /** The prefix of the server's URIs; undefined if they have none. */
  readonly uris: string | undefined;
  lists: ServerLists;
}

/**
 * The combined lists of all servers of a host. The names that clients see depend only on the names of the server and
 * the offer, not on the order of the servers or on restarts.
 */
export class HostCatalogue {
  readonly #options: OuterNameOptions;
  readonly #members = new Map<string, ListedServer>();
  readonly #offered = new Map<OfferKind, Map<string, HostOffer>>();
  readonly #lists = new Map<OfferKind, readonly object[]>();

  constructor(options: OuterNameOptions = {}) {
    checkedLength(options);
    this.#options = options;
  }

  /** Adds a server. `prefix` replaces the server's name in the names of its offers; `false` leaves them unchanged. */
  add(server: string, prefix: string | false = server): void {
    const uris = prefix === false ? undefined : uriPrefix(prefix);
    const names: OfferNames = {
      name: (inner) => (prefix === false ? inner : outerName(prefix, inner, this.#options)),
      uri: (inner) => (uris === undefined ? inner : prefixedUri(uris, inner)),
      serving: () => {
        // The matcher is created on first use, because most results have no link.
        let matches: ReturnType<typeof linkMatcher> | undefined;
        const isListed = (inner: string) => {
          matches ??= linkMatcher();
          return matches(this.listsOf(server).resourceTemplates, inner);
        };
        return (inner) => !WEB_ADDRESS.test(inner) || this.#hasResource(server, inner) || isListed(inner);
      },
    };
    this.#members.set(server, { names, uris, lists: NO_LISTS });
  }

  /** Creates a catalogue of only one server, with the same names and empty lists. */
  alone(server: string): HostCatalogue {
    const copy = new HostCatalogue(this.#options);
    const member = this.#members.get(server);
    if (member !== undefined) copy.#members.set(server, { ...member, lists: NO_LISTS });
    return copy;
  }

  /** The names of all servers. */
  servers(): Iterable<string> {
    return this.#members.keys();
  }

  remove(server: string): void {
    this.#members.delete(server);
    this.#forget(ALL_OFFER_KINDS);
  }

  /** Replaces the given lists of a server. Its other lists stay unchanged. */
  set(server: string, lists: Partial<ServerLists>): void {
    const member = this.#members.get(server);
    if (member === undefined) return;
    member.lists = joinedLists(member.lists, lists);
    this.#forget(ALL_OFFER_KINDS.filter((kind) => lists[kind] !== undefined));
  }

  /** The last lists of a server. Empty for an unknown server. */
  listsOf(server: string): ServerLists {
    return this.#members.get(server)?.lists ?? NO_LISTS;
  }

  /** The mapping from names of a server to those that clients see. */
  names(server: string): OfferNames | undefined {
    return this.#members.get(server)?.names;
  }

  /** All items of one kind. Returns the same array until one of the servers changes. */
  all<K extends OfferKind>(kind: K): readonly Item<K>[] {
    let list = this.#lists.get(kind);
    if (list === undefined) {
      list = [...this.#index(kind).values()].map(({ item }) => item);
      this.#lists.set(kind, list);
    }
    // Safe: the items of each kind come from lists of that kind.
    return list as readonly Item<K>[];
  }

  /** Finds an offer by the name, URI or template that clients see. */
  find<K extends OfferKind>(kind: K, outer: string): HostOffer<K> | undefined {
    return this.#index(kind).get(outer) as HostOffer<K> | undefined;
  }

  /** Finds the server of a URI, and the URI that this server uses. The server need not have listed the URI. */
  ownerOf(uri: string): Omit<HostOffer, "item"> | undefined {
    const known = this.find("resources", uri);
    if (known !== undefined) return known;
    const split = splitUri(uri);
    let unnamed: Omit<HostOffer, "item"> | undefined;
    for (const [server, owner] of this.#members) {
      const { uris, lists } = owner;
      if (split !== undefined && uris === split.prefix) return { server, inner: split.inner, owner };
      const has = lists.resources.length > 0 || lists.resourceTemplates.length > 0;
      if (uris === undefined && (unnamed === undefined || has)) unnamed = { server, inner: uri, owner };
    }
    return unnamed;
  }

  /** True if a server lists a URI as a resource. `inner` is the URI that the server uses. */
  #hasResource(server: string, inner: string): boolean {
    const outer = this.names(server)?.uri(inner);
    return outer !== undefined && this.find("resources", outer)?.server === server;
  }

  #index(kind: OfferKind): Map<string, HostOffer> {
    let index = this.#offered.get(kind);
    if (index !== undefined) return index;
    index = new Map<string, HostOffer>();
    const idOf = OFFER_KINDS[kind].key;
    for (const [server, member] of this.#members) {
      const { names, uris, lists } = member;
      for (const item of lists[kind]) {
        if (index.size >= MAX_ITEMS) break;
        const listed = item as unknown as Record<string, unknown>;
        // The name of a resource is only for display and stays unchanged. Its URI identifies it.
        const { name } = listed;
        const renamed = outerItem(names, listed);
        const outer = idOf === "name" ? renamed : { ...renamed, name };
        const key = outer[idOf] as string;
        const inner = (item as unknown as Record<string, string>)[idOf] ?? key;
        // If two offers have the same outer name, the offer of the first server is used. But a server with a prefix
        // wins over a server without one.
        const owner = index.get(key)?.owner;
        const isFree = owner === undefined || (uris !== undefined && owner.uris === undefined);
        if (isFree) index.set(key, { server, inner, owner: member, item: outer as unknown as Item<OfferKind> });
      }
    }
    this.#offered.set(kind, index);
    return index;
  }

  #forget(kinds: readonly OfferKind[]): void {
    for (const kind of kinds) {
      this.#offered.delete(kind);
      this.#lists.delete(kind);
    }
  }
}
