import { isObject, type Params } from "../../jsonrpc/message.js";
import { changedKinds, OFFER_KINDS } from "../../protocol/features/offer-kinds.js";

const MAX_ENTRIES = 500;
const MAX_SIZE = 8 * 1024 * 1024;
/** A day: whatever a server says, nothing is believed for longer. */
const LONGEST_HINT_MS = 86_400_000;

/** How results are kept. */
export interface CacheSettings {
  /**
   * How long lists and reads are kept where the server gives no time of its own, in every revision. Choose it for servers that
   * announce changes, or whose changes may be seen late. Default 0: only what the server allows is kept.
   */
  ttlMs?: number | undefined;
  /** Results that are kept at most. Default 500. */
  entries?: number | undefined;
  /** Characters of all kept results together. Default 8 Mi. */
  size?: number | undefined;
  /** A cache that several clients share. Default: one of the client's own. */
  store?: ResponseCache | undefined;
  /** Whose results these are: clients with the same word share private results. Default: a word of its own. */
  context?: string | undefined;
}

interface Entry {
  method: string;
  origin: string;
  uri: string | undefined;
  /** Kept as text: no caller can change what others get, and its length is its cost. */
  text: string;
  expires: number;
}

/**
 * Results of one client or of several, bounded by count and size; the one that was used longest ago goes first. Share one by
 * `cache: { store }`: what is private stays with clients of the same `context`.
 */
export class ResponseCache {
  readonly #entries = new Map<string, Entry>();
  readonly #maxEntries: number;
  readonly #maxSize: number;
  #size = 0;
  #contexts = 0;

  constructor({ entries = MAX_ENTRIES, size = MAX_SIZE }: Pick<CacheSettings, "entries" | "size"> = {}) {
    this.#maxEntries = entries;
    this.#maxSize = size;
  }

  /** How many results are kept, fresh or not. */
  get count(): number {
    return this.#entries.size;
  }

  /** A name that no other client of this cache has. */
  newContext(): string {
    this.#contexts++;
    return `client ${this.#contexts}`;
  }

  get(key: string, now: number): string | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#remove(key, entry);
    if (entry.expires <= now) return undefined;
    this.#add(key, entry);
    return entry.text;
  }

  set(key: string, entry: Entry): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#remove(key, before);
    if (entry.text.length > this.#maxSize) return;
    this.#add(key, entry);
    for (const [oldest, old] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries && this.#size <= this.#maxSize) break;
      this.#remove(oldest, old);
    }
  }

  /** Removes what `matches`. */
  drop(matches: (entry: Readonly<Entry>) => boolean): void {
    for (const [key, entry] of this.#entries) if (matches(entry)) this.#remove(key, entry);
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#size += entry.text.length;
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#size -= entry.text.length;
  }
}

/** The cache as one client sees it: which results it may keep, for how long and for whom. */
export class CachedCalls {
  readonly #store: ResponseCache;
  readonly #origin: string;
  readonly #context: string;
  readonly #shared: boolean;
  /** How long the application keeps what the server gives no time for. */
  readonly #ttlMs: number;
  /** Grows with every change, so that an answer from before it is not kept after it. */
  generation = 0;

  /** `origin` names the server; without it nothing is shared with other clients. */
  constructor(origin: string | undefined, settings: CacheSettings) {
    this.#store = settings.store ?? new ResponseCache(settings);
    const own = this.#store.newContext();
    this.#origin = origin ?? own;
    this.#context = settings.context ?? own;
    this.#shared = origin !== undefined;
    this.#ttlMs = settings.ttlMs ?? 0;
  }

  /** The kept result, as a fresh copy. */
  find(method: string, params: Params | undefined, now: number): Record<string, unknown> | undefined {
    if (!isPlain(params)) return undefined;
    const text =
      this.#store.get(this.#key("private", method, params), now) ??
      this.#store.get(this.#key("public", method, params), now);
    // Only objects are kept.
    return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>);
  }

  /**
   * Keeps a result as its own hints allow, or as the application chose where they allow nothing. `hinted`: the revision has them.
   *
   * Spec: Caching, "Cache Scope Field", https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cache-scope-field
   */
  keep(method: string, params: Params | undefined, result: Record<string, unknown>, now: number, hinted = true): void {
    const { ttlMs: hint, cacheScope } = hinted ? result : {};
    const allowed = typeof hint === "number" && hint > 0;
    const ttlMs = allowed ? Math.min(hint, LONGEST_HINT_MS) : this.#ttlMs;
    if (!(ttlMs > 0) || !isPlain(params)) return;
    const scope = allowed && cacheScope === "public" && this.#shared ? "public" : "private";
    const uri = params?.["uri"];
    this.#store.set(this.#key(scope, method, params), {
      method,
      origin: this.#origin,
      uri: typeof uri === "string" ? uri : undefined,
      text: JSON.stringify(result),
      expires: now + ttlMs,
    });
  }

  /**
   * Forgets what a notification of the server makes stale.
   *
   * Spec: Caching, "Interaction with Notifications",
   * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#interaction-with-notifications
   */
  changed(notification: string, params: Params | undefined): void {
    const lists = changedKinds(notification).map((kind): string => OFFER_KINDS[kind].list);
    if (lists.length > 0) this.#drop((entry) => lists.includes(entry.method));
    if (notification !== "notifications/resources/updated") return;
    const uri = params?.["uri"];
    // What changed may be a part of what was read.
    if (typeof uri === "string") this.#drop((entry) => entry.uri !== undefined && isPartOf(uri, entry.uri));
  }

  /** Forgets all pages of a list, or everything of this server. */
  forget(method?: string): void {
    this.#drop((entry) => method === undefined || entry.method === method);
  }

  #drop(matches: (entry: Readonly<Entry>) => boolean): void {
    this.generation++;
    this.#store.drop((entry) => entry.origin === this.#origin && matches(entry));
  }

  #key(scope: "public" | "private", method: string, params: Params | undefined): string {
    const whose = scope === "public" ? [] : [this.#context];
    const members = Object.entries(params ?? {})
      .filter(([name]) => name !== "_meta")
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify([this.#origin, method, members, ...whose]);
  }
}

/** Requests that carry answers are never served from a cache, and never fill it. */
function isPlain(params: Params | undefined): boolean {
  return !isObject(params) || (params["inputResponses"] === undefined && params["requestState"] === undefined);
}

/** True when `uri` is `whole` or lies within it. */
export function isPartOf(uri: string, whole: string): boolean {
  if (!uri.startsWith(whole)) return false;
  return uri.length === whole.length || whole.endsWith("/") || "/#?".includes(uri.charAt(whole.length));
}
