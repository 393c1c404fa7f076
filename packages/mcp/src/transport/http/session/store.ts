import { guarded, type Soon, whenReady } from "../../../encoding/maybe-promise.js";
import { randomName } from "../../../encoding/random-name.js";
import type { Session } from "../../../era/session.js";
import type { LogLimits, Storage, Versioned } from "../../../storage/storage.js";
import type { Principal } from "../../transport.js";
import { Deadlines } from "../server/due-list.js";
import type { ServerState } from "../server/state.js";
import type { StreamHome } from "./event-log.js";
import { keyOf, logNameOf, placeOf, topicOf } from "./names.js";
import { decodeNews, encodeNews, type SessionNews } from "./node-messages.js";
import { decodeRecord, encodeRecord, mergeSessions } from "./record.js";
import { HttpSession, type SessionHost, STANDING } from "./session.js";

/** A session idle for this long may give way to a new one when the node is full. */
const YIELDS_AFTER_MS = 5 * 60_000;

/**
 * Makes, finds, stores and ends sessions. Storage is the truth about which exist and what they say; this node's objects
 * are kept beside it for what cannot be stored: running requests and open connections.
 */
export class SessionKeeper implements SessionHost {
  readonly #state: ServerState;
  readonly #storage: Storage;
  /** With a storage of its own a node knows of every activity. */
  readonly #alone: boolean;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #fresh: Deadlines<HttpSession>;
  readonly #idle: Deadlines<HttpSession>;
  readonly #logLimits: LogLimits;
  #node = "";

