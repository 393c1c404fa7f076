import { randomName } from "../../../encoding/base64.js";
import { guarded, type MaybePromise, whenReady } from "../../../encoding/maybe-promise.js";
import { isReady, type Session } from "../../../era/session.js";
import type { Principal } from "../../../http/authentication.js";
import type { Id } from "../../../jsonrpc/message.js";
import type { LogLimits, Storage, Versioned } from "../../../storage/storage.js";
import type { Answer, EndReason } from "../../transport.js";
import { DueList } from "../server/due-list.js";
import type { ServerState } from "../server/state.js";
import { IdleSweep } from "./idle-sweep.js";
import type { LoggedStream, StreamStorage } from "./logged-stream.js";
import { decodeNodeMessage, encodeNodeMessage, type NodeMessage } from "./node-messages.js";
import { PrincipalShares } from "./principal-shares.js";
import { decodeRecord, encodeRecord, keyOf, logNameOf, mergeSessions, resumePointKey, topicOf } from "./records.js";
import { GET_STREAM_ID, HttpSession, type SessionHost } from "./session.js";
import { logLimits, streamStorage } from "./stream-storage.js";

/** The answer that opens a session. */
type Opening = Pick<Answer, "sessionEnded"> & { readonly session: Session };

/** Creates, finds, stores and ends sessions. The storage is authoritative; objects of a node hold what cannot be stored. */
export class SessionStore implements SessionHost {
  readonly #state: ServerState;
  readonly #storage: Storage;
  /** True if no other node shares the storage, so that this node sees all activity. */
  readonly #alone: boolean;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #shares = new PrincipalShares();
  readonly #fresh: DueList<HttpSession>;
  readonly #idle: IdleSweep;
  readonly #logLimits: LogLimits;
  /** Running handshakes; each may create a session. */
  opening = 0;
  #node = "";

