import { guarded, type MaybePromise, whenReady } from "../../../encoding/maybe-promise.js";
import { isReady, type Session } from "../../../era/session.js";
import type { Principal } from "../../../http/authentication.js";
import type { Id } from "../../../jsonrpc/message.js";
import { DueList } from "../../../platform/due-list.js";
import type { Storage, Versioned } from "../../../storage/storage.js";
import type { Answer, EndReason } from "../../transport.js";
import type { ServerState } from "../server/state.js";
import type { NodeMessage } from "./nodes/node-talk.js";
import { RecordReader, UnreadSessions } from "./nodes/record-reader.js";
import { decodeRecord, encodeRecord, SessionKeys } from "./nodes/records.js";
import { SessionNodes } from "./nodes/session-nodes.js";
import { HttpSession, type SessionHost } from "./session.js";
import { logLimits, SessionLogs } from "./session-logs.js";
import { IdleSweep, PrincipalShares, SessionRoom } from "./session-room.js";
import { SessionSaver } from "./session-saver.js";
import { GET_STREAM_ID } from "./streams/stream-log.js";

/** How long the end of a session waits for the answer of the request that has caused it. */
const MAX_ANSWER_MS = 2000;

/** The answer that opens a session. */
type Opening = Pick<Answer, "sessionEnded"> & { readonly session: Session };

type Found = MaybePromise<HttpSession | undefined>;

/** Creates, finds, stores and ends sessions. The storage is authoritative; objects of a node hold what cannot be stored. */
export class SessionStore implements SessionHost {
  readonly #state: ServerState;
  readonly #storage: Storage;
  /** True if no other node shares the storage, so that this node sees all activity. */
  readonly alone: boolean;
  readonly #keys: SessionKeys;
  readonly #records: RecordReader;
  readonly saver: SessionSaver;
  readonly logs: SessionLogs;
  readonly eventLog: SessionHost["eventLog"];
  readonly nodes: SessionNodes;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #shares = new PrincipalShares();
  readonly #fresh: DueList<HttpSession>;
  readonly #idle: IdleSweep;
  readonly room: SessionRoom;
  readonly #unread: UnreadSessions<HttpSession>;
  readonly failed = (error: unknown): void => this.#state.storageFailed(error);

