import { randomName, toBase64Url } from "../../../../encoding/base64.js";
import type { MaybePromise } from "../../../../encoding/maybe-promise.js";
import type { ErrorMessage, ResultMessage } from "../../../../jsonrpc/message.js";
import { atMost } from "../../../../platform/pause.js";
import { MemoryKeyValue } from "../../../../storage/memory-key-value.js";
import { type LogLimits, type Storage, StorageError, type Unsubscribe } from "../../../../storage/storage.js";
import type { ServerState } from "../../server/state.js";
import type { SessionStream } from "../streams/stream.js";
import { NODE_ID_LENGTH, nodeOf } from "../streams/stream-log.js";
import { NodeLease, OrphanedStreams } from "./node-lease.js";
import { type NodeMessage, NodeMessenger } from "./node-messenger.js";
import { decodeRecord, MAX_NODES, type SessionKeys } from "./records.js";
import { type AnsweredSession, StoredAnswers } from "./stored-answers.js";

/** A session, as the nodes that serve it see it. */
interface ServedSession {
  readonly id: string;
  /** True while the endpoint of this node serves the session as an open peer. */
  readonly opened: boolean;
  /** True if no node has confirmed that it serves the session. */
  unattended: boolean;
  settleAsk(message: ResultMessage | ErrorMessage): boolean;
}

/** The functions of the session store that `SessionNodes` calls. */
interface NodeCallbacks {
  hasSessions(): boolean;
  failed(error: unknown): void;
}

/** Time that closing a node waits for its storage. */
const CLOSE_MS = 1000;
/** Length of the prefix of the node id at the start of each session id. */
const MARK_LENGTH = 8;

/**
 * Represents this node among those that share its storage: its id and lease, its messages to the other nodes, and the
 * work that it does in place of lost nodes.
 */
export class SessionNodes {
  /** True if no other node shares the storage. */
  readonly alone: boolean;
  readonly #state: ServerState;
  readonly #storage: Storage;
  readonly #keys: SessionKeys;
  readonly #callbacks: NodeCallbacks;
  readonly #messenger: NodeMessenger;
  readonly #lease: NodeLease;
  readonly #orphans: OrphanedStreams;
  readonly #answers: StoredAnswers;
  #id = "";
  #warned = false;

