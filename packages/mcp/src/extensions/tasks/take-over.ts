import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Call } from "../../era/era.js";
import { restoredCall } from "../../era/select/stored-call.js";
import { INTERNAL_ERROR } from "../../jsonrpc/error.js";
import type { TaskNodes } from "./stored/task-nodes.js";
import { endedRecord, hasEnded, resumedRecord, type TaskRecord } from "./stored/task-record.js";
import { type RunEnvironment, TaskRun } from "./task-run.js";

/**
 * Maximum number of tasks to read with each heartbeat, so that its cost does not grow with the number of tasks. The
 * next heartbeat continues with the next tasks.
 */
const READS_PER_BEAT = 100;
/** Maximum number of tasks that are read or taken over concurrently. */
const TASKS_AT_ONCE = 16;

/**
 * Takes over the tasks of lost processes, and lets the runs of this process detect that another process took over their
 * tasks.
 */
export class TakeOver {
  readonly #environment: RunEnvironment;
  readonly #runs: Map<string, TaskRun>;
  readonly #maxRuns: number;
  readonly #isClosed: () => boolean;
  /** Tasks that may or may not have been taken over, each with the process that ran it. */
  readonly #unsure = new Map<string, string>();
  #refreshed = 0;
  #isRefreshing = false;

  constructor(environment: RunEnvironment, runs: Map<string, TaskRun>, maxRuns: number, isClosed: () => boolean) {
    this.#environment = environment;
    this.#runs = runs;
    this.#maxRuns = maxRuns;
    this.#isClosed = isClosed;
  }

  /**
   * Reads the records of some runs again, because messages between processes may be lost. Reads all of them if `lost`
   * is true, that is, if other processes may have considered this process lost.
   */
  async refreshRuns(lost: boolean): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      await this.#refresh(lost);
    } finally {
      this.#isRefreshing = false;
    }
  }

  async #refresh(lost: boolean): Promise<void> {
    const runs = [...this.#runs.values()];
    const from = lost || runs.length <= READS_PER_BEAT ? 0 : this.#refreshed % runs.length;
    const some = lost ? runs : [...runs.slice(from), ...runs.slice(0, from)].slice(0, READS_PER_BEAT);
    this.#refreshed += some.length;
    for (let at = 0; at < some.length; at += TASKS_AT_ONCE) {
      await Promise.all(some.slice(at, at + TASKS_AT_ONCE).map((run) => run.refresh()));
    }
  }

  /** Retries take-overs that failed part-way. */
  async retryUnsure(nodes: TaskNodes): Promise<void> {
    for (const [id, from] of [...this.#unsure]) await this.takeOverAll([id], from, nodes);
  }

  /** Takes over the tasks of a lost process. Resolves with the ids that need not be checked again. */
  async takeOverAll(ids: readonly string[], from: string, nodes: TaskNodes): Promise<string[]> {
    const settled: string[] = [];
    const [byte = 0] = this.#environment.server.platform.randomBytes(1);
    // Start at a random position, so that processes that read the same list begin with different tasks.
    const start = Math.floor((byte / 256) * ids.length);
    const left = [...ids.slice(start), ...ids.slice(0, start)];
    while (left.length > 0 && !this.#isClosed()) {
      const some = left.splice(0, Math.min(TASKS_AT_ONCE, this.#maxRuns - this.#runs.size));
      if (some.length === 0) break;
      await Promise.all(
        some.map(async (id) => {
          try {
            await this.#takeOver(id, from, nodes);
            settled.push(id);
          } catch (error) {
            this.#environment.server.platform.warn(`a task could not be taken over: ${thrownMessage(error)}`);
          }
        }),
      );
    }
    return settled;
  }

  async #takeOver(id: string, from: string, nodes: TaskNodes): Promise<void> {
    const before = await this.#environment.store.read(id);
    const isLeft = (found: TaskRecord) =>
      !hasEnded(found) && !this.#runs.has(id) && (found.lease.node === from || found.lease.node === nodes.self);
    if (before === undefined || !isLeft(before)) {
      this.#unsure.delete(id);
      if (!this.#runs.has(id)) nodes.remove(id);
      return;
    }
    // Remember the task until the outcome is known, because a write that seemed to fail may have succeeded.
    this.#unsure.set(id, from);
    // List the task here before its lease changes. If this process ends between the two writes, two lists contain the
    // task. In the other order, no list might contain it.
    await nodes.add(id, before.createdAt + before.ttlMs);
    let taken = false;
    const record = await this.#environment.store.update(id, (found) => {
      taken = isLeft(found);
      return taken ? takenOverRecord(found, nodes.self) : found;
    });
    this.#unsure.delete(id);
    if (taken && record !== undefined && !hasEnded(record)) this.#run(record);
    else if (!this.#runs.has(id)) nodes.remove(id);
    await nodes.confirm();
  }

  /** Starts the handler again. The run itself handles storage failures from here on. */
  #run(record: TaskRecord): void {
    const { id, call } = record;
    // A closed server leaves the task in its list, for other processes.
    if (call === undefined || this.#isClosed()) return;
    const run = new TaskRun(this.#environment, record);
    this.#runs.set(id, run);
    const request: Call = { ...restoredCall(call, id), progressToken: id };
    const begin = async () => {
      await run.subscribe();
      // The record may have changed since it was taken over.
      await run.refresh();
      return run.run(request, call);
    };
    void run.onStored();
    const outcome = begin();
    void run.settle(outcome, request);
  }
}

/** Returns the record of a task that this process takes over: resumed, or failed if it cannot be resumed. */
function takenOverRecord(found: TaskRecord, node: string): TaskRecord {
  const next = resumedRecord(found, { node, token: found.lease.token + 1 });
  if (!("reason" in next)) return next;
  const message = `the task ${next.reason}`;
  return endedRecord(found, "failed", { error: { code: INTERNAL_ERROR, message } }, message);
}
