import { randomName } from "../../encoding/base64.js";
import type { Platform } from "../../platform/platform.js";
import type { TextResourceContents } from "../../protocol/features/content.js";

const SCHEME = "parley-result:";

/** Bounds of the store; when one is reached, the oldest entry is dropped. */
const MOST_ENTRIES = 256;
const MOST_CHARACTERS = 64 * 1024 * 1024;
const KEPT_MS = 600_000;

interface Entry {
  readonly contents: TextResourceContents;
  /** The principal whose call produced the result; no other caller may read it. */
  readonly owner: string | undefined;
  readonly until: number;
}

/** Keeps results that are too large for their response for ten minutes, readable only by their caller. */
export class OverflowStore {
  readonly #platform: Platform;
  readonly #entries = new Map<string, Entry>();
  #characters = 0;
  /** True when a tool may store results here; the server then declares `resources`. */
  inUse = false;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Stores a text and returns its unguessable URI; undefined if the text is larger than the whole store. */
  keep(text: string, mimeType: string, owner: string | undefined): string | undefined {
    if (text.length > MOST_CHARACTERS) return undefined;
    this.#expire();
    const uri = `${SCHEME}///${randomName(this.#platform, 24)}`;
    this.#entries.set(uri, { contents: { uri, mimeType, text }, owner, until: this.#platform.monotonic() + KEPT_MS });
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

  /** Stops at the first entry that is still valid, because entries are in the order of their age. */
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
