import { isReady, type Session } from "../../../era/session.js";
import { type KeyValue, StorageFailure, type Versioned } from "../../../storage/storage.js";
import { decodeRecord, encodeRecord, MAX_NODES, mergeSessions, type SessionKeys } from "./nodes/records.js";
import type { HttpSession } from "./session.js";

/** Lifetimes of stored records. */
interface RecordLife {
  /** Lifetime until the client completes the handshake. */
  readonly freshMs: number;
  readonly readyMs: number;
}

/**
 * Maximum number of attempts to write a record that other nodes change at the same time. After that, `tryJoin` reports
 * a failure, and `removeNode` leaves the record unchanged.
 */
const MAX_ATTEMPTS = 16;

/** Stores changed sessions. Merges concurrent changes of several nodes. */
export class SessionSaver {
  readonly #kv: KeyValue;
  readonly #keys: SessionKeys;
  readonly #life: RecordLife;

  readonly #self: { readonly id: string };

  constructor(kv: KeyValue, keys: SessionKeys, life: RecordLife, self: { readonly id: string }) {
    this.#kv = kv;
    this.#keys = keys;
    this.#life = life;
    this.#self = self;
  }

  /** Stores a new session. */
  async add(id: string, value: string): Promise<Versioned> {
    const options = { ttlMs: this.#life.freshMs, ifVersion: 0 };
    return { value, version: (await this.#kv.set(this.#keys.session(id), value, options)) ?? 0 };
  }

  /**
   * Adds this node to the record. The version of the record then changes, so that a conditional delete by another node
   * fails. Returns false if the storage no longer has the session. Rejects if the storage fails.
   */
  async #join(session: HttpSession): Promise<boolean> {
    for (let trial = 0; trial < MAX_ATTEMPTS; trial++) {
      // Set before the write. If another node asks meanwhile whether the session is in use, the answer resets `joined`,
      // and this loop writes again.
      session.joined = true;
      const { stored } = session;
      const record = decodeRecord(stored.value);
      const nodes = [...(record.nodes ?? []).filter((node) => node !== this.#self.id), this.#self.id].slice(-MAX_NODES);
      const value = encodeRecord({ ...record, nodes });
      const ttlMs = this.#ttlOf(record.session);
      const version = await this.#kv.set(this.#keys.session(session.id), value, { ttlMs, ifVersion: stored.version });
      if (version !== undefined && session.stored === stored) session.stored = { value, version };
      if (version !== undefined && session.joined) return true;
      if (version === undefined && !(await this.#readAgain(session))) return false;
    }
    throw new StorageFailure(
      "unavailable",
      "Too many processes change the record of one session at once.",
      "Send the request again.",
    );
  }

  /**
   * Adds this node to the record of the session. Resolves with undefined if the session has ended. If the storage
   * fails, reports the failure and resolves with the session.
   */
  async tryJoin(session: HttpSession, failed: (error: unknown) => void): Promise<HttpSession | undefined> {
    try {
      return (await this.#join(session)) ? session : undefined;
    } catch (error) {
      failed(error);
      return session;
    }
  }

  /** Removes this node from the record of a session, unless it `serves` the session again. */
  async removeNode(id: string, serves: () => boolean): Promise<void> {
    for (let trial = 0; trial < MAX_ATTEMPTS; trial++) {
      const stored = await this.#kv.get(this.#keys.session(id));
      const record = stored && decodeRecord(stored.value);
      if (record?.nodes?.includes(this.#self.id) !== true || serves()) return;
      const value = encodeRecord({ ...record, nodes: record.nodes.filter((node) => node !== this.#self.id) });
      const options = { ttlMs: this.#ttlOf(record.session), ifVersion: stored?.version };
      if ((await this.#kv.set(this.#keys.session(id), value, options)) !== undefined) return;
    }
  }

  #ttlOf(session: Session): number {
    return isReady(session) ? this.#life.readyMs : this.#life.freshMs;
  }

  /**
   * Reads a record again after another node, or another request of this node, has written it. Returns false if the
   * storage no longer has the record.
   */
  async #readAgain(session: HttpSession): Promise<boolean> {
    const before = session.stored;
    const stored = await this.#kv.get(this.#keys.session(session.id));
    if (stored === undefined) return false;
    if (session.stored !== before) return true;
    const theirs = decodeRecord(stored.value).session;
    session.session = mergeSessions(decodeRecord(before.value).session, session.session, theirs);
    session.stored = stored;
    return true;
  }

  /** Stores the session. Returns false if the storage no longer has the record. Rejects if the storage fails. */
  async save(session: HttpSession): Promise<boolean> {
    const { value, version } = session.stored;
    const base = decodeRecord(value);
    const text = encodeRecord({ ...base, session: session.session });
    const ttlMs = this.#ttlOf(session.session);
    const newVersion = await this.#kv.set(this.#keys.session(session.id), text, { ttlMs, ifVersion: version });
    // Another node wrote first, and the session may have been read again meanwhile. `text` still has the values to
    // save.
    if (newVersion === undefined) return this.#saveMerged(session, base.session, decodeRecord(text).session);
    session.stored = { value: text, version: newVersion };
    return true;
  }

  async #saveMerged(session: HttpSession, base: Session, mine: Session): Promise<boolean> {
    const stored = await this.#kv.get(this.#keys.session(session.id));
    if (stored === undefined) return false;
    session.session = mergeSessions(base, mine, decodeRecord(stored.value).session);
    session.stored = stored;
    return this.save(session);
  }
}
