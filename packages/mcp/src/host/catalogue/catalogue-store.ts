import { thrownMessage } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { ALL_OFFER_KINDS, OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import type { ServerLists } from "./server-lists.js";

/** Stores a text between two runs of a program. `catalogueFile` of `@parley/mcp/node` stores it in a file. */
export interface CatalogueStore {
  /** Returns the text that was saved last; undefined if there is none. */
  load(): string | undefined | Promise<string | undefined>;
  /**
   * Replaces the saved text. Called at most once per second, and with at most 32 Mi characters. An error becomes a
   * warning.
   */
  save(text: string): void | Promise<void>;
}

/**
 * Maximum length of the saved text, in characters. A longer text is neither loaded nor saved, and causes a warning.
 */
const MAX_LENGTH = 32 * 1024 * 1024;
/**
 * Milliseconds between a call to `set` and the save. Further changes in this time are saved together with the first.
 */
const SAVE_AFTER_MS = 1000;
/** Milliseconds after which a `save` counts as failed. */
const SAVE_MS = 5000;
const VERSION = 1;

interface SavedServer {
  /**
   * Digest of the server's command or address when the lists were saved. If the digest differs now, the lists belong to
   * another server.
   */
  readonly key: string;
  readonly lists: ServerLists;
}

/** The lists of servers from earlier runs. */
export class SavedCatalogue {
  readonly #store: CatalogueStore;
  readonly #platform: Platform;
  #servers: Record<string, SavedServer> = Object.create(null) as Record<string, SavedServer>;
  #timer: Timer | undefined;
  #saving: Promise<void> = Promise.resolve();
  #changed = false;

  constructor(store: CatalogueStore, platform: Platform) {
    this.#store = store;
    this.#platform = platform;
  }

  /**
   * Loads the saved lists. Reports an error, or a load that takes longer than `ms`, as a warning and continues without
   * lists.
   */
  async load(ms: number): Promise<void> {
    try {
      const text = await this.#within(ms, async () => this.#store.load());
      if (text === undefined) return;
      checkLength(text);
      const saved: unknown = JSON.parse(text);
      if (!isObject(saved) || saved["version"] !== VERSION || !isObject(saved["servers"])) return;
      for (const [name, server] of Object.entries(saved["servers"])) {
        const usable = isObject(server) && typeof server["key"] === "string" && isLists(server["lists"]);
        if (usable) this.#servers[name] = server as unknown as SavedServer;
      }
    } catch (error) {
      this.#platform.warn(`\`load\` of the catalogue failed: ${thrownMessage(error)}`);
    }
  }

  /** The saved lists of a server; undefined if its command or address has changed since the lists were saved. */
  get(name: string, key: string): ServerLists | undefined {
    const saved = this.#servers[name];
    return saved?.key === key ? saved.lists : undefined;
  }

  /** Sets the current lists of a server, and saves them after `SAVE_AFTER_MS`. */
  set(name: string, key: string, lists: ServerLists): void {
    this.#servers[name] = { key, lists };
    this.#changed = true;
    this.#timer ??= this.#platform.timer(SAVE_AFTER_MS, () => void this.flush());
  }

  /** Removes a server. The removal is saved with the next call to `set` or `flush`. */
  delete(name: string): void {
    delete this.#servers[name];
    this.#changed = true;
  }

  /** Saves pending changes after the save in progress, if any, has ended. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  async #save(): Promise<void> {
    if (!this.#changed) return;
    this.#changed = false;
    try {
      const text = JSON.stringify({ version: VERSION, servers: this.#servers });
      checkLength(text);
      await this.#within(SAVE_MS, async () => this.#store.save(text));
    } catch (error) {
      this.#platform.warn(`\`save\` of the catalogue failed: ${thrownMessage(error)}`);
    }
  }

  /** Runs an operation of the store with a timeout, so that neither the start nor the end of a host can hang. */
  #within<T>(ms: number, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = this.#platform.timer(ms, () => reject(new Error(`it took more than ${ms} ms`)), true);
      void work()
        .then(resolve, reject)
        .finally(() => timer.cancel());
    });
  }
}

function checkLength({ length }: string): void {
  if (length > MAX_LENGTH) throw new Error(`it has ${length} characters, more than ${MAX_LENGTH} (MAX_LENGTH)`);
}

/** A digest that identifies a server without storing its arguments, which may be secrets. */
export function serverKey(platform: Pick<Platform, "sha256">, identity: unknown): string {
  const digest = platform.sha256(new TextEncoder().encode(JSON.stringify(identity) ?? ""));
  return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isLists(value: unknown): boolean {
  if (!isObject(value)) return false;
  return ALL_OFFER_KINDS.every((kind) => {
    const items = value[kind];
    return Array.isArray(items) && items.every((item) => isItem(item, kind));
  });
}

/** True if the members of a saved item that the host uses without a further check are valid. */
function isItem(item: unknown, kind: OfferKind): boolean {
  if (!isObject(item) || typeof item[OFFER_KINDS[kind].key] !== "string") return false;
  return kind !== "tools" || isObject(item["inputSchema"]);
}
