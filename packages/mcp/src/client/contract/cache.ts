import { isObject, type Params } from "../../jsonrpc/message.js";
import { changedKinds, OFFER_KINDS } from "../../protocol/features/offer-kinds.js";

const MAX_ENTRIES = 500;
const MAX_SIZE = 8 * 1024 * 1024;
/** One day, the longest time for which a result is cached, even if the server allows more. */
const MAX_TTL_MS = 86_400_000;

/** Settings of the result cache. */
export interface CacheSettings {
  /**
   * Time in milliseconds to cache lists and reads for which the server states no time, in every revision. Set it for
   * servers that announce changes, or if it does not matter that changes are noticed late. Default: 0, so only results
   * for which the server states a time are cached.
   */
  ttlMs?: number | undefined;
  /** Maximum number of cached results. Default: 500. */
  entries?: number | undefined;
  /** Maximum total length of all cached results, in characters. Default: 8,388,608. */
  size?: number | undefined;
  /** A cache to share with other clients. Default: a separate one. */
  store?: ResponseCache | undefined;
  /** The owner of the results: clients with the same value share private results. Default: a unique value. */
  context?: string | undefined;
}

interface Entry {
  method: string;
  origin: string;
  uri: string | undefined;
  /**
   * Stored as text, so that no caller can change the results of other callers. The length of the text counts toward
   * `size`.
   */
  text: string;
  expires: number;
}

/**
 * A cache of results for one or more clients, limited by count and size. Evicts the least recently used result first.
 * Share it with `cache: { store }`. Only clients with the same `context` share private results.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/clients.md | Clients}
 */
export class ResponseCache {
  readonly #entries = new Map<string, Entry>();
  readonly #maxEntries: number;
  readonly #maxSize: number;
  #size = 0;
  #contexts = 0;

  /**
   * Creates an empty cache. `entries` is the maximum number of results, `size` their maximum total length in
   * characters.
   */
  constructor({ entries = MAX_ENTRIES, size = MAX_SIZE }: Pick<CacheSettings, "entries" | "size"> = {}) {
    this.#maxEntries = entries;
    this.#maxSize = size;
  }

  /** The number of stored results, including expired ones. */
  get count(): number {
    return this.#entries.size;
  }

  /** Returns a context that no other client of this cache has. */
  newContext(): string {
    this.#contexts++;
    return `client ${this.#contexts}`;
  }

  /** Returns the text of a stored result. Undefined if there is none or it has expired. */
  get(key: string, now: number): string | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#remove(key, entry);
    if (entry.expires <= now) return undefined;
    this.#add(key, entry);
    return entry.text;
  }

  /**
   * Stores a result and evicts the least recently used ones beyond the limits. Ignores a result larger than the cache.
   */
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

  /** Removes all results that match. */
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

/** The cache of one client. Decides which results to store, for how long and for whom. */
export class CachedCalls {
  readonly #store: ResponseCache;
  readonly #origin: string;
  readonly #context: string;
  readonly #shared: boolean;
  /** Time to cache results for which the server states no time. */
  readonly #ttlMs: number;
  /** Incremented with every change, so that an answer from before the change is not cached after it. */
  generation = 0;

  /** `origin` identifies the server. Without it no result is shared with other clients. */
  constructor(origin: string | undefined, settings: CacheSettings) {
    this.#store = settings.store ?? new ResponseCache(settings);
    const own = this.#store.newContext();
    this.#origin = origin ?? own;
    this.#context = settings.context ?? own;
    this.#shared = origin !== undefined;
    this.#ttlMs = settings.ttlMs ?? 0;
  }

  /** Returns a new copy of the cached result, if any. */
  find(method: string, params: Params | undefined, now: number): Record<string, unknown> | undefined {
    if (!isPlain(params)) return undefined;
    const text =
      this.#store.get(this.#key("private", method, params), now) ??
      this.#store.get(this.#key("public", method, params), now);
    // Safe: only objects are stored.
    return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>);
  }

  /**
   * Stores a result for the time in its hints, or for the application's `ttlMs` if it has none. `hinted` is true if the
   * revision has such hints.
   *
   * Spec: Caching, "Cache Scope Field", https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cache-scope-field
   */
  save(method: string, params: Params | undefined, result: Record<string, unknown>, now: number, hinted = true): void {
    const { ttlMs: hint, cacheScope } = hinted ? result : {};
    const allowed = typeof hint === "number" && hint > 0;
    const ttlMs = allowed ? Math.min(hint, MAX_TTL_MS) : this.#ttlMs;
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
   * Evicts results that a notification of the server makes stale.
   *
   * Spec: Caching, "Interaction with Notifications",
   * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#interaction-with-notifications
   */
  changed(notification: string, params: Params | undefined): void {
    const lists = changedKinds(notification).map((kind): string => OFFER_KINDS[kind].list);
    if (lists.length > 0) this.#drop((entry) => lists.includes(entry.method));
    if (notification !== "notifications/resources/updated") return;
    const uri = params?.["uri"];
    // The changed resource may be a part of the cached one.
    if (typeof uri === "string") this.#drop((entry) => entry.uri !== undefined && isPartOf(uri, entry.uri));
  }

  /** Evicts the results of one method, such as all pages of a list, or all results of this server. */
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

/**
 * Returns false for requests that carry answers to questions. They are never answered from the cache and never stored.
 */
function isPlain(params: Params | undefined): boolean {
  return !isObject(params) || (params["inputResponses"] === undefined && params["requestState"] === undefined);
}

/** True if `uri` equals `whole` or lies within it. */
export function isPartOf(uri: string, whole: string): boolean {
  if (!uri.startsWith(whole)) return false;
  return uri.length === whole.length || whole.endsWith("/") || "/#?".includes(uri.charAt(whole.length));
}