  constructor(state: ServerState, storage: Storage, alone: boolean) {
    this.#state = state;
    this.#storage = storage;
    this.#alone = alone;
    const { handshakeMs, sessionIdleMs, eventAgeMs } = state.times;
    this.#fresh = new Deadlines(state.platform, handshakeMs, (session) => this.#neverReady(session));
    this.#idle = new Deadlines(state.platform, sessionIdleMs, (session) => this.#lookIdle(session));
    this.#logLimits = {
      maxEntries: state.eventLog.maxEvents,
      maxBytes: state.eventLog.maxBytes,
      maxAgeMs: eventAgeMs,
      ttlMs: Math.max(eventAgeMs, sessionIdleMs) * 2,
    };
  }

  get size(): number {
    return this.#sessions.size;
  }

  get maxEndedStreams(): number {
    return this.#state.eventLog.maxEndedStreams;
  }

  /** False when the node holds as many sessions as it may and none of them can go. */
  hasRoom(): boolean {
    if (this.#sessions.size < this.#state.limits.maxSessions) return true;
    const oldest = this.#idle.oldest;
    const since = oldest === undefined ? undefined : this.#idle.touchedAt(oldest);
    if (oldest === undefined || since === undefined || oldest.busy) return false;
    if (this.#state.platform.now() - since < YIELDS_AFTER_MS) return false;
    this.end(oldest);
    return true;
  }

  /** Opens a session for whoever completed a handshake. */
  create(session: Session, principal: Principal | undefined): Soon<HttpSession> {
    const id = randomName(this.#state.platform, 24);
    const value = encodeRecord({ principal: principal?.key ?? null, session });
    const ttlMs = this.#state.times.handshakeMs * 2;
    return whenReady(this.#storage.kv.set(keyOf(id), value, { ttlMs, ifVersion: 0 }), (version) =>
      whenReady(this.#keep(id, principal, session, { value, version: version ?? 0 }), (made) => {
        this.#open(made);
        return made;
      }),
    );
  }

  /** The session with this id, if this principal opened it; others learn no more than that there is none for them. */
  find(id: string, principal: Principal | undefined): Soon<HttpSession | undefined> {
    const before = this.#sessions.get(id)?.stored;
    return whenReady(this.#storage.kv.get(keyOf(id)), (found) => {
      const known = this.#sessions.get(id);
      if (found === undefined || (known !== undefined && this.#isIdle(known))) {
        if (known !== undefined) this.end(known);
        return undefined;
      }
      const key = principal?.key ?? null;
      if (known?.stored.version === found.version) return (known.principal?.key ?? null) === key ? known : undefined;
      // Stored or read anew in the meantime: what was found may be the older, and versions have no order.
      if (known !== undefined && known.stored !== before) return this.find(id, principal);
      const record = decodeRecord(found.value);
      if (record.principal !== key) return undefined;
      if (known === undefined) return this.#keep(id, principal, record.session, found);
      known.session = record.session;
      known.stored = found;
      return known;
    });
  }

  /** Notes that the client of this session is alive. */
  touch(session: HttpSession): void {
    // Nothing but the client's word that it is ready ends its time for saying so.
    if (!session.session.initialized) return;
    this.#fresh.drop(session);
    this.#idle.touch(session);
    const now = this.#state.platform.now();
    if (now - session.notedAt < this.#state.times.sessionIdleMs / 8) return;
    session.notedAt = now;
    this.#quietly(() => this.#storage.kv.touch(keyOf(session.id), this.#lifeMs()));
  }

  /** This node speaks for the session from now on, since its client listens here. */
  listenHere(session: HttpSession): void {
    if (!session.opened) this.#open(session);
  }

  /** Where the standing stream goes on for a client that names no place. */
  place(session: HttpSession): Soon<number> {
    if (this.#alone) return session.stream(STANDING, false).place;
    return whenReady(this.#storage.kv.get(placeOf(session.id)), (found) => Number(found?.value ?? 0));
  }

  save(session: HttpSession): Soon<void> {
    const { value, version } = session.stored;
    const base = decodeRecord(value);
    const text = encodeRecord({ principal: base.principal, session: session.session });
    const ttlMs = session.session.initialized ? this.#lifeMs() : this.#state.times.handshakeMs * 2;
    try {
      const stored = this.#storage.kv.set(keyOf(session.id), text, { ttlMs, ifVersion: version });
      const next = whenReady(stored, (made) => {
        // Another node was faster, and the session may have been read anew; `text` still says what is to be saved.
        if (made === undefined) return this.#saveMerged(session, base.session, decodeRecord(text).session);
        session.stored = { value: text, version: made };
        this.#saved(session);
      });
      return next instanceof Promise ? next.catch((error) => this.#warn(error)) : next;
    } catch (error) {
      return this.#warn(error);
    }
  }

  /** Ends a session for good, here and on every node. */
  end(session: HttpSession): void {
    this.#quietly(() => this.#storage.kv.delete(keyOf(session.id)));
    this.tell(session, { kind: "ended" });
    const streams = session.streamIds();
    this.#forget(session);
    for (const stream of streams) this.dropLog(session, stream);
  }

  tell(session: HttpSession, news: SessionNews): void {
    this.#quietly(() => this.#storage.pubsub.publish(topicOf(session.id), encodeNews(this.#nodeId(), news)));
  }

  home(session: HttpSession): StreamHome {
    return {
      log: this.#storage.log,
      limits: this.#logLimits,
      logName: (stream) => logNameOf(session.id, stream),
      hint: (stream) => this.tell(session, { kind: "log", stream }),
      ended: () => session.tidy(),
      released: (stream) => {
        if (this.#alone || stream.id !== STANDING) return;
        this.#quietly(() => this.#storage.kv.set(placeOf(session.id), String(stream.place), { ttlMs: this.#lifeMs() }));
      },
      failed: (error) => this.#warn(error),
    };
  }

  dropLog(session: HttpSession, stream: string): void {
    this.#quietly(() => this.#storage.log.drop(logNameOf(session.id, stream)));
  }

  newStreamId(): string {
    return randomName(this.#state.platform, 9);
  }

  /** Lets go of all sessions; what storage holds stays for other nodes and for the next start. */
  close(): void {
    for (const session of [...this.#sessions.values()]) this.#forget(session);
    this.#fresh.close();
    this.#idle.close();
  }

  /** How long storage keeps a session: the idle time, and as much again as notes of activity may be late. */
  #lifeMs(): number {
    return this.#state.times.sessionIdleMs * 1.25;
  }

  /** Only a node that sees every request knows for sure; else storage decides. */
  #isIdle(session: HttpSession): boolean {
    const since = this.#alone ? this.#idle.touchedAt(session) : undefined;
    if (since === undefined || this.#state.platform.now() - since < this.#state.times.sessionIdleMs) return false;
    return !session.busy;
  }

  #saveMerged(session: HttpSession, base: Session, mine: Session): Soon<void> {
    return whenReady(this.#storage.kv.get(keyOf(session.id)), (found) => {
      if (found === undefined) return this.#forget(session);
      const theirs = decodeRecord(found.value);
      session.session = mergeSessions(base, mine, theirs.session);
      session.stored = found;
      return this.save(session);
    });
  }

  #saved(session: HttpSession): void {
    this.touch(session);
    this.tell(session, { kind: "changed" });
  }

  #keep(id: string, principal: Principal | undefined, session: Session, stored: Versioned): Soon<HttpSession> {
    const made = new HttpSession(this, id, principal, session, stored);
    return whenReady(
      this.#storage.pubsub.subscribe(topicOf(id), (message) => this.#heard(made, message)),
      (unsubscribe) => {
        const other = this.#sessions.get(id);
        if (other !== undefined) {
          // Two requests found the same session while its subscription was under way.
          void unsubscribe();
          return other;
        }
        made.unsubscribe = unsubscribe;
        this.#sessions.set(id, made);
        if (session.initialized) this.#idle.touch(made);
        else this.#fresh.touch(made);
        return made;
      },
    );
  }

  #heard(session: HttpSession, message: string): void {
    const news = decodeNews(this.#nodeId(), message);
    if (news === undefined) return;
    if (news.kind === "ended") this.#forget(session);
    else if (news.kind === "changed") this.#quietly(() => this.find(session.id, session.principal));
    else {
      session.heard(news);
      // The client listens on another node, which speaks for the session now.
      if (news.kind === "taken" && news.stream === STANDING && session.opened) this.#shut(session);
    }
  }

  #open(session: HttpSession): void {
    session.opened = true;
    this.#state.endpoint.opened(session);
  }

  #shut(session: HttpSession): void {
    session.opened = false;
    this.#state.endpoint.closed(session);
  }

  #forget(session: HttpSession): void {
    if (this.#sessions.get(session.id) === session) this.#sessions.delete(session.id);
    this.#fresh.drop(session);
    this.#idle.drop(session);
    const { unsubscribe } = session;
    session.unsubscribe = undefined;
    if (unsubscribe !== undefined) this.#quietly(() => unsubscribe());
    session.end();
    if (session.opened) this.#shut(session);
  }

  #neverReady(session: HttpSession): void {
    this.#quietly(() =>
      whenReady(this.find(session.id, session.principal), (found) => {
        // The client may have said so to another node.
        if (found === session && session.session.initialized) this.#idle.touch(session);
        else this.end(session);
      }),
    );
  }

  #lookIdle(session: HttpSession): void {
    if (session.busy) return this.touch(session);
    if (this.#alone) return this.end(session);
    this.#quietly(() =>
      whenReady(this.find(session.id, session.principal), (found) => {
        if (found === session && session.opened) this.#idle.touch(session);
        else this.#forget(session);
      }),
    );
  }

  #nodeId(): string {
    // Made on first use: some runtimes have no randomness while modules load.
    if (this.#node === "") this.#node = randomName(this.#state.platform, 9);
    return this.#node;
  }

  #quietly(run: () => Soon<unknown>): void {
    guarded(run, (error) => this.#warn(error));
  }

  #warn(error: unknown): void {
    this.#state.platform.warn(`the session storage failed: ${String(error)}`);
  }
}
