import { guarded, type MaybePromise, whenReady } from "../../../encoding/maybe-promise.js";
import { isReady, type Session } from "../../../era/session.js";
import type { Principal } from "../../../http/authentication.js";
import type { Id } from "../../../jsonrpc/message.js";
import { DueList } from "../../../platform/due-list.js";
import type { Storage, Versioned } from "../../../storage/storage.js";
import type { Answer, EndReason } from "../../transport.js";
import type { ServerState } from "../server/state.js";
import type { NodeMessage } from "./nodes/node-messenger.js";
import { RecordReader, StaleSessions } from "./nodes/record-reader.js";
import { decodeRecord, encodeRecord, SessionKeys } from "./nodes/records.js";
import { SessionNodes } from "./nodes/session-nodes.js";
import { HttpSession, type SessionServices } from "./session.js";
import { logLimits, SessionLogs } from "./session-logs.js";
import { IdleSweep, PrincipalShares, SessionRoom } from "./session-room.js";
import { SessionSaver } from "./session-saver.js";
import { GET_STREAM_ID } from "./streams/stream-log.js";

/** Maximum time that the end of a session waits for the answer to the request that caused the end. */
const MAX_ANSWER_WAIT_MS = 2000;

/** The answer that opens a session. */
type OpeningAnswer = Pick<Answer, "sessionEnded"> & { readonly session: Session };

type SessionLookup = MaybePromise<HttpSession | undefined>;

/**
 * Creates, finds, stores and ends sessions. The storage is authoritative. The `HttpSession` objects of a node contain
 * only what cannot be stored, and a copy of the record.
 */
export class SessionStore implements SessionServices {
  readonly #state: ServerState;
  readonly #storage: Storage;
  /** True if no other node shares the storage, so that this node sees all activity. */
  readonly alone: boolean;
  readonly #keys: SessionKeys;
  readonly #records: RecordReader;
  readonly saver: SessionSaver;
  readonly logs: SessionLogs;
  readonly eventLog: SessionServices["eventLog"];
  readonly nodes: SessionNodes;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #shares = new PrincipalShares();
  readonly #fresh: DueList<HttpSession>;
  readonly #idle: IdleSweep;
  readonly room: SessionRoom;
  readonly #stale: StaleSessions<HttpSession>;
  readonly failed = (error: unknown): void => this.#state.storageFailed(error);

