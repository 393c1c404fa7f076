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
import { type NodeMessage, NodeTalk } from "./node-talk.js";
import { decodeRecord, MAX_NODES, type SessionKeys } from "./records.js";
import { type AnsweredSession, StoredAnswers } from "./stored-answers.js";

/** What a session is to the nodes that serve it. */
interface ServedSession {
  readonly id: string;
  /** True while this node speaks for it. */
  readonly opened: boolean;
  /** True if no node has confirmed that it speaks for it. */
  unattended: boolean;
  settleAsk(message: ResultMessage | ErrorMessage): boolean;
}

/** What the nodes need of the store of sessions. */
interface NodeHost {
  servesAnybody(): boolean;
  failed(error: unknown): void;
}

/** How long the end of a node waits for its storage. */
const CLOSE_MS = 1000;
/** How much of a node's id a session's id begins with. */
const MARK_LENGTH = 8;

/** This node among those that share its storage: its id and lease, what it tells the others, and what it does in their place. */
export class SessionNodes {
  /** True if no other node shares the storage. */
  readonly alone: boolean;
  readonly #state: ServerState;
  readonly #storage: Storage;
  readonly #keys: SessionKeys;
  readonly #host: NodeHost;
  readonly #talk: NodeTalk;
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
    host: NodeHost,
  ) {
    this.alone = alone;
    this.#state = state;
    this.#storage = storage;
    this.#keys = keys;
    this.#host = host;
    const { platform, times, eventLog } = state;
    const failed = (error: unknown) => host.failed(error);
    const self = () => this.id;
    this.#talk = new NodeTalk(platform, alone ? undefined : storage.pubsub, (id) => keys.session(id), self, failed);
    this.#lease = new NodeLease(platform, storage.kv, (node) => keys.lease(node), times.nodeLostMs, {
      get id() {
        return self();
      },
      needsLease: () => host.servesAnybody(),
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

  /** Created on first use, because some runtimes forbid randomness while modules load. */
  get id(): string {
    if (this.#id === "") this.#id = randomName(this.#state.platform, (NODE_ID_LENGTH / 4) * 3);
    return this.#id;
  }

  /** The nodes that the record of a new session names. */
  get own(): readonly string[] | undefined {
    return this.alone ? undefined : [this.id];
  }

  /** The id of a new session. Begins with a mark of this node, so that another one can tell where it comes from. */
  newSessionId(): string {
    const start = this.id.slice(0, MARK_LENGTH) + randomName(this.#state.platform, 15);
    return start + this.#sumOf(start);
  }

  /** Four characters that tell an id of a session from any other text. */
  #sumOf(start: string): string {
    const bytes = new TextEncoder().encode(`parley session ${start}`);
    return toBase64Url(this.#state.platform.sha256(bytes).subarray(0, 3));
  }

  /** What to change if an unknown session is probably in the memory of another process; the operator is told once. */
  fixForUnknown(session: string): string | undefined {
    if (!(this.#storage.kv instanceof MemoryKeyValue)) return undefined;
    if (session.length !== 32 || session.slice(28) !== this.#sumOf(session.slice(0, 28))) return undefined;
    if (session.startsWith(this.id.slice(0, MARK_LENGTH))) return undefined;
    const fix = "Give all processes of this server one `storage`, for example of Redis.";
    if (!this.#warned) {
      const what = "A request belongs to a session that another process has in its memory, or that ended with it.";
      this.#state.platform.warn(`${what} ${fix}`);
    }
    this.#warned = true;
    return fix;
  }

  /** `gap`: messages of other nodes may have been lost. */
  subscribe(
    session: string,
    hear: (message: NodeMessage) => void,
    gap: () => void,
  ): MaybePromise<Unsubscribe | undefined> {
    if (!this.alone) this.#lease.hold();
    return this.#talk.subscribe(session, hear, gap);
  }

  tell(session: string, message: NodeMessage): void {
    if (!this.alone) this.#talk.tell(session, message);
  }

  /**
   * Deletes the record of a session, unless another node runs something of it or has served it within `forMs`. Each node that the
   * record names must answer or be gone, and none may begin to serve it meanwhile. Rejects if the others cannot be asked.
   */
  async deleteUnused(session: string, forMs: number): Promise<boolean> {
    const { kv } = this.#storage;
    const key = this.#keys.session(session);
    const stored = await kv.get(key);
    const { nodes = [] } = stored === undefined ? {} : decodeRecord(stored.value);
    if (stored === undefined || nodes.length >= MAX_NODES) return false;
    const others = nodes.filter((node) => node !== this.id);
    const silent = await this.#talk.unanswered(session, forMs, others);
    if (silent === undefined) return false;
    for (const node of silent) if (await this.#lease.isHeldBy(node)) return false;
    return kv.delete(key, { ifVersion: stored.version });
  }

  /** Tells of a change of a session. A client may rely on it once the node that speaks for the session knows of it. */
  async announce(session: ServedSession): Promise<void> {
    if (this.alone) return;
    const confirmed = this.#talk.confirm(session.id);
    // Without anybody who speaks for the session, nobody could confirm it.
    if (!session.opened && !session.unattended) session.unattended = !(await confirmed);
  }

  /** Keeps an answer until the node that waits for it has read it. Throws or rejects if that fails. */
  async passAnswer(session: AnsweredSession, message: ResultMessage | ErrorMessage): Promise<void> {
    if (this.alone) return;
    try {
      await this.#answers.add(session, message);
    } catch (error) {
      // Where there is no room to keep it, the message alone must do: sending it again would not make room.
      if (!(error instanceof StorageError)) throw error;
      this.failed(error);
    }
    await this.#talk.send(session.id, { kind: "answer", message });
  }

  /** Reads answers whose messages may have been lost. */
  async readAnswers(session: ServedSession): Promise<void> {
    for (const answer of await this.#answers.of(session.id)) session.settleAsk(answer);
  }

  /** A client reads a stream here. If the node that writes it is gone, or is this one and has given it up, the stream ends. */
  followed(session: ServedSession, stream: SessionStream): void {
    if (this.alone || stream.soleWriter) return;
    const { id } = stream;
    void this.#orphans.check({
      stream,
      log: this.#keys.log(session.id, id),
      hint: () => this.tell(session.id, { kind: "log", stream: id }),
      abandoned: nodeOf(id) === this.id,
    });
  }

  /** Whether another node that is alive may write to a stream that has nothing stored yet. */
  async willWrite(stream: string): Promise<boolean> {
    const node = nodeOf(stream);
    return !this.alone && node !== undefined && node !== this.id && this.#lease.isHeldBy(node);
  }

  /** False if other nodes may take this one for gone. */
  leads(): boolean {
    if (this.alone) return true;
    this.#lease.hold();
    return this.#lease.held;
  }

  failed(error: unknown): void {
    this.#host.failed(error);
  }

  /** Says that this node is gone, once `stored` is done. A storage that does not answer does not keep it from ending. */
  async close(stored: Promise<unknown>): Promise<void> {
    this.#talk.close();
    this.#orphans.close();
    if (this.alone) return;
    const work = stored.then(() => this.#lease.release()).catch((error) => this.failed(error));
    await atMost(this.#state.platform, CLOSE_MS, work, true);
    this.#lease.stop();
  }
}
