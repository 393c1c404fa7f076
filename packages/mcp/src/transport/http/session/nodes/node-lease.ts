import { guarded } from "../../../../encoding/maybe-promise.js";
import { INTERNAL_ERROR } from "../../../../jsonrpc/error.js";
import { errorText, type Id } from "../../../../jsonrpc/message.js";
import { DueList } from "../../../../platform/due-list.js";
import type { Platform, Timer } from "../../../../platform/platform.js";
import type { AppendLog, KeyValue, LogLimits } from "../../../../storage/storage.js";
import type { SessionStream } from "../streams/stream.js";
import { decodeEntry, lastEntry, nodeOf, unansweredAfter } from "../streams/stream-log.js";

/** What a lease needs of its node. */
interface LeaseHolder {
  readonly id: string;
  /** Whether the node still serves anybody. */
  needsLease(): boolean;
  failed(error: unknown): void;
}

/**
 * The sign of life of a node: a key that expires unless it is renewed. Others end the streams of a node without one, so a node
 * that could not renew it must read what they appended before it writes to a client.
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

  /** Holds the lease from now on, for as long as the node serves anybody. */
  hold(): void {
    // Some runtimes drop the timers of a request when it ends; a timer that is long overdue will never fire.
    if (this.#closed || (this.#timer !== undefined && this.#platform.monotonic() < this.#dueAt + this.#leaseMs)) return;
    this.#renew();
  }

  /** False if other nodes may take this one for gone. */
  get held(): boolean {
    return this.#platform.monotonic() - this.#renewedAt < this.#leaseMs * 0.9;
  }

  /** Whether a node is alive, as far as the storage knows. */
  async isHeldBy(node: string): Promise<boolean> {
    return (await this.#kv.get(this.#key(node))) !== undefined;
  }

  /** Does not renew it any more. */
  stop(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Gives it up, so that others need not wait for its end. */
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

/** A stream that a client reads here, whose requests another node runs. */
interface Followed {
  readonly stream: SessionStream;
  readonly log: string;
  /** True if its node is this one, which does not run its requests any more. */
  readonly abandoned: boolean;
  /** Tells the other nodes that the log has a new entry. */
  hint(): void;
}

/** How many entries are read at once. */
const PAGE = 64;

/**
 * Ends the streams of nodes that are gone, so that whoever resumes a call of such a node learns its outcome. Any number of nodes may do
 * it at the same time, and the node itself may come back: readers stop at the first entry that ends a stream, so the first one counts.
 */
export class OrphanedStreams {
  readonly #lease: NodeLease;
  readonly #storage: { readonly log: AppendLog; readonly limits: LogLimits };
  readonly #failed: (error: unknown) => void;
  readonly #checks: DueList<Followed>;

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

  /** Looks now and then whether the node that runs the requests of a stream is alive. Never rejects. */
  async check(followed: Followed): Promise<void> {
    const { stream } = followed;
    const node = nodeOf(stream.id);
    if (node === undefined || !stream.attached || stream.ended) return;
    try {
      // Answered here if the session ends.
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

  async #end({ stream, log, hint }: Followed): Promise<void> {
    const unanswered = await this.#unanswered(log);
    if (unanswered === undefined) return stream.follow();
    const answers = unanswered.map(lostAnswer);
    // Only revisions that have arrays of requests have several requests in one stream.
    const text = answers.length > 1 ? `[${answers.join(",")}]` : answers[0];
    await this.#storage.log.append(log, lastEntry(text).stored, this.#storage.limits);
    stream.follow();
    hint();
  }

  /** The requests of a stream without an answer in its log; none if it is not known which they are, undefined if it has ended. */
  async #unanswered(log: string): Promise<Id[] | undefined> {
    let ids: Id[] = [];
    for (let after = 0; ; ) {
      const read = await this.#storage.log.read(log, after, PAGE);
      if (read.evicted) return ids;
      for (const { id, entry: text } of read.entries) {
        after = id;
        const entry = decodeEntry(text);
        if (entry.ends) return undefined;
        ids = unansweredAfter(entry, ids);
      }
      if (read.entries.length < PAGE) return ids;
    }
  }
}

function lostAnswer(id: Id): string {
  const fix = "Call again if the call may run twice.";
  const message = `the process that ran this request is gone, so its outcome is not known. ${fix}`;
  return errorText(id, INTERNAL_ERROR, message, { reason: "process_lost", fix });
}
