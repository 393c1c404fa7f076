import { guarded, type MaybePromise, whenReady } from "../../../encoding/maybe-promise.js";
import { DueList } from "../../../platform/due-list.js";
import { type AppendLog, type LogLimits, type Storage, StorageError } from "../../../storage/storage.js";
import type { PlacedSession, SessionQuota } from "../../transport.js";
import type { ServerState } from "../server/state.js";
import type { NodeMessage } from "./nodes/node-talk.js";
import { decodeRecord, type SessionKeys } from "./nodes/records.js";
import type { HttpSession } from "./session.js";
import {
  announcedStreams,
  announceStreams,
  type SessionStreams,
  type SessionStreamsHost,
} from "./streams/session-streams.js";
import type { SessionStream } from "./streams/stream.js";
import { GET_STREAM_ID, type StreamLog } from "./streams/stream-log.js";

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
export class SessionLogs implements SessionStreamsHost {
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
  /** When ended streams were last dropped to make room for a principal. */
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

  /** How long the storage keeps a session: the idle time plus a margin, because activity is recorded late. */
  get lifeMs(): number {
    return this.#state.times.sessionIdleMs * 1.25;
  }

  monotonic(): number {
    return this.#state.platform.monotonic();
  }

  leads(): boolean {
    return this.#node.leads();
  }

  hint(session: string, stream: string): void {
    this.#node.tell(session, { kind: "log", stream });
  }

  lost(session: string, stream: string): void {
    this.#node.tell(session, { kind: "lost", stream });
  }

  storing(by: 1 | -1): void {
    this.#state.stores(by);
  }

  failed(error: unknown): void {
    this.#node.failed(error);
  }

  /** Describes a new session with this id to the quota of sessions. */
  placed(id: string): PlacedSession {
    const exists = (one: string) =>
      whenReady(this.#storage.kv.get(this.keys.session(one)), (stored) => stored !== undefined);
    return { id, lifeMs: this.lifeMs, exists };
  }

  /** Restarts the lifetime of what the storage has of a session. */
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
      streams.free(stream);
    });
  }

  /** Drops what the storage has of a session that has ended, on whatever node it was opened. */
  async clean(session: HttpSession): Promise<void> {
    const { kv, log } = this.#storage;
    const { id } = session;
    await this.#place(session, (quota, place) => quota.free(place, { id, lifeMs: this.lifeMs }));
    const known = this.alone ? [] : await announcedStreams(kv, this.keys.streams(id), id);
    await Promise.all([GET_STREAM_ID, ...known].map((stream) => log.drop(this.keys.log(id, stream))));
    if (this.alone) return;
    await Promise.all([this.keys.streams(id), this.keys.answers(id), this.keys.place(id)].map((key) => kv.delete(key)));
  }

  /** Drops what this node may have written after another one has cleaned up. */
  cleanOwn(session: HttpSession, streams: readonly SessionStream[], closed: Promise<unknown>): void {
    this.#quietly(async () => {
      await closed;
      for (const stream of streams) await this.log.drop(this.keys.log(session.id, stream.id));
      if (streams.some(({ byGet }) => byGet) && !this.alone) await this.#storage.kv.delete(this.keys.place(session.id));
    });
  }

  /** Where the first GET stream continues for a client without `Last-Event-ID`. */
  async resumePoint({ id, streams }: HttpSession): Promise<number> {
    if (this.alone) return streams.get(GET_STREAM_ID)?.position ?? 0;
    const point = await this.#storage.kv.get(this.keys.place(id));
    return Number(point?.value ?? 0);
  }

  close(): void {
    this.late.close();
    this.retries.close();
  }

  /** Whoever fills the logs loses what is kept for resuming, not others: first their ended streams, then new entries. */
  makeRoom(streams: SessionStreams, length: number): void {
    const { maxBytesPerSession, maxBytesPerPrincipal } = this;
    if (streams.stored + length > maxBytesPerSession) {
      streams.tidy(0);
      if (streams.stored + length > maxBytesPerSession) throw noRoom("maxBytesPerSession", maxBytesPerSession);
    }
    const { share } = streams;
    if (share === undefined || share.stored + length <= maxBytesPerPrincipal) return;
    const now = this.monotonic();
    // A principal with many sessions must not have all of them searched for each message.
    if (now - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = now;
      for (const other of share.sessions) other.streams.tidy(0);
    }
    if (share.stored + length > maxBytesPerPrincipal) throw noRoom("maxBytesPerPrincipal", maxBytesPerPrincipal);
  }

  released(session: string, position: number): void {
    const key = this.keys.place(session);
    this.#quietly(() => this.#storage.kv.set(key, String(position), { ttlMs: this.lifeMs }));
  }

  /** Does something about the place of a session, if it has one. */
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
