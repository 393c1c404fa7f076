import type { SenderRefused } from "../server/contract/observer.js";

/**
 * Names of tools, prompts and methods that may become labels and names of spans: those that a call has proved to exist. Whoever
 * calls what does not exist could otherwise create any number of them.
 */
export class KnownNames {
  readonly #names = new Set<string>();
  readonly #most: number;

  /** `most` is how many names are learnt; all later ones stay unknown. */
  constructor(most: number) {
    this.#most = most;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Learns a name that exists. Returns whether it is known now. */
  learn(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#names.size >= this.#most || name.length > LONGEST_NAME) return false;
    this.#names.add(name);
    return true;
  }
}

/** Longer names are never labels. The protocol recommends at most 128 characters. */
export const LONGEST_NAME = 128;

/** How many names of one kind are learnt. */
export const MOST_NAMES = 2000;

/** In place of a name that is not known. */
export const OTHER = "_OTHER";

/** How many reasons for refused senders are learnt; the library has some 25, an `authenticate` may have others. */
export const MOST_REASONS = 100;

/** The label for why a sender was refused; the status where no reason was given. */
export function refusedReason({ status, reason }: SenderRefused, reasons: KnownNames): string {
  if (typeof reason !== "string") return `http_${status}`;
  return reasons.learn(reason) ? reason : OTHER;
}
