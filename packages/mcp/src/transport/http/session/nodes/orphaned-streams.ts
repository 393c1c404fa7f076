import { INTERNAL_ERROR } from "../../../../jsonrpc/error.js";
import type { Id } from "../../../../jsonrpc/message.js";
import { errorText } from "../../../../jsonrpc/message-text.js";
import { DueList } from "../../../../platform/due-list.js";
import type { Platform } from "../../../../platform/platform.js";
import type { AppendLog, LogLimits } from "../../../../storage/storage.js";
import type { SessionStream } from "../streams/stream.js";
import { decodeEntry, lastEntry, nodeOf, unansweredAfter } from "../streams/stream-log.js";
import type { NodeLease } from "./node-lease.js";

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
