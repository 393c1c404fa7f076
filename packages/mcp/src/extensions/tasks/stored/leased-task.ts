import { thrownMessage } from "../../../encoding/thrown-message.js";
import type { Platform } from "../../../platform/platform.js";
import { McpError } from "../../../protocol/error.js";
import { StorageError } from "../../../storage/storage.js";
import { ended, isOver, type TaskRecord } from "../task-record.js";

/** Pauses between attempts to store something, from the first to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** Milliseconds that a handler waits for a storage that fails. */
const PATIENCE_MS = 60_000;

type RecordChange = (record: TaskRecord) => TaskRecord;

/**
 * The stored task of one run of its handler, which may change it as long as it has the lease. An outage of the storage delays the
 * task and does not end it.
 */
export class LeasedTask {
  readonly #platform: Platform;
  readonly #token: number;
  readonly #replace: (change: RecordChange) => Promise<TaskRecord | undefined>;
  readonly #controller = new AbortController();
  /** Whether another process shall go on with the task: nothing new begins here then. */
  isReleased = false;

  /** `replace` changes the record, and resolves with undefined if there is none any more. */
  constructor(
    platform: Platform,
    { lease }: TaskRecord,
    replace: (change: RecordChange) => Promise<TaskRecord | undefined>,
  ) {
    this.#platform = platform;
    this.#token = lease.token;
    this.#replace = replace;
  }

  /** Aborted when the run has lost the task, or when the task is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: McpError): void {
    this.#controller.abort(reason);
  }

  /** Looks at the record as somebody read it: aborts if this run may no longer change it. */
  see(record: TaskRecord): boolean {
    const refused = this.#refusal(record);
    if (refused !== undefined) this.abort(refused);
    return refused === undefined;
  }

  /** Stores something that begins. Rejects when this run has lost the task or gives it away. */
  change(change: RecordChange): Promise<TaskRecord> {
    return this.#patiently(PATIENCE_MS, () => {
      if (this.isReleased) throw new McpError("cancelled", "the server is closed");
      return this.#write(change);
    });
  }

  /** The same for what has been done, which is stored although the task is given away. */
  keep(change: RecordChange): Promise<TaskRecord> {
    return this.#patiently(PATIENCE_MS, () => this.#write(change));
  }

  /** Stores how the task ended: tries as long as this run has it, because its client waits for nothing else. Never rejects. */
  async end(change: RecordChange): Promise<void> {
    let end = change;
    while (!this.signal.aborted && !this.isReleased) {
      try {
        await this.#patiently(Number.POSITIVE_INFINITY, () => this.#write(end));
        return;
      } catch (error) {
        if (this.signal.aborted) return;
        end = unstored(error);
        await this.pause(FIRST_PAUSE_MS);
      }
    }
  }

  /** Waits; ends with the run at the latest. */
  async pause(ms: number): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const stop = () => {
        timer.cancel();
        this.signal.removeEventListener("abort", stop);
        resolve();
      };
      const timer = this.#platform.timer(ms, stop);
      this.signal.addEventListener("abort", stop);
    });
  }

  async #patiently(patienceMs: number, store: () => Promise<TaskRecord>): Promise<TaskRecord> {
    const since = this.#platform.monotonic();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await store();
      } catch (error) {
        const waited = this.#platform.monotonic() - since;
        if (this.signal.aborted || isFinal(error) || waited + pauseMs > patienceMs) throw error;
        this.#platform.warn(`a task could not be stored and is stored again soon: ${thrownMessage(error)}`);
        await this.pause(pauseMs);
      }
    }
  }

  async #write(change: RecordChange): Promise<TaskRecord> {
    // What happens after this run was told to end is nobody's business any more.
    if (this.signal.aborted) throw McpError.from(this.signal.reason);
    let refused: McpError | undefined;
    const changed = await this.#replace((record) => {
      refused = this.#refusal(record);
      return refused === undefined ? change(record) : record;
    });
    if (changed === undefined) refused = new McpError("cancelled", "the task has expired");
    if (refused === undefined && changed !== undefined) return changed;
    this.abort(refused ?? new McpError("cancelled", "the task is over"));
    throw refused;
  }

  #refusal(record: TaskRecord): McpError | undefined {
    if (record.lease.token !== this.#token) return new McpError("cancelled", "another process runs the task");
    return isOver(record) ? new McpError("cancelled", record.statusMessage ?? "the task is over") : undefined;
  }
}

/** Whether another attempt would fail for the same reason. */
function isFinal(error: unknown): boolean {
  return error instanceof StorageError || (McpError.is(error) && error.kind !== "internal_error");
}

/** The end of a task whose outcome cannot be stored. Texts of the storage may hold what clients must not learn. */
function unstored(error: unknown): RecordChange {
  const { code, message } = McpError.is(error)
    ? error
    : new McpError("internal_error", "the outcome of the task could not be stored, because the storage is full");
  return (record) => ended(record, "failed", { error: { code, message } }, message);
}
