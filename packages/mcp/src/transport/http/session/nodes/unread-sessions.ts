import { guarded } from "../../../../encoding/maybe-promise.js";
import { DueList } from "../../../../platform/due-list.js";
import type { Platform } from "../../../../platform/platform.js";

/** What the sessions of a node are read by. */
interface SessionReader<S> {
  /** Reads a session of which messages may have been lost; rejects if the storage does not answer. */
  missed(session: S): Promise<void>;
  /** Whether this node still serves it. */
  serves(session: S): boolean;
  failed(error: unknown): void;
}

/** How long to wait before a session is read again that could not be read. */
const RETRY_MS = 1000;

/** Sessions that other nodes may have changed: each is read anew, again and again while the storage does not answer. */
export class UnreadSessions<S> {
  readonly #reader: SessionReader<S>;
  readonly #due: DueList<S>;

  constructor(platform: Platform, reader: SessionReader<S>) {
    this.#reader = reader;
    this.#due = new DueList(platform, RETRY_MS, (session) => this.read(session));
  }

  read(session: S, read = () => this.#reader.missed(session)): void {
    guarded(read, (error) => {
      this.#reader.failed(error);
      if (this.#reader.serves(session)) this.#due.touch(session);
    });
  }

  drop(session: S): void {
    this.#due.drop(session);
  }

  close(): void {
    this.#due.close();
  }
}
