import type { ServerResponse } from "node:http";

/** Replies that are shorter than this are not watched: the kernel takes them. */
export const WATCHED_BYTES = 16 * 1024;

/**
 * Complete replies that clients have not read. When they hold more than `maxBytes`, the connection that has waited longest is
 * closed: one client that does not read must not cost the memory of all.
 */
export class UnsentReplies {
  readonly #maxBytes: number;
  readonly #cut: () => void;
  /** In the order in which they were written. */
  readonly #bytes = new Map<ServerResponse, number>();
  #total = 0;

  /** `cut` is called for each connection that is closed. */
  constructor(maxBytes: number, cut: () => void) {
    this.#maxBytes = maxBytes;
    this.#cut = cut;
  }

  /** Watches a reply after its end was written; `bytes` is the length of its body. */
  watch(response: ServerResponse, bytes: number): void {
    if (response.writableLength === 0) return;
    this.#bytes.set(response, bytes);
    this.#total += bytes;
    const sent = () => this.#forget(response);
    response.once("finish", sent).once("close", sent);
    for (const [oldest] of this.#bytes) {
      if (this.#total <= this.#maxBytes) return;
      this.#forget(oldest);
      oldest.destroy();
      this.#cut();
    }
  }

  #forget(response: ServerResponse): void {
    this.#total -= this.#bytes.get(response) ?? 0;
    this.#bytes.delete(response);
  }
}