  constructor(state: ServerState, storage: Storage, alone: boolean) {
    this.#state = state;
    this.#storage = storage;
    this.alone = alone;
    this.eventLog = state.eventLog;
    const { failed } = this;
    this.#keys = new SessionKeys(state.endpoint.name);
    this.#records = new RecordReader(state.platform, storage.kv);
    const servesAnybody = () => this.#sessions.size > 0;
    this.nodes = new SessionNodes(state, storage, this.#keys, alone, logLimits(state), { servesAnybody, failed });
    const serves = (session: HttpSession) => this.#sessions.get(session.id) === session;
    this.#unread = new UnreadSessions(state.platform, { missed: (session) => this.#missed(session), serves, failed });
    this.logs = new SessionLogs(state, storage, this.#keys, this.nodes);
    const { handshakeMs, sessionIdleMs } = state.times;
    const life = { freshMs: handshakeMs * 2, readyMs: this.logs.lifeMs };
    this.saver = new SessionSaver(storage.kv, this.#keys, life, this.nodes);
    this.#fresh = new DueList(state.platform, handshakeMs, (session) => this.#quietly(() => this.#neverReady(session)));
    const isIdle = (session: HttpSession) => this.#quietly(() => this.#lookIdle(session));
    this.#idle = new IdleSweep(state.platform, this.#sessions, sessionIdleMs, isIdle);
    this.room = new SessionRoom(state, this.#sessions, this.#shares, this.#idle, this);
  }

  /** Removes a session from this node's memory; it goes on at other nodes, and here with the next request. */
  leave(session: HttpSession): void {
    session.releaseUnread();
    void this.#forget(session, "expired", false);
  }

  /** Creates a session after a successful handshake. */
  async create(id: string, opening: Opening, principal: Principal | undefined, place?: string): Promise<HttpSession> {
    const { session, sessionEnded } = opening;
    const value = encodeRecord({ principal: principal?.key ?? null, session, place, nodes: this.nodes.own });
    const created = await this.#keep(id, principal, session, await this.saver.add(id, value));
    created.joined = true;
    if (sessionEnded !== undefined) created.onEnded(sessionEnded);
    this.#open(created);
    return created;
  }

  /** The session with this id, if this principal opened it. `active`: its client is; `anew`: what this node remembers will not do. */
  find(id: string, principal: Principal | undefined, active = false, anew = this.alone): Found {
    const remembered = this.#sessions.get(id);
    const before = remembered?.stored;
    const key = this.#keys.session(id);
    return whenReady(anew ? this.#storage.kv.get(key) : this.#records.read(key, remembered), (stored) => {
      const known = this.#sessions.get(id);
      if (stored === undefined || (this.alone && this.#isOver(known?.activeAt) && known?.busy === false)) {
        if (known !== undefined) this.end(known, "expired");
        return undefined;
      }
      const owner = principal?.key ?? null;
      if (known?.stored.version === stored.version) {
        if ((known.principal?.key ?? null) !== owner) return undefined;
        return active ? this.#use(known) : known;
      }
      // Written or read again meanwhile: `stored` may be outdated, and versions have no order.
      if (known !== undefined && known.stored !== before) return this.find(id, principal, active, anew);
      const record = decodeRecord(stored.value);
      if (record.principal !== owner) return undefined;
      if (known === undefined) {
        this.room.takeForKnown(principal?.key);
        const kept = this.#keep(id, principal, record.session, stored);
        return active ? kept.then((session) => this.#use(session)) : kept;
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

  /** Makes this node's endpoint serve the session as an open peer, because the client reads its GET stream here, unless it has ended. */
  listenHere(session: HttpSession): void {
    if (!session.opened && this.#sessions.get(session.id) === session) this.#open(session);
  }

  /** False if the storage refused it; then this node alone knows. Never rejects. */
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

  /** Ends a session permanently, on every node. Resolves when the storage has forgotten it; rejects if it does not. */
  async delete(session: HttpSession, reason: EndReason): Promise<void> {
    const deleted = this.#storage.kv.delete(this.#keys.session(session.id));
    this.nodes.tell(session.id, { kind: "ended", reason });
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
    const late = this.#state.platform.timer(MAX_ANSWER_MS, end, true);
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
    this.#unread.close();
    this.#idle.close();
    await this.nodes.close(Promise.all(closed));
    this.logs.close();
    this.#records.close();
    await Promise.all(sessions.map((session) => session.stopping));
  }

  /** Records activity. Before the first one here the record names this node; undefined if the session has ended meanwhile. */
  #use(session: HttpSession): Found {
    this.touch(session);
    return this.alone || session.joined ? session : this.saver.joined(session, this.failed);
  }

  /** Restarts the idle time of a session. */
  #watch(session: HttpSession): number {
    const now = this.#state.platform.monotonic();
    if (session.activeAt === undefined) this.#fresh.drop(session);
    session.activeAt = now;
    if (now > this.#idle.armedUntil) this.#idle.arm(now);
    return now;
  }

  /** Asked only if this node sees every request; otherwise the storage expires the session. */
  #isOver(activeAt = Number.POSITIVE_INFINITY): boolean {
    return this.#state.platform.monotonic() - activeAt >= this.#state.times.sessionIdleMs;
  }

  async #keep(id: string, principal: Principal | undefined, session: Session, stored: Versioned): Promise<HttpSession> {
    const created = new HttpSession(this, id, principal, session, stored, this.#state.platform.monotonic());
    const hear = (message: NodeMessage) => this.#heard(created, message);
    const unsubscribe = await this.nodes.subscribe(id, hear, () => this.#unread.read(created));
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

  #heard(session: HttpSession, message: NodeMessage): void {
    if (message.kind === "ended") this.#forget(session, message.reason, true);
    else if (message.kind === "changed") this.#unread.read(session, () => this.#readAgain(session, message.token));
    else if (message.kind === "idle") this.nodes.tell(session.id, this.room.answer(session, message));
    else if (message.kind === "whose") {
      if (session.streams.get(GET_STREAM_ID)?.attached === true)
        this.nodes.tell(session.id, { kind: "taken", stream: GET_STREAM_ID });
    } else {
      session.heard(message);
      if (message.kind !== "taken" || message.stream !== GET_STREAM_ID) return;
      session.unattended = false;
      // The client now reads its GET stream on another node, whose endpoint serves the session.
      if (session.opened) this.#shut(session);
    }
  }

  /** Another node has changed the session. The node that speaks for it confirms that it knows. */
  async #readAgain(session: HttpSession, token: string): Promise<void> {
    const current = await this.find(session.id, session.principal, false, true);
    if (current !== session || !session.opened) return;
    await this.#state.endpoint.sessionChanged?.(session, false);
    this.nodes.tell(session.id, { kind: "read", token });
  }

  /** Messages of other nodes may have been lost: what they were about is read again. */
  async #missed(session: HttpSession): Promise<void> {
    const current = await this.find(session.id, session.principal, false, true);
    if (current !== session) return;
    session.unattended = false;
    for (const stream of session.streams.all) stream.follow();
    if (session.asks) await this.nodes.readAnswers(session);
    if (!session.opened) return;
    this.nodes.tell(session.id, { kind: "whose" });
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

  /** Ends a session on this node; `gone`: it has ended everywhere. Resolves when nothing of it is being stored. */
  #forget(session: HttpSession, reason: EndReason, gone: boolean): Promise<unknown> {
    if (this.#sessions.get(session.id) === session) this.#sessions.delete(session.id);
    this.#fresh.drop(session);
    this.#unread.drop(session);
    const { unsubscribe, ended } = session;
    session.unsubscribe = undefined;
    if (unsubscribe !== undefined) this.#quietly(() => unsubscribe());
    const { closed, streams } = session.stop(reason, gone);
    this.#shares.delete(session);
    if (gone && !ended) this.logs.cleanOwn(session, streams, closed);
    if (session.opened) this.#shut(session);
    return closed;
  }

  async #neverReady(session: HttpSession): Promise<void> {
    const current = await this.find(session.id, session.principal);
    // The client may have become ready on another node.
    if (current === session && isReady(session.session)) this.#watch(session);
    else this.end(session, "expired");
  }

  async #lookIdle(session: HttpSession): Promise<void> {
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