  constructor(state: ServerState, storage: Storage, alone: boolean) {
    this.#state = state;
    this.#storage = storage;
    this.alone = alone;
    this.eventLog = state.eventLog;
    const { failed } = this;
    this.#keys = new SessionKeys(state.endpoint.name);
    this.#records = new RecordReader(state.platform, storage.kv);
    const hasSessions = () => this.#sessions.size > 0;
    this.nodes = new SessionNodes(state, storage, this.#keys, alone, logLimits(state), { hasSessions, failed });
    const serves = (session: HttpSession) => this.#sessions.get(session.id) === session;
    this.#stale = new StaleSessions(state.platform, { resync: (session) => this.#resync(session), serves, failed });
    this.logs = new SessionLogs(state, storage, this.#keys, this.nodes);
    const { handshakeMs, sessionIdleMs } = state.times;
    const life = { freshMs: handshakeMs * 2, readyMs: this.logs.lifeMs };
    this.saver = new SessionSaver(storage.kv, this.#keys, life, this.nodes);
    this.#fresh = new DueList(state.platform, handshakeMs, (session) =>
      this.#quietly(() => this.#checkHandshake(session)),
    );
    const isIdle = (session: HttpSession) => this.#quietly(() => this.#checkIdle(session));
    this.#idle = new IdleSweep(state.platform, this.#sessions, sessionIdleMs, isIdle);
    this.room = new SessionRoom(state, this.#sessions, this.#shares, this.#idle, this);
  }

  /**
   * Removes a session from the memory of this node. Other nodes still serve the session, and the next request to this
   * node loads it again.
   */
  leave(session: HttpSession): void {
    session.releaseUnread();
    void this.#forget(session, "expired", false);
  }

  /** Creates a session after a successful handshake. */
  async create(
    id: string,
    opening: OpeningAnswer,
    principal: Principal | undefined,
    place?: string,
  ): Promise<HttpSession> {
    const { session, sessionEnded } = opening;
    const value = encodeRecord({ principal: principal?.key ?? null, session, place, nodes: this.nodes.own });
    const created = await this.#register(id, principal, session, await this.saver.add(id, value));
    created.joined = true;
    if (sessionEnded !== undefined) created.onEnded(sessionEnded);
    this.#open(created);
    return created;
  }

  /**
   * Returns the session with this id, if this principal opened it. `active` restarts the idle time. `uncached` does not
   * fall back to the cached record if the storage does not answer.
   */
  find(id: string, principal: Principal | undefined, active = false, uncached = this.alone): SessionLookup {
    const cached = this.#sessions.get(id);
    const before = cached?.stored;
    const key = this.#keys.session(id);
    return whenReady(uncached ? this.#storage.kv.get(key) : this.#records.read(key, cached), (stored) => {
      const known = this.#sessions.get(id);
      if (stored === undefined || (this.alone && this.#isExpired(known?.activeAt) && known?.busy === false)) {
        if (known !== undefined) this.end(known, "expired");
        return undefined;
      }
      const owner = principal?.key ?? null;
      if (known?.stored.version === stored.version) {
        if ((known.principal?.key ?? null) !== owner) return undefined;
        return active ? this.#use(known) : known;
      }
      // The record was written or read again meanwhile, so `stored` may be outdated. Versions have no order, so the
      // search starts again.
      if (known !== undefined && known.stored !== before) return this.find(id, principal, active, uncached);
      const record = decodeRecord(stored.value);
      if (record.principal !== owner) return undefined;
      if (known === undefined) {
        this.room.makeRoomForKnown(principal?.key);
        const registered = this.#register(id, principal, record.session, stored);
        return active ? registered.then((session) => this.#use(session)) : registered;
      }
      known.session = record.session;
      known.stored = stored;
      return active ? this.#use(known) : known;
    });
  }

  /** Records activity of the client of this session. */
  touch(session: HttpSession): HttpSession {
    // Until the client is ready, activity does not extend the time for the handshake.
    if (!isReady(session.session)) return session;
    const now = this.#watch(session);
    if (now - session.notedAt < this.#state.times.sessionIdleMs / 8) return session;
    session.notedAt = now;
    this.logs.extend(session);
    return session;
  }

  /**
   * Makes the endpoint of this node serve the session as an open peer, because the client reads its GET stream here.
   * Does nothing if the session has ended.
   */
  serveHere(session: HttpSession): void {
    if (!session.opened && this.#sessions.get(session.id) === session) this.#open(session);
  }

  /**
   * Stores the session. Resolves with false if the session has ended, or if the storage failed and only this node has
   * the change. Never rejects.
   */
  async save(session: HttpSession): Promise<boolean> {
    try {
      if (!(await this.saver.save(session))) {
        void this.#forget(session, "expired", true);
        return false;
      }
      this.touch(session);
      await this.nodes.announce(session);
      return true;
    } catch (error) {
      this.failed(error);
      return false;
    }
  }

  /** Ends a session on every node. Resolves when its stored data is deleted. Rejects if the storage fails. */
  async delete(session: HttpSession, reason: EndReason): Promise<void> {
    const deleted = this.#storage.kv.delete(this.#keys.session(session.id));
    this.nodes.notify(session.id, { kind: "ended", reason });
    this.#forget(session, reason, true);
    await deleted;
    await this.logs.clean(session);
  }

  end(session: HttpSession, reason: EndReason): void {
    this.#quietly(() => this.delete(session, reason));
  }

  endAfter(session: HttpSession, reason: EndReason, after: Id | undefined): void {
    const request = after === undefined ? undefined : session.requests?.get(after);
    if (request === undefined) return this.end(session, reason);
    const end = () => {
      late.cancel();
      request.whenSettled = undefined;
      this.end(session, reason);
    };
    const late = this.#state.platform.timer(MAX_ANSWER_WAIT_MS, end, true);
    request.whenSettled = end;
  }

  /** Ends all sessions on this node. The stored records remain for other nodes and the next start. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    const closed = sessions.map((session) => {
      if (!this.alone) session.releaseUnread();
      return this.#forget(session, "closed", false);
    });
    this.#fresh.close();
    this.#stale.close();
    this.#idle.close();
    await this.nodes.close(Promise.all(closed));
    this.logs.close();
    this.#records.close();
    await Promise.all(sessions.map((session) => session.stopping));
  }

  /**
   * Records activity. The first time, adds this node to the record. Returns undefined if the session has ended
   * meanwhile.
   */
  #use(session: HttpSession): SessionLookup {
    this.touch(session);
    return this.alone || session.joined ? session : this.saver.tryJoin(session, this.failed);
  }

  /** Restarts the idle time of a session. */
  #watch(session: HttpSession): number {
    const now = this.#state.platform.monotonic();
    if (session.activeAt === undefined) this.#fresh.drop(session);
    session.activeAt = now;
    if (now > this.#idle.armedUntil) this.#idle.arm(now);
    return now;
  }

  /**
   * True if a session has expired. Called only if this node sees every request; otherwise the storage expires the
   * session.
   */
  #isExpired(activeAt = Number.POSITIVE_INFINITY): boolean {
    return this.#state.platform.monotonic() - activeAt >= this.#state.times.sessionIdleMs;
  }

  async #register(
    id: string,
    principal: Principal | undefined,
    session: Session,
    stored: Versioned,
  ): Promise<HttpSession> {
    const created = new HttpSession(this, id, principal, session, stored, this.#state.platform.monotonic());
    const onMessage = (message: NodeMessage) => this.#receive(created, message);
    const unsubscribe = await this.nodes.subscribe(id, onMessage, () => this.#stale.read(created));
    const other = this.#sessions.get(id);
    if (other !== undefined) {
      // A concurrent request has created the same session while this one subscribed.
      void unsubscribe?.();
      return other;
    }
    created.unsubscribe = unsubscribe;
    this.#sessions.set(id, created);
    this.#shares.add(created);
    if (isReady(session)) this.#watch(created);
    else this.#fresh.touch(created);
    return created;
  }

  #receive(session: HttpSession, message: NodeMessage): void {
    if (message.kind === "ended") this.#forget(session, message.reason, true);
    else if (message.kind === "changed") this.#stale.read(session, () => this.#readAgain(session, message.token));
    else if (message.kind === "idle") this.nodes.notify(session.id, this.room.answer(session, message));
    else if (message.kind === "whose") {
      if (session.streams.get(GET_STREAM_ID)?.attached === true)
        this.nodes.notify(session.id, { kind: "taken", stream: GET_STREAM_ID });
    } else {
      session.receive(message);
      if (message.kind !== "taken" || message.stream !== GET_STREAM_ID) return;
      session.unattended = false;
      // The client now reads its GET stream on another node, whose endpoint serves the session.
      if (session.opened) this.#shut(session);
    }
  }

  /** Reads a session that another node has changed. The node whose endpoint serves the session confirms the change. */
  async #readAgain(session: HttpSession, token: string): Promise<void> {
    const current = await this.find(session.id, session.principal, false, true);
    if (current !== session || !session.opened) return;
    await this.#state.endpoint.sessionChanged?.(session, false);
    this.nodes.notify(session.id, { kind: "read", token });
  }

  /** Reads the data of a session again, because messages that announce changes by other nodes may have been lost. */
  async #resync(session: HttpSession): Promise<void> {
    const current = await this.find(session.id, session.principal, false, true);
    if (current !== session) return;
    session.unattended = false;
    for (const stream of session.streams.all) stream.follow();
    if (session.hasPendingAsks) await this.nodes.readAnswers(session);
    if (!session.opened) return;
    this.nodes.notify(session.id, { kind: "whose" });
    await this.#state.endpoint.sessionChanged?.(session, true);
  }

  #open(session: HttpSession): void {
    session.opened = true;
    this.#state.endpoint.opened(session);
  }

  #shut(session: HttpSession): void {
    session.opened = false;
    this.#state.endpoint.closed(session);
  }