  constructor(state: ServerState, storage: Storage, alone: boolean) {
    this.#state = state;
    this.#storage = storage;
    this.#alone = alone;
    const { handshakeMs, sessionIdleMs } = state.times;
    this.#fresh = new DueList(state.platform, handshakeMs, (session) => this.#quietly(() => this.#neverReady(session)));
    this.#idle = new IdleSweep(state.platform, this.#sessions, sessionIdleMs, (session) =>
      this.#quietly(() => this.#lookIdle(session)),
    );
    this.#logLimits = logLimits(state);
  }

  get eventLog(): SessionHost["eventLog"] {
    return this.#state.eventLog;
  }

  /** Makes room for one more session, or returns the name of the limit that forbids it. */
  takeRoom(key: string | undefined): string | undefined {
    const room = this.#shares.room(key, this.#sessions.size + this.opening, this.#state.limits, this.#idle);
    if (room.replaces !== undefined) this.end(room.replaces, "expired");
    return room.full;
  }

  /** Creates a session after a successful handshake. */
  async create({ session, sessionEnded }: Opening, principal: Principal | undefined): Promise<HttpSession> {
    const id = randomName(this.#state.platform, 24);
    const value = encodeRecord({ principal: principal?.key ?? null, session });
    const ttlMs = this.#state.times.handshakeMs * 2;
    const version = await this.#storage.kv.set(keyOf(id), value, { ttlMs, ifVersion: 0 });
    const created = await this.#keep(id, principal, session, { value, version: version ?? 0 });
    if (sessionEnded !== undefined) created.onEnded(sessionEnded);
    this.#open(created);
    return created;
  }

  /** The session with this id, if this principal opened it. `active` records activity of its client. */
  find(id: string, principal: Principal | undefined, active = false): MaybePromise<HttpSession | undefined> {
    const before = this.#sessions.get(id)?.stored;
    return whenReady(this.#storage.kv.get(keyOf(id)), (stored) => {
      const known = this.#sessions.get(id);
      if (stored === undefined || (known !== undefined && this.#isIdle(known))) {
        if (known !== undefined) this.end(known, "expired");
        return undefined;
      }
      const key = principal?.key ?? null;
      if (known?.stored.version === stored.version) {
        if ((known.principal?.key ?? null) !== key) return undefined;
        return active ? this.touch(known) : known;
      }
      // Written or read again meanwhile: `stored` may be outdated, and versions have no order.
      if (known !== undefined && known.stored !== before) return this.find(id, principal, active);
      const record = decodeRecord(stored.value);
      if (record.principal !== key) return undefined;
      if (known === undefined) {
        const kept = this.#keep(id, principal, record.session, stored);
        return active ? kept.then((session) => this.touch(session)) : kept;
      }
      known.session = record.session;
      known.stored = stored;
      return active ? this.touch(known) : known;
    });
  }

  /** Records activity of the client of this session. */
  touch(session: HttpSession): HttpSession {
    // Until the client is ready, activity does not extend the time for the handshake.
    if (!isReady(session.session)) return session;
    const now = this.#watch(session);
    if (now - session.notedAt < this.#state.times.sessionIdleMs / 8) return session;
    session.notedAt = now;
    this.#quietly(() => this.#storage.kv.touch(keyOf(session.id), this.#lifeMs()));
    return session;
  }

  /** Makes this node's endpoint serve the session as an open peer, because the client reads its GET stream here, unless it has ended. */
  listenHere(session: HttpSession): void {
    if (!session.opened && this.#sessions.get(session.id) === session) this.#open(session);
  }

  /** Where the first GET stream continues for a client without `Last-Event-ID`. */
  async resumePoint(session: HttpSession): Promise<number> {
    if (this.#alone) return session.stream(GET_STREAM_ID, false).position;
    const point = await this.#storage.kv.get(resumePointKey(session.id));
    return Number(point?.value ?? 0);
  }

  /** False if the storage refused it; then this node alone knows. Never rejects. */
  async save(session: HttpSession): Promise<boolean> {
    const { value, version } = session.stored;
    const base = decodeRecord(value);
    const text = encodeRecord({ principal: base.principal, session: session.session });
    const ttlMs = isReady(session.session) ? this.#lifeMs() : this.#state.times.handshakeMs * 2;
    try {
      const newVersion = await this.#storage.kv.set(keyOf(session.id), text, { ttlMs, ifVersion: version });
      // Another node wrote first, and the session may have been read again; `text` still holds what to save.
      if (newVersion === undefined) return await this.#saveMerged(session, base.session, decodeRecord(text).session);
      session.stored = { value: text, version: newVersion };
      this.touch(session);
      this.tell(session, { kind: "changed" });
      return true;
    } catch (error) {
      this.failed(error);
      return false;
    }
  }

  /** Ends a session permanently, on every node. */
  end(session: HttpSession, reason: EndReason): void {
    this.#quietly(() => this.#storage.kv.delete(keyOf(session.id)));
    this.tell(session, { kind: "ended", reason });
    const streams = session.streamIds();
    this.#forget(session, reason);
    for (const stream of streams) this.dropLog(session, stream);
  }

  endAfter(session: HttpSession, reason: EndReason, after: Id | undefined, looks = 200): void {
    if (looks === 0 || after === undefined || session.requests?.has(after) !== true) return this.end(session, reason);
    this.#state.platform.timer(10, () => this.endAfter(session, reason, after, looks - 1), true);
  }

  tell(session: HttpSession, message: NodeMessage): void {
    this.#quietly(() => this.#storage.pubsub.publish(topicOf(session.id), encodeNodeMessage(this.#nodeId(), message)));
  }

  streamStorage(session: HttpSession): StreamStorage {
    return streamStorage(session, this.#storage.log, this.#logLimits, this);
  }

  released(session: HttpSession, stream: LoggedStream): void {
    if (this.#alone || stream.id !== GET_STREAM_ID) return;
    const ttlMs = this.#lifeMs();
    this.#quietly(() => this.#storage.kv.set(resumePointKey(session.id), String(stream.position), { ttlMs }));
  }

  dropLog(session: HttpSession, stream: string): void {
    this.#quietly(() => this.#storage.log.drop(logNameOf(session.id, stream)));
  }

  newStreamId(): string {
    return randomName(this.#state.platform, 9);
  }

  /** Ends all sessions on this node. The stored records remain for other nodes and the next start. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    for (const session of sessions) {
      if (!this.#alone) session.releaseUnread();
      this.#forget(session, "closed");
    }
    this.#fresh.close();
    this.#idle.close();
    await Promise.all(sessions.map((session) => session.stopping));
  }

  /** How long the storage keeps a session: the idle time plus a margin, because activity is recorded late. */
  #lifeMs(): number {
    return this.#state.times.sessionIdleMs * 1.25;
  }

  /** Restarts the idle time of a session. */
  #watch(session: HttpSession): number {
    const now = this.#state.platform.monotonic();
    if (session.activeAt === undefined) this.#fresh.drop(session);
    session.activeAt = now;
    if (now > this.#idle.armedUntil) this.#idle.arm(now);
    return now;
  }

  /** Decided here only if this node sees every request; otherwise the storage expires the session. */
  #isIdle(session: HttpSession): boolean {
    const since = this.#alone ? session.activeAt : undefined;
    if (since === undefined || this.#state.platform.monotonic() - since < this.#state.times.sessionIdleMs) return false;
    return !session.busy;
  }

  async #saveMerged(session: HttpSession, base: Session, mine: Session): Promise<boolean> {
    const stored = await this.#storage.kv.get(keyOf(session.id));
    if (stored === undefined) {
      this.#forget(session, "expired");
      return false;
    }
    session.session = mergeSessions(base, mine, decodeRecord(stored.value).session);
    session.stored = stored;
    return this.save(session);
  }

  async #keep(id: string, principal: Principal | undefined, session: Session, stored: Versioned): Promise<HttpSession> {
    const created = new HttpSession(this, id, principal, session, stored);
    const unsubscribe = await this.#storage.pubsub.subscribe(topicOf(id), (message) => this.#heard(created, message));
    const other = this.#sessions.get(id);
    if (other !== undefined) {
      // A concurrent request has created the same session while this one subscribed.
      void unsubscribe();
      return other;
    }
    created.unsubscribe = unsubscribe;
    this.#sessions.set(id, created);
    this.#shares.add(created);
    if (isReady(session)) this.#watch(created);
    else this.#fresh.touch(created);
    return created;
  }

  #heard(session: HttpSession, text: string): void {
    const message = decodeNodeMessage(this.#nodeId(), text);
    if (message === undefined) return;
    if (message.kind === "ended") this.#forget(session, message.reason);
    else if (message.kind === "changed") this.#quietly(() => this.find(session.id, session.principal));
    else {
      session.heard(message);
      // The client now reads its GET stream on another node, whose endpoint serves the session.
      if (message.kind === "taken" && message.stream === GET_STREAM_ID && session.opened) this.#shut(session);
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

  #forget(session: HttpSession, reason: EndReason): void {
    if (this.#sessions.get(session.id) === session) this.#sessions.delete(session.id);
    this.#shares.delete(session);
    this.#fresh.drop(session);
    const { unsubscribe } = session;
    session.unsubscribe = undefined;
    if (unsubscribe !== undefined) this.#quietly(() => unsubscribe());
    session.stop(reason);
    if (session.opened) this.#shut(session);
  }

  async #neverReady(session: HttpSession): Promise<void> {
    const current = await this.find(session.id, session.principal);
    // The client may have become ready on another node.
    if (current === session && isReady(session.session)) this.#watch(session);
    else this.end(session, "expired");
  }

  async #lookIdle(session: HttpSession): Promise<void> {
    if (session.busy) return void this.touch(session);
    if (this.#alone) return this.end(session, "expired");
    const current = await this.find(session.id, session.principal);
    if (current === session && session.opened) this.#watch(session);
    else this.#forget(session, "expired");
  }

  #nodeId(): string {
    // Created on first use, because some runtimes forbid randomness while modules load.
    if (this.#node === "") this.#node = randomName(this.#state.platform, 9);
    return this.#node;
  }

  #quietly(run: () => MaybePromise<unknown>): void {
    guarded(run, (error) => this.failed(error));
  }

  failed(error: unknown): void {
    this.#state.platform.warn(`the session storage failed: ${String(error)}`);
  }
}
