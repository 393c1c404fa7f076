import { isReady, type Session } from "../../../era/session.js";
import { type KeyValue, StorageFailure, type Versioned } from "../../../storage/storage.js";
import { decodeRecord, encodeRecord, MAX_NODES, mergeSessions, type SessionKeys } from "./nodes/records.js";
import type { HttpSession } from "./session.js";

/** How long the storage keeps records. */
interface RecordLife {
  /** Until the client is ready. */
  readonly freshMs: number;
  readonly readyMs: number;
}

/** How often a change is tried that other nodes get ahead of. */
const MAX_TRIALS = 16;

/** Stores changed sessions; changes of several nodes at the same time all count. */
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
   * Writes to the record that this node serves the session, so that another node that is about to end it does not. False if the
   * storage does not have the session any more. Rejects if the storage fails.
   */
  async #join(session: HttpSession): Promise<boolean> {
    for (let trial = 0; trial < MAX_TRIALS; trial++) {
      // Set before: a node that asks meanwhile resets it.
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
    throw new StorageFailure("unavailable", "The record of one session changes too fast.", "Send the request again.");
  }

  /** The session once its record names this node; undefined if it has ended. Where the storage fails, the session is served. */
  async joined(session: HttpSession, failed: (error: unknown) => void): Promise<HttpSession | undefined> {
    try {
      return (await this.#join(session)) ? session : undefined;
    } catch (error) {
      failed(error);
      return session;
    }
  }

  /** Removes this node from the record of a session that it does not serve any more, unless it `serves` it again. */
  async part(id: string, serves: () => boolean): Promise<void> {
    for (let trial = 0; trial < MAX_TRIALS; trial++) {
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

  /** Reads a record that another node, or another request of this one, has written. */
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

  /** False if the storage does not have the session any more. Rejects if the storage fails. */
  async save(session: HttpSession): Promise<boolean> {
    const { value, version } = session.stored;
    const base = decodeRecord(value);
    const text = encodeRecord({ ...base, session: session.session });
    const ttlMs = this.#ttlOf(session.session);
    const newVersion = await this.#kv.set(this.#keys.session(session.id), text, { ttlMs, ifVersion: version });
    // Another node wrote first, and the session may have been read again; `text` still holds what to save.
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
