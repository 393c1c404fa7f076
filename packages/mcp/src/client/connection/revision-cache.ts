import type { Revision } from "../../protocol/revisions.js";

/** Servers that one process remembers; the one that was used longest ago goes first. */
const MAX_SERVERS = 512;

/**
 * Which revision each server spoke last, by its full URL or command. Knowing it saves the probe and decides nothing: a server that
 * no longer speaks it is asked again.
 *
 * What a client came to that was allowed some revisions only says nothing to one that is allowed others.
 */
export class RevisionCache {
  readonly #revisions = new Map<string, Revision>();

  get(key: string | undefined, allowed?: readonly Revision[]): Revision | undefined {
    return key === undefined ? undefined : this.#revisions.get(nameOf(key, allowed));
  }

  set(key: string | undefined, revision: Revision, allowed?: readonly Revision[]): void {
    if (key === undefined) return;
    const name = nameOf(key, allowed);
    // Deleted first, so that the order of the map is the order of use.
    this.#revisions.delete(name);
    this.#revisions.set(name, revision);
    const oldest = this.#revisions.size > MAX_SERVERS ? this.#revisions.keys().next().value : undefined;
    if (oldest !== undefined) this.#revisions.delete(oldest);
  }
}

function nameOf(key: string, allowed: readonly Revision[] | undefined): string {
  return allowed === undefined ? key : `${[...allowed].sort().join()} ${key}`;
}
