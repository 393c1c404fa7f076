import { isReady, type Session } from "../../../era/session.js";
import type { KeyValue } from "../../../storage/storage.js";
import { decodeRecord, encodeRecord, mergeSessions } from "./records.js";
import type { HttpSession } from "./session.js";

/** How long the storage keeps records. */
interface RecordLife {
  /** Until the client is ready. */
  readonly freshMs: number;
  readonly readyMs: number;
}

/** Stores changed sessions; changes of several nodes at the same time all count. */
export class SessionSaver {
  readonly #kv: KeyValue;
  readonly #key: (session: string) => string;
  readonly #life: RecordLife;

  constructor(kv: KeyValue, key: (session: string) => string, life: RecordLife) {
    this.#kv = kv;
    this.#key = key;
    this.#life = life;
  }

  /** False if the storage does not have the session any more. Rejects if the storage fails. */
  async save(session: HttpSession): Promise<boolean> {
    const { value, version } = session.stored;
    const base = decodeRecord(value);
    const text = encodeRecord({ ...base, session: session.session });
    const ttlMs = isReady(session.session) ? this.#life.readyMs : this.#life.freshMs;
    const newVersion = await this.#kv.set(this.#key(session.id), text, { ttlMs, ifVersion: version });
    // Another node wrote first, and the session may have been read again; `text` still holds what to save.
    if (newVersion === undefined) return this.#saveMerged(session, base.session, decodeRecord(text).session);
    session.stored = { value: text, version: newVersion };
    return true;
  }

  async #saveMerged(session: HttpSession, base: Session, mine: Session): Promise<boolean> {
    const stored = await this.#kv.get(this.#key(session.id));
    if (stored === undefined) return false;
    session.session = mergeSessions(base, mine, decodeRecord(stored.value).session);
    session.stored = stored;
    return this.save(session);
  }
}
