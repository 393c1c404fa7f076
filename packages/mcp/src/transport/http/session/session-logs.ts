import { guarded, type MaybePromise, whenReady } from "../../../encoding/maybe-promise.js";
import { KeyCounts } from "../../../platform/key-counts.js";
import { type LogLimits, type Storage, StorageError } from "../../../storage/storage.js";
import type { PlacedSession, SessionQuota } from "../../transport.js";
import { DueList } from "../server/due-list.js";
import type { ServerState } from "../server/state.js";
import type { EntryQueue } from "./entry-queue.js";
import type { LoggedStream, StreamStorage } from "./logged-stream.js";
import type { NodeMessage } from "./nodes/node-messages.js";
import { announcedStreams, announceStreams, nodeOf, StreamNumbers } from "./nodes/session-streams.js";
import type { PrincipalShares } from "./principal-shares.js";
import { decodeRecord, type SessionKeys } from "./records.js";
import type { HttpSession } from "./session.js";
import { GET_STREAM_ID } from "./stream-set.js";
import { UnreadMessages } from "./unread-messages.js";

/** What the logs need of their node. */
interface LogNode {
  readonly id: string;
  /** True if no other node shares the storage. */
  readonly alone: boolean;
  /** False if other nodes may take this one for gone. */
  leads(): boolean;
  tell(session: string, message: NodeMessage): void;
  failed(error: unknown): void;
}

/** How long a client waits for the storage before it gets an event that is not stored. */
const PATIENCE_MS = 250;
/** How long to wait before a storage that failed is tried again. */
const RETRY_MS = 1000;
/** How often the ended streams of a principal are dropped to make room. */
const SWEEP_MS = 1000;

/** How much a stream keeps, and for how long. */
export function logLimits({ eventLog, times }: ServerState): LogLimits {
  return {
    maxEntries: eventLog.maxEvents,
    maxBytes: eventLog.maxBytes,
    maxAgeMs: times.eventAgeMs,
    ttlMs: Math.max(times.eventAgeMs, times.sessionIdleMs) * 2,
  };
}

/** The logs of the streams of all sessions of a node. */
export class SessionLogs {
  readonly limits: LogLimits;
  readonly #state: ServerState;
  readonly #storage: Storage;
  readonly #keys: SessionKeys;
  readonly #node: LogNode;
  readonly #shares: PrincipalShares;
  /** When ended streams were last dropped to make room for a principal. */
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** By principal, characters of messages that its sessions have not read. */
  readonly #unread = new KeyCounts();
  readonly #late: DueList<EntryQueue>;
  readonly #retries: DueList<EntryQueue>;

  constructor(state: ServerState, storage: Storage, keys: SessionKeys, node: LogNode, shares: PrincipalShares) {
    this.#shares = shares;
    this.#state = state;
    this.#storage = storage;
    this.#keys = keys;
    this.#node = node;
    const { platform } = state;
    this.#late = new DueList(platform, PATIENCE_MS, (queue) => queue.overdue());
    this.#retries = new DueList(platform, RETRY_MS, (queue) => queue.retry());
    this.limits = logLimits(state);
  }

  /** How long the storage keeps a session: the idle time plus a margin, because activity is recorded late. */
  get lifeMs(): number {
    return this.#state.times.sessionIdleMs * 1.25;
  }

