import type { Revision } from "../protocol/revisions.js";

/** Servers that one process remembers; the one that was used longest ago goes first. */
const MAX_VERDICTS = 512;

/**
 * Which revision each server spoke last, by its full URL or command. A verdict saves the question; it binds nobody: a server
 * that no longer fits it is asked again.
 */
export class VerdictCache {
  readonly #verdicts = new Map<string, Revision>();

  get(key: string | undefined): Revision | undefined {
    return key === undefined ? undefined : this.#verdicts.get(key);
  }

  set(key: string | undefined, revision: Revision): void {
    if (key === undefined) return;
    // Deleted first, so that the order of the map is the order of use.
    this.#verdicts.delete(key);
    this.#verdicts.set(key, revision);
    const oldest = this.#verdicts.size > MAX_VERDICTS ? this.#verdicts.keys().next().value : undefined;
    if (oldest !== undefined) this.#verdicts.delete(oldest);
  }

  forget(key: string | undefined): void {
    if (key !== undefined) this.#verdicts.delete(key);
  }
}