  /**
   * Ends a session on this node. `gone` means that the session has ended on every node. Resolves when none of its
   * entries is being stored any more.
   */
  #forget(session: HttpSession, reason: EndReason, gone: boolean): Promise<unknown> {
    if (this.#sessions.get(session.id) === session) this.#sessions.delete(session.id);
    this.#fresh.drop(session);
    this.#stale.drop(session);
    const { unsubscribe, ended } = session;
    session.unsubscribe = undefined;
    if (unsubscribe !== undefined) this.#quietly(() => unsubscribe());
    const { closed, streams } = session.stop(reason, gone);
    this.#shares.delete(session);
    if (gone && !ended) this.logs.cleanOwn(session, streams, closed);
    if (session.opened) this.#shut(session);
    return closed;
  }

  async #checkHandshake(session: HttpSession): Promise<void> {
    const current = await this.find(session.id, session.principal);
    // The client may have become ready on another node.
    if (current === session && isReady(session.session)) this.#watch(session);
    else this.end(session, "expired");
  }

  async #checkIdle(session: HttpSession): Promise<void> {
    if (session.busy) return void this.touch(session);
    if (this.alone) return this.end(session, "expired");
    const current = await this.find(session.id, session.principal);
    if (current === session && session.opened) this.#watch(session);
    else void this.#forget(session, "expired", current === undefined);
  }

  #quietly(run: () => MaybePromise<unknown>): void {
    guarded(run, this.failed);
  }
}
