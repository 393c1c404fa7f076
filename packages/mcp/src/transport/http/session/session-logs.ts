import { guarded, type MaybePromise, whenReady } from "../../../encoding/maybe-promise.js";
import { DueList } from "../../../platform/due-list.js";
import { type AppendLog, type LogLimits, type Storage, StorageError } from "../../../storage/storage.js";
import type { PlacedSession, SessionQuota } from "../../transport.js";
import type { ServerState } from "../server/state.js";
import type { NodeMessage } from "./nodes/node-messenger.js";
import { decodeRecord, type SessionKeys } from "./nodes/records.js";
import type { HttpSession } from "./session.js";
import {
  announcedStreams,
  announceStreams,
  type SessionStreamServices,
  type SessionStreams,
} from "./streams/session-streams.js";
import type { SessionStream } from "./streams/stream.js";
import { GET_STREAM_ID, type StreamLog } from "./streams/stream-log.js";

/** The parts of a node that the logs use. */
interface LogNode {
  readonly id: string;
  /** True if no other node shares the storage. */
  readonly alone: boolean;
  /** False if other nodes may treat this node as gone. */
  holdsLease(): boolean;
  notify(session: string, message: NodeMessage): void;
  failed(error: unknown): void;
}

/**
 * Time that an event waits for the storage. After that, the client receives the event although it is not stored yet.
 */
const PATIENCE_MS = 250;
/** Time to wait before trying a failed storage again. */
const RETRY_MS = 1000;
/** Minimum time between two sweeps of ended streams, for all principals together. */
const SWEEP_MS = 1000;

/** The limits for the log of one stream. */
export function logLimits({ eventLog, times }: ServerState): LogLimits {
  return {
    maxEntries: eventLog.maxEvents,
    maxBytes: eventLog.maxBytes,
    maxAgeMs: times.eventAgeMs,
    ttlMs: Math.max(times.eventAgeMs, times.sessionIdleMs) * 2,
  };
}

/** The logs of the streams of all sessions of a node. */
export class SessionLogs implements SessionStreamServices {
  readonly log: AppendLog;
  readonly limits: LogLimits;
  readonly alone: boolean;
  readonly maxBytesPerSession: number;
  readonly maxBytesPerPrincipal: number;
  readonly maxEndedStreams: number;
  readonly late: DueList<StreamLog>;
  readonly retries: DueList<StreamLog>;
  readonly #state: ServerState;
  readonly #storage: Storage;
  readonly keys: SessionKeys;
  readonly #node: LogNode;
  /** Time of the last sweep of the ended streams of any principal. */
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(state: ServerState, storage: Storage, keys: SessionKeys, node: LogNode) {
    this.#state = state;
    this.#storage = storage;
    this.keys = keys;
    this.#node = node;
    const { platform, eventLog } = state;
    this.log = storage.log;
    this.limits = logLimits(state);
    this.alone = node.alone;
    this.maxBytesPerSession = eventLog.maxBytesPerSession;
    this.maxBytesPerPrincipal = eventLog.maxBytesPerPrincipal;
    this.maxEndedStreams = eventLog.maxEndedStreams;
    this.late = new DueList(platform, PATIENCE_MS, (log) => log.overdue());
    this.retries = new DueList(platform, RETRY_MS, (log) => log.retry());
  }

  /** Lifetime of a session in the storage: the idle time plus a margin, because activity is recorded late. */
  get lifeMs(): number {
    return this.#state.times.sessionIdleMs * 1.25;
  }

  monotonic(): number {
    return this.#state.platform.monotonic();
  }

  holdsLease(): boolean {
    return this.#node.holdsLease();
  }

  notifyNewEntries(session: string, stream: string): void {
    this.#node.notify(session, { kind: "log", stream });
  }

  notifyLostEntries(session: string, stream: string): void {
    this.#node.notify(session, { kind: "lost", stream });
  }

  countStoring(by: 1 | -1): void {
    this.#state.countStoring(by);
  }

  failed(error: unknown): void {
    this.#node.failed(error);
  }