  /** What a new session with this id is to the quota of sessions. */
  placed(id: string): PlacedSession {
    const exists = (one: string) =>
      whenReady(this.#storage.kv.get(this.#keys.session(one)), (stored) => stored !== undefined);
    return { id, lifeMs: this.lifeMs, exists };
  }

  /** Restarts the lifetime of what the storage has of a session. */
  extend(session: HttpSession): void {
    const { kv } = this.#storage;
    this.#quietly(() => kv.touch(this.#keys.session(session.id), this.lifeMs));
    if (!this.#node.alone) this.#quietly(() => kv.touch(this.#keys.streams(session.id), this.lifeMs));
    this.#quietly(() => this.#place(session, (quota, place) => quota.keep(place, this.lifeMs)));
  }

  /** The storage of one session's streams. */
  of(session: HttpSession): StreamStorage {
    const node = this.#node;
    const state = this.#state;
    return {
      log: this.#storage.log,
      limits: this.limits,
      late: this.#late,
      retries: this.#retries,
      primes: session.primes,
      alone: node.alone,
      node: node.id,
      monotonic: () => state.platform.monotonic(),
      checkRoom: (length) => this.#checkRoom(session, length),
      keep: (length) => this.#keep(session, length),
      storing: (by) => state.stores(by),
      logName: (stream) => this.#keys.log(session.id, stream),
      hint: (stream) => node.tell(session.id, { kind: "log", stream }),
      lost: (stream) => node.tell(session.id, { kind: "lost", stream }),
      leads: () => node.leads(),
      ended: () => session.tidy(),
      released: (stream) => this.#released(session, stream),
      failed: (error) => node.failed(error),
    };
  }

  /** The id of a new stream of this node. */
  newId(session: HttpSession): string {
    session.numbers ??= new StreamNumbers();
    const { id, alone } = this.#node;
    return session.numbers.take(id, session.id, (bound) => {
      if (alone) return;
      this.#quietly(() => announceStreams(this.#storage.kv, this.#keys.streams(session.id), id, bound, this.lifeMs));
    });
  }

  /** Where messages of a session wait for its first GET stream. */
  unreadOf({ principal }: HttpSession): UnreadMessages {
    const share = principal === undefined ? undefined : { key: principal.key, lengths: this.#unread };
    return new UnreadMessages(this.#state.eventLog, share);
  }

  /** Drops the log of a stream that nobody can resume any more. */
  drop(session: HttpSession, stream: LoggedStream): void {
    this.#quietly(async () => {
      await stream.close(true);
      await this.#storage.log.drop(this.#keys.log(session.id, stream.id));
      if (nodeOf(stream.id) === this.#node.id) session.numbers?.free(stream.id);
    });
  }

  /** Drops what the storage has of a session that has ended, on whatever node it was opened. */
  async clean(session: HttpSession): Promise<void> {
    const { kv, log } = this.#storage;
    const { id } = session;
    await this.#place(session, (quota, place) => quota.free(place, { id, lifeMs: this.lifeMs }));
    const known = this.#node.alone ? [] : await announcedStreams(kv, this.#keys.streams(id), id);
    await Promise.all([GET_STREAM_ID, ...known].map((stream) => log.drop(this.#keys.log(id, stream))));
    if (this.#node.alone) return;
    await Promise.all(
      [this.#keys.streams(id), this.#keys.answers(id), this.#keys.place(id)].map((key) => kv.delete(key)),
    );
  }

  /** Drops what this node may have written after another one has cleaned up. */
  cleanOwn(session: HttpSession, streams: readonly LoggedStream[], closed: Promise<unknown>): void {
    this.#quietly(async () => {
      await closed;
      for (const stream of streams) await this.#storage.log.drop(this.#keys.log(session.id, stream.id));
      if (streams.some(({ byGet }) => byGet) && !this.#node.alone)
        await this.#storage.kv.delete(this.#keys.place(session.id));
    });
  }

  /** Where the first GET stream continues for a client without `Last-Event-ID`. */
  async resumePoint(session: HttpSession): Promise<number> {
    if (this.#node.alone) return session.stream(GET_STREAM_ID, false).position;
    const point = await this.#storage.kv.get(this.#keys.place(session.id));
    return Number(point?.value ?? 0);
  }

  close(): void {
    this.#late.close();
    this.#retries.close();
  }

  #keep(session: HttpSession, length: number): void {
    session.kept += length;
    this.#shares.keep(session, length);
  }

  /** Whoever fills the logs loses what is kept for resuming, not others: first their ended streams, then new entries. */
  #checkRoom(session: HttpSession, length: number): void {
    const { maxBytesPerSession, maxBytesPerPrincipal } = this.#state.eventLog;
    if (session.kept + length > maxBytesPerSession) {
      session.tidy(0);
      if (session.kept + length > maxBytesPerSession) throw noRoom("maxBytesPerSession", maxBytesPerSession);
    }
    if (this.#shares.kept(session) + length <= maxBytesPerPrincipal) return;
    const now = this.#state.platform.monotonic();
    // A principal with many sessions must not have all of them searched for each message.
    if (now - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = now;
      for (const other of [...this.#shares.of(session)]) other.tidy(0);
    }
    if (this.#shares.kept(session) + length > maxBytesPerPrincipal) {
      throw noRoom("maxBytesPerPrincipal", maxBytesPerPrincipal);
    }
  }

  /** Does something about the place of a session, if it has one. */
  #place(session: HttpSession, act: (quota: SessionQuota, place: string) => MaybePromise<unknown>): unknown {
    const { sessionPlaces } = this.#state.endpoint;
    const place = sessionPlaces && decodeRecord(session.stored.value).place;
    return sessionPlaces === undefined || place === undefined ? undefined : act(sessionPlaces, place);
  }

  #released(session: HttpSession, stream: LoggedStream): void {
    if (this.#node.alone || stream.id !== GET_STREAM_ID || session.gone) return;
    const key = this.#keys.place(session.id);
    this.#quietly(() => this.#storage.kv.set(key, String(stream.position), { ttlMs: this.lifeMs }));
  }

  #quietly(run: () => MaybePromise<unknown>): void {
    guarded(run, (error) => this.#node.failed(error));
  }
}

function noRoom(limit: string, maximum: number): StorageError {
  return new StorageError(`eventLog.${limit}`, maximum, "Raise it, or let clients read their streams.");
}
