import { randomName } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { TextResourceContents } from "../../protocol/features/content.js";

const SCHEME = "parley-result:";

/**
 * Maximum number of entries, and maximum total length of all entries in characters. Beyond either limit, the oldest
 * entries are evicted.
 */
const MAX_ENTRIES = 256;
const MAX_CHARACTERS = 64 * 1024 * 1024;
const TTL_MS = 600_000;

interface Entry {
  readonly contents: TextResourceContents;
  /** The principal whose call produced the result. Undefined for a call without a principal. */
  readonly owner: string | undefined;
  readonly until: number;
}

/**
 * Stores results that are too large for their response. They expire after ten minutes. Only the principal that called
 * the tool can read them. Results of calls without a principal are protected only by their unguessable URI.
 */
export class OverflowStore {
  readonly #platform: Platform;
  readonly #entries = new Map<string, Entry>();
  #characters = 0;
  /** True if a tool may store results here. The server then declares `resources`. */
  inUse = false;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Stores a text and returns its unguessable URI. Returns undefined if the text is larger than the whole store. */
  store(text: string, mimeType: string, owner: string | undefined): string | undefined {
    if (text.length > MAX_CHARACTERS) return undefined;
    this.#expire();
    const uri = `${SCHEME}///${randomName(this.#platform, 24)}`;
    this.#entries.set(uri, { contents: { uri, mimeType, text }, owner, until: this.#platform.monotonic() + TTL_MS });
    this.#characters += text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#characters <= MAX_CHARACTERS) break;
      this.#drop(oldest);
    }
    return uri;
  }

  read(uri: string, owner: string | undefined): TextResourceContents | undefined {
    this.#expire();
    const entry = this.#entries.get(uri);
    return entry === undefined || entry.owner !== owner ? undefined : entry.contents;
  }

  /** Drops expired entries. Stops at the first valid one, because entries are ordered by age. */
  #expire(): void {
    const now = this.#platform.monotonic();
    for (const [uri, { until }] of this.#entries) {
      if (until > now) return;
      this.#drop(uri);
    }
  }

  #drop(uri: string): void {
    const entry = this.#entries.get(uri);
    this.#entries.delete(uri);
    this.#characters -= entry?.contents.text.length ?? 0;
  }
}
