import { guarded } from "../../../../encoding/maybe-promise.js";
import { INTERNAL_ERROR } from "../../../../jsonrpc/error.js";
import { errorText, type Id } from "../../../../jsonrpc/message.js";
import { DueList } from "../../../../platform/due-list.js";
import type { Platform, Timer } from "../../../../platform/platform.js";
import type { AppendLog, KeyValue, LogLimits } from "../../../../storage/storage.js";
import type { SessionStream } from "../streams/stream.js";
import { decodeEntry, lastEntry, nodeOf, unansweredAfter } from "../streams/stream-log.js";

/** The node that holds a lease. */
interface LeaseHolder {
  readonly id: string;
  /** True while the node serves a session. */
  needsLease(): boolean;
  failed(error: unknown): void;
}

/**
 * The lease of a node: a key that expires unless the node renews it. If a node has no lease, other nodes end its
 * streams by appending an entry to the log of each stream. A node that failed to renew its lease must therefore read
 * the logs before it writes to a client.
 */
export class NodeLease {
  readonly #platform: Platform;
  readonly #kv: KeyValue;
  readonly #key: (node: string) => string;
  readonly #leaseMs: number;
  readonly #holder: LeaseHolder;
  #timer: Timer | undefined;
  #dueAt = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(platform: Platform, kv: KeyValue, key: (node: string) => string, leaseMs: number, holder: LeaseHolder) {
    this.#platform = platform;
    this.#kv = kv;
    this.#key = key;
    this.#leaseMs = leaseMs;
    this.#holder = holder;
  }

  /** Acquires the lease and renews it while the node serves a session. */
  hold(): void {
    // Some runtimes drop the timers of a request when the request ends. A timer that is long overdue will never fire,
    // so the lease is renewed here.
    if (this.#closed || (this.#timer !== undefined && this.#platform.monotonic() < this.#dueAt + this.#leaseMs)) return;
    this.#renew();
  }

  /** False if the lease may have expired, so that other nodes may treat this node as gone. */
  get held(): boolean {
    return this.#platform.monotonic() - this.#renewedAt < this.#leaseMs * 0.9;
  }

  /** True if the storage has a lease of `node`. */
  async isHeldBy(node: string): Promise<boolean> {
    return (await this.#kv.get(this.#key(node))) !== undefined;
  }

  /** Stops renewing the lease. */
  stop(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Deletes the lease, so that other nodes need not wait for it to expire. */
  async release(): Promise<void> {
    const isHeld = this.#timer !== undefined;
    this.stop();
    if (isHeld) await this.#kv.delete(this.#key(this.#holder.id));
  }

  #renew(): void {
    const now = this.#platform.monotonic();
    const wait = this.#leaseMs / 4;
    this.#timer?.cancel();
    this.#dueAt = now + wait;
    this.#timer = this.#platform.timer(wait, () => {
      this.#timer = undefined;
      if (this.#holder.needsLease()) this.#renew();
    });
    guarded(
      async () => {
        await this.#kv.set(this.#key(this.#holder.id), "1", { ttlMs: this.#leaseMs });
        this.#renewedAt = now;
      },
      (error) => this.#holder.failed(error),
    );
  }
}

/** A stream that a client reads on this node, and whose requests another node runs. */
interface FollowedStream {
  readonly stream: SessionStream;
  readonly log: string;
  /** True if this node opened the stream but no longer runs its requests. */
  readonly abandoned: boolean;
  /** Notifies the other nodes that the log has a new entry. */
  notifyNewEntries(): void;
}

/** Maximum number of entries in one read. */
const PAGE_SIZE = 64;

/**
 * Ends the streams of nodes that are gone, so that a client that resumes a call of such a node learns that the call is
 * lost. Several nodes may end the same stream at the same time, and the lost node may come back. Readers stop at the
 * first entry that ends a stream, so later entries have no effect.
 */
export class OrphanedStreams {
  readonly #lease: NodeLease;
  readonly #storage: { readonly log: AppendLog; readonly limits: LogLimits };
  readonly #failed: (error: unknown) => void;
  readonly #checks: DueList<FollowedStream>;

  constructor(
    platform: Platform,
    lease: NodeLease,
    leaseMs: number,
    storage: { readonly log: AppendLog; readonly limits: LogLimits },
    failed: (error: unknown) => void,
  ) {
    this.#lease = lease;
    this.#storage = storage;
    this.#failed = failed;
    this.#checks = new DueList(platform, leaseMs / 2, (followed) => void this.check(followed));
  }

  /**
   * Checks whether the node that runs the requests of a stream is alive, and repeats the check while a client reads the
   * stream. Never rejects.
   */
  async check(followed: FollowedStream): Promise<void> {
    const { stream } = followed;
    const node = nodeOf(stream.id);
    if (node === undefined || !stream.attached || stream.ended) return;
    try {
      // Stored in the stream, because this node answers these requests if the session ends.
      stream.unanswered ??= await this.#unanswered(followed.log);
      if (followed.abandoned || !(await this.#lease.isHeldBy(node))) await this.#end(followed);
    } catch (error) {
      this.#failed(error);
    }
    if (stream.attached) this.#checks.touch(followed);
  }

  close(): void {
    this.#checks.close();
  }

  async #end({ stream, log, notifyNewEntries }: FollowedStream): Promise<void> {
    const unanswered = await this.#unanswered(log);
    if (unanswered === undefined) return stream.follow();
    const answers = unanswered.map(lostAnswer);
    // Only revisions with batches have several requests in one stream.
    const text = answers.length > 1 ? `[${answers.join(",")}]` : answers[0];
    await this.#storage.log.append(log, lastEntry(text).stored, this.#storage.limits);
    stream.follow();
    notifyNewEntries();
  }

  /**
   * Returns the requests of a stream that have no answer in its log. Returns undefined if the stream has ended. If the
   * start of the log is gone, the list may lack requests.
   */
  async #unanswered(log: string): Promise<Id[] | undefined> {
    let ids: Id[] = [];
    for (let after = 0; ; ) {
      const read = await this.#storage.log.read(log, after, PAGE_SIZE);
      if (read.evicted) return ids;
      for (const { id, entry: text } of read.entries) {
        after = id;
        const entry = decodeEntry(text);
        if (entry.ends) return undefined;
        ids = unansweredAfter(entry, ids);
      }
      if (read.entries.length < PAGE_SIZE) return ids;
    }
  }
}

function lostAnswer(id: Id): string {
  const fix = "Call again if the call is safe to repeat.";
  const message = `the process that ran this request is gone, so its outcome is unknown. ${fix}`;
  return errorText(id, INTERNAL_ERROR, message, { reason: "process_lost", fix });
}
