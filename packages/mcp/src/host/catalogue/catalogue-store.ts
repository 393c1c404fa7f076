import { thrownMessage } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ServerLists } from "./server-lists.js";

/** Keeps a text between two runs of a program; `catalogueFile` of `@parley/mcp/node` keeps it in a file. */
export interface CatalogueStore {
  /** The text that was saved last; undefined if there is none. */
  load(): string | undefined | Promise<string | undefined>;
  save(text: string): void | Promise<void>;
}

/** The longest text that is read or written. */
const MAX_LENGTH = 32 * 1024 * 1024;
/** How long changes are collected before they are saved. */
const SAVE_AFTER_MS = 1000;
const VERSION = 1;

interface SavedServer {
  /** Tells what the server was then: lists of another command or address are not its own. */
  readonly key: string;
  readonly lists: ServerLists;
}

/** What servers listed in earlier runs. */
export class SavedCatalogue {
  readonly #store: CatalogueStore;
  readonly #platform: Platform;
  #servers: Record<string, SavedServer> = Object.create(null) as Record<string, SavedServer>;
  #saving: Promise<void> | undefined;
  #changed = false;

  constructor(store: CatalogueStore, platform: Platform) {
    this.#store = store;
    this.#platform = platform;
  }

  /** Reads what was saved. What cannot be read is reported and counts as nothing. */
  async load(): Promise<void> {
    try {
      const text = await this.#store.load();
      if (text === undefined || text.length > MAX_LENGTH) return;
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

  /** What the server listed last, if it is still the same. */
  of(name: string, key: string): ServerLists | undefined {
    const saved = this.#servers[name];
    return saved?.key === key ? saved.lists : undefined;
  }

  /** Notes what a server lists now; written a moment later. */
  set(name: string, key: string, lists: ServerLists): void {
    this.#servers[name] = { key, lists };
    this.#changed = true;
    this.#saving ??= new Promise<void>((resolve) => void this.#platform.timer(SAVE_AFTER_MS, resolve)).then(() =>
      this.flush(),
    );
  }

  /** Forgets a server. */
  delete(name: string): void {
    delete this.#servers[name];
    this.#changed = true;
  }

  /** Writes what has changed. */
  async flush(): Promise<void> {
    this.#saving = undefined;
    if (!this.#changed) return;
    this.#changed = false;
    try {
      const text = JSON.stringify({ version: VERSION, servers: this.#servers });
      if (text.length <= MAX_LENGTH) await this.#store.save(text);
    } catch (error) {
      this.#platform.warn(`\`save\` of the catalogue failed: ${thrownMessage(error)}`);
    }
  }
}

/** Tells servers apart without keeping their arguments, which may be secrets. */
export function serverKey(platform: Pick<Platform, "sha256">, facts: unknown): string {
  const digest = platform.sha256(new TextEncoder().encode(JSON.stringify(facts) ?? ""));
  return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isLists(value: unknown): boolean {
  const keyed = { tools: "name", prompts: "name", resources: "uri", resourceTemplates: "uriTemplate" };
  if (!isObject(value)) return false;
  return Object.entries(keyed).every(([list, key]) => {
    const items = value[list];
    return Array.isArray(items) && items.every((item) => isObject(item) && typeof item[key] === "string");
  });
}