  constructor(
    state: ServerState,
    storage: Storage,
    keys: SessionKeys,
    alone: boolean,
    limits: LogLimits,
    callbacks: NodeCallbacks,
  ) {
    this.alone = alone;
    this.#state = state;
    this.#storage = storage;
    this.#keys = keys;
    this.#callbacks = callbacks;
    const { platform, times, eventLog } = state;
    const failed = (error: unknown) => callbacks.failed(error);
    const self = () => this.id;
    this.#messenger = new NodeMessenger(
      platform,
      alone ? undefined : storage.pubsub,
      (id) => keys.session(id),
      self,
      failed,
    );
    this.#lease = new NodeLease(platform, storage.kv, (node) => keys.lease(node), times.nodeLostMs, {
      get id() {
        return self();
      },
      needsLease: () => callbacks.hasSessions(),
      failed,
    });
    const logs = { log: storage.log, limits };
    this.#orphans = new OrphanedStreams(platform, this.#lease, times.nodeLostMs, logs, failed);
    this.#answers = new StoredAnswers(
      storage.kv,
      (id) => keys.answers(id),
      eventLog,
      times.eventAgeMs,
      () => platform.monotonic(),
    );
  }

  /** The id of this node. Created on first use, because some runtimes forbid randomness while modules load. */
  get id(): string {
    if (this.#id === "") this.#id = randomName(this.#state.platform, (NODE_ID_LENGTH / 4) * 3);
    return this.#id;
  }

  /** The nodes that the record of a new session names. */
  get own(): readonly string[] | undefined {
    return this.alone ? undefined : [this.id];
  }

  /** Creates the id of a session. It begins with a mark of this node, so that other nodes can recognize its origin. */
  newSessionId(): string {
    const start = this.id.slice(0, MARK_LENGTH) + randomName(this.#state.platform, 15);
    return start + this.#sumOf(start);
  }

  /** A checksum of four characters that shows that a text is a session id of this library. */
  #sumOf(start: string): string {
    const bytes = new TextEncoder().encode(`parley session ${start}`);
    return toBase64Url(this.#state.platform.sha256(bytes).subarray(0, 3));
  }

  /** Returns a fix if an unknown session is probably in the memory of another process. Warns the operator once. */
  fixForUnknown(session: string): string | undefined {
    if (!(this.#storage.kv instanceof MemoryKeyValue)) return undefined;
    if (session.length !== 32 || session.slice(28) !== this.#sumOf(session.slice(0, 28))) return undefined;
    if (session.startsWith(this.id.slice(0, MARK_LENGTH))) return undefined;
    const fix = "Pass the same `storage` to all processes of this server, for example Redis.";
    if (!this.#warned) {
      const what = "A request names a session that another process has in its memory, or had before a restart.";
      this.#state.platform.warn(`${what} ${fix}`);
    }
    this.#warned = true;
    return fix;
  }

  /** Subscribes to the messages about a session. `onGap` is called when messages may have been lost. */
  subscribe(
    session: string,
    onMessage: (message: NodeMessage) => void,
    onGap: () => void,
  ): MaybePromise<Unsubscribe | undefined> {
    if (!this.alone) this.#lease.hold();
    return this.#messenger.subscribe(session, onMessage, onGap);
  }

  /** Sends a message to the other nodes. The message may be lost. */
  notify(session: string, message: NodeMessage): void {
    if (!this.alone) this.#messenger.notify(session, message);
  }

  /**
   * Deletes the record of a session, unless another node uses the session. A node uses the session if it runs a request
   * or stream of it, or has served it within `forMs`. A node that the record names and that does not reply counts as
   * using the session while it has a lease. If a node begins to serve the session meanwhile, the record has a new
   * version and is not deleted. Resolves with true if the record was deleted. Rejects if the storage fails.
   */
  async deleteUnused(session: string, forMs: number): Promise<boolean> {
    const { kv } = this.#storage;
    const key = this.#keys.session(session);
    const stored = await kv.get(key);
    const { nodes = [] } = stored === undefined ? {} : decodeRecord(stored.value);
    if (stored === undefined || nodes.length >= MAX_NODES) return false;
    const others = nodes.filter((node) => node !== this.id);
    const silent = await this.#messenger.silentNodes(session, forMs, others);
    if (silent === undefined) return false;
    for (const node of silent) if (await this.#lease.isHeldBy(node)) return false;
    return kv.delete(key, { ifVersion: stored.version });
  }

  /**
   * Announces a change of a session. Waits until the node whose endpoint serves the session has read the change, so
   * that the client can rely on it.
   */
  async announce(session: ServedSession): Promise<void> {
    if (this.alone) return;
    const confirmed = this.#messenger.confirm(session.id);
    // If no node serves the session, none can confirm the change. Further changes then do not wait for a confirmation.
    if (!session.opened && !session.unattended) session.unattended = !(await confirmed);
  }

  /**
   * Stores an answer for the node that waits for it, and notifies that node. Rejects if the storage fails, but not if
   * it is only full.
   */
  async passAnswer(session: AnsweredSession, message: ResultMessage | ErrorMessage): Promise<void> {
    if (this.alone) return;
    try {
      await this.#answers.add(session, message);
    } catch (error) {
      // If the storage is full, only send the message. A retry by the client would not make room.
      if (!(error instanceof StorageError)) throw error;
      this.failed(error);
    }
    await this.#messenger.send(session.id, { kind: "answer", message });
  }

  /** Settles the requests whose answers are stored, because the messages with these answers may have been lost. */
  async readAnswers(session: ServedSession): Promise<void> {
    for (const answer of await this.#answers.read(session.id)) session.settleAsk(answer);
  }

  /**
   * Watches the node that writes a stream which a client reads here. Ends the stream if that node is gone. Also ends it
   * if this node opened the stream but no longer runs its requests.
   */
  watchWriter(session: ServedSession, stream: SessionStream): void {
    if (this.alone || stream.soleWriter) return;
    const { id } = stream;
    void this.#orphans.check({
      stream,
      log: this.#keys.log(session.id, id),
      notifyNewEntries: () => this.notify(session.id, { kind: "log", stream: id }),
      abandoned: nodeOf(id) === this.id,
    });
  }

  /** True if another live node may still write to a stream without stored entries. */
  async willWrite(stream: string): Promise<boolean> {
    const node = nodeOf(stream);
    return !this.alone && node !== undefined && node !== this.id && this.#lease.isHeldBy(node);
  }

  /** False if other nodes may treat this node as gone. */
  holdsLease(): boolean {
    if (this.alone) return true;
    this.#lease.hold();
    return this.#lease.held;
  }

  failed(error: unknown): void {
    this.#callbacks.failed(error);
  }

  /** Releases the lease of this node when `stored` resolves. Waits for the storage for a limited time. */
  async close(stored: Promise<unknown>): Promise<void> {
    this.#messenger.close();
    this.#orphans.close();
    if (this.alone) return;
    const work = stored.then(() => this.#lease.release()).catch((error) => this.failed(error));
    await atMost(this.#state.platform, CLOSE_MS, work, true);
    this.#lease.stop();
  }
}