  /** Describes a new session with this id for the quota of sessions. */
  describeForQuota(id: string): PlacedSession {
    const exists = (one: string) =>
      whenReady(this.#storage.kv.get(this.keys.session(one)), (stored) => stored !== undefined);
    return { id, lifeMs: this.lifeMs, exists };
  }

  /** Restarts the lifetime of the stored data of a session. */
  extend(session: HttpSession): void {
    const { kv } = this.#storage;
    this.#quietly(() => kv.touch(this.keys.session(session.id), this.lifeMs));
    if (!this.alone) this.#quietly(() => kv.touch(this.keys.streams(session.id), this.lifeMs));
    this.#quietly(() => this.#place(session, (quota, place) => quota.keep(place, this.lifeMs)));
  }

  announce(session: string, bound: number): void {
    const { id } = this.#node;
    this.#quietly(() => announceStreams(this.#storage.kv, this.keys.streams(session), id, bound, this.lifeMs));
  }

  drop(streams: SessionStreams, stream: SessionStream): void {
    this.#quietly(async () => {
      await stream.close(true);
      await this.log.drop(this.keys.log(streams.sessionId, stream.id));
      streams.freeNumber(stream);
    });
  }

  /** Drops the stored data of a session that has ended, including streams that other nodes opened. */
  async clean(session: HttpSession): Promise<void> {
    const { kv, log } = this.#storage;
    const { id } = session;
    await this.#place(session, (quota, place) => quota.free(place, { id, lifeMs: this.lifeMs }));
    const known = this.alone ? [] : await announcedStreams(kv, this.keys.streams(id), id);
    await Promise.all([GET_STREAM_ID, ...known].map((stream) => log.drop(this.keys.log(id, stream))));
    if (this.alone) return;
    await Promise.all(
      [this.keys.streams(id), this.keys.answers(id), this.keys.position(id)].map((key) => kv.delete(key)),
    );
  }

  /** Drops entries that this node may have written after another node dropped the data of the session. */
  cleanOwn(session: HttpSession, streams: readonly SessionStream[], closed: Promise<unknown>): void {
    this.#quietly(async () => {
      await closed;
      for (const stream of streams) await this.log.drop(this.keys.log(session.id, stream.id));
      if (streams.some(({ byGet }) => byGet) && !this.alone)
        await this.#storage.kv.delete(this.keys.position(session.id));
    });
  }

  /** Returns the position at which the first GET stream continues for a client without `Last-Event-ID`. */
  async resumePoint({ id, streams }: HttpSession): Promise<number> {
    if (this.alone) return streams.get(GET_STREAM_ID)?.position ?? 0;
    const point = await this.#storage.kv.get(this.keys.position(id));
    return Number(point?.value ?? 0);
  }

  close(): void {
    this.late.close();
    this.retries.close();
  }

  /**
   * Makes room for new entries within the limits of the session and its principal: drops their ended streams. Throws a
   * `StorageError` if that is not enough. Data of other principals is not affected.
   */
  makeRoom(streams: SessionStreams, length: number): void {
    const { maxBytesPerSession, maxBytesPerPrincipal } = this;
    if (streams.stored + length > maxBytesPerSession) {
      streams.dropOldest(0);
      if (streams.stored + length > maxBytesPerSession) throw noRoom("maxBytesPerSession", maxBytesPerSession);
    }
    const { share } = streams;
    if (share === undefined || share.stored + length <= maxBytesPerPrincipal) return;
    const now = this.monotonic();
    // A principal with many sessions must not cause a search of all its sessions for each message.
    if (now - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = now;
      for (const other of share.sessions) other.streams.dropOldest(0);
    }
    if (share.stored + length > maxBytesPerPrincipal) throw noRoom("maxBytesPerPrincipal", maxBytesPerPrincipal);
  }

  storePosition(session: string, position: number): void {
    const key = this.keys.position(session);
    this.#quietly(() => this.#storage.kv.set(key, String(position), { ttlMs: this.lifeMs }));
  }

  /** Calls `act` with the quota place of a session, if it has one. */
  #place(session: HttpSession, act: (quota: SessionQuota, place: string) => MaybePromise<unknown>): unknown {
    const { sessionPlaces } = this.#state.endpoint;
    const place = sessionPlaces && decodeRecord(session.stored.value).place;
    return sessionPlaces === undefined || place === undefined ? undefined : act(sessionPlaces, place);
  }

  #quietly(run: () => MaybePromise<unknown>): void {
    guarded(run, (error) => this.#node.failed(error));
  }
}

function noRoom(limit: string, maximum: number): StorageError {
  return new StorageError(`eventLog.${limit}`, maximum, "Raise it, or let clients read their streams.");
}
