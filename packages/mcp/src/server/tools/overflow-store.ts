import { randomName } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { TextResourceContents } from "../../protocol/features/content.js";

const SCHEME = "parley-result:";

/** Bounds of what is kept; the oldest goes first. */
const MOST_ENTRIES = 256;
const MOST_CHARACTERS = 64 * 1024 * 1024;
const KEPT_MS = 600_000;

interface Entry {
  readonly contents: TextResourceContents;
  /** The principal whose call produced it; no one else may read it. */
  readonly owner: string | undefined;
  readonly until: number;
}

/** True for addresses that only such a store gives. */
export function isOverflowUri(uri: string): boolean {
  return uri.startsWith(SCHEME);
}

/** Keeps results that are too large for their answer for a while, readable only by their caller. */
export class OverflowStore {
  readonly #platform: Platform;
  readonly #entries = new Map<string, Entry>();
  #characters = 0;
  /** True when a tool may put something here: then the server has something to read. */
  inUse = false;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Keeps a text and returns its unguessable URI; undefined if it is larger than the whole store. */
  keep(text: string, mimeType: string, owner: string | undefined): string | undefined {
    if (text.length > MOST_CHARACTERS) return undefined;
    this.#expire();
    const uri = `${SCHEME}///${randomName(this.#platform, 24)}`;
    this.#entries.set(uri, { contents: { uri, mimeType, text }, owner, until: this.#platform.now() + KEPT_MS });
    this.#characters += text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MOST_ENTRIES && this.#characters <= MOST_CHARACTERS) break;
      this.#drop(oldest);
    }
    return uri;
  }

  read(uri: string, owner: string | undefined): TextResourceContents | undefined {
    this.#expire();
    const entry = this.#entries.get(uri);
    return entry === undefined || entry.owner !== owner ? undefined : entry.contents;
  }

  /** Entries are in the order of their age. */
  #expire(): void {
    const now = this.#platform.now();
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
