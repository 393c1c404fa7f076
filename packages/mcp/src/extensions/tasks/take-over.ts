import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Call } from "../../era/era.js";
import { restoredCall } from "../../era/select/stored-call.js";
import { INTERNAL_ERROR } from "../../jsonrpc/error.js";
import type { TaskNodes } from "./stored/task-nodes.js";
import { ended, isOver, resumed, type TaskRecord } from "./stored/task-record.js";
import { type RunHome, TaskRun } from "./task-run.js";

/** Tasks that are looked at with each beat, in turn: the cost of a beat must not grow with the number of tasks. */
const LOOKS_PER_BEAT = 100;
/** Tasks at a time where many have to be read or taken over. */
const TASKS_AT_ONCE = 16;

/** Takes over the tasks of processes that are gone, and lets the runs of this process learn when that happened to theirs. */
export class TakeOver {
  readonly #home: RunHome;
  readonly #runs: Map<string, TaskRun>;
  readonly #maxRuns: number;
  readonly #isClosed: () => boolean;
  /** Tasks of which is not known whether they were taken over, with the process that had them. */
  readonly #unsure = new Map<string, string>();
  #looked = 0;
  #isLooking = false;

  constructor(home: RunHome, runs: Map<string, TaskRun>, maxRuns: number, isClosed: () => boolean) {
    this.#home = home;
    this.#runs = runs;
    this.#maxRuns = maxRuns;
    this.#isClosed = isClosed;
  }

  /**
   * Messages between processes may be lost, so runs look at their records now and then; all of them do when others may have taken
   * this process for gone.
   */
  async look(lost: boolean): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#lookAll(lost);
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookAll(lost: boolean): Promise<void> {
    const runs = [...this.#runs.values()];
    const from = lost || runs.length <= LOOKS_PER_BEAT ? 0 : this.#looked % runs.length;
    const some = lost ? runs : [...runs.slice(from), ...runs.slice(0, from)].slice(0, LOOKS_PER_BEAT);
    this.#looked += some.length;
    for (let at = 0; at < some.length; at += TASKS_AT_ONCE) {
      await Promise.all(some.slice(at, at + TASKS_AT_ONCE).map((run) => run.look()));
    }
  }

  /** Tries again what failed in between. */
  async takeUnsure(nodes: TaskNodes): Promise<void> {
    for (const [id, from] of [...this.#unsure]) await this.takeAll([id], from, nodes);
  }

  /** Takes over tasks of a process that is gone. Resolves with those that need not be looked at again. */
  async takeAll(ids: readonly string[], from: string, nodes: TaskNodes): Promise<string[]> {
    const settled: string[] = [];
    const [byte = 0] = this.#home.server.platform.randomBytes(1);
    // Processes that look at the same list begin at different places of it.
    const start = Math.floor((byte / 256) * ids.length);
    const left = [...ids.slice(start), ...ids.slice(0, start)];
    while (left.length > 0 && !this.#isClosed()) {
      const some = left.splice(0, Math.min(TASKS_AT_ONCE, this.#maxRuns - this.#runs.size));
      if (some.length === 0) break;
      await Promise.all(
        some.map(async (id) => {
          try {
            await this.#take(id, from, nodes);
            settled.push(id);
          } catch (error) {
            this.#home.server.platform.warn(`a task could not be taken over: ${thrownMessage(error)}`);
          }
        }),
      );
    }
    return settled;
  }

  async #take(id: string, from: string, nodes: TaskNodes): Promise<void> {
    const before = await this.#home.store.read(id);
    const isLeft = (found: TaskRecord) =>
      !isOver(found) && !this.#runs.has(id) && (found.lease.node === from || found.lease.node === nodes.self);
    if (before === undefined || !isLeft(before)) {
      this.#unsure.delete(id);
      if (!this.#runs.has(id)) nodes.remove(id);
      return;
    }
    // Until it is known what became of it: a write that failed may have been made all the same.
    this.#unsure.set(id, from);
    // In this order: a process that ends in between leaves the task in one list too many.
    await nodes.add(id, before.createdAt + before.ttlMs);
    let taken = false;
    const record = await this.#home.store.update(id, (found) => {
      taken = isLeft(found);
      return taken ? takenOver(found, nodes.self) : found;
    });
    this.#unsure.delete(id);
    if (taken && record !== undefined && !isOver(record)) this.#run(record);
    else if (!this.#runs.has(id)) nodes.remove(id);
    await nodes.confirm();
  }

  /** Lets the handler begin again. What cannot be stored from here on is the business of the run. */
  #run(record: TaskRecord): void {
    const { id, call } = record;
    // A closed server leaves it in its list, for others.
    if (call === undefined || this.#isClosed()) return;
    const run = new TaskRun(this.#home, record);
    this.#runs.set(id, run);
    const request: Call = { ...restoredCall(call, id), progressToken: id };
    const begin = async () => {
      await run.subscribe();
      // It may have changed since it was taken over.
      await run.look();
      return run.run(request, call);
    };
    void run.stored();
    const outcome = begin();
    void run.settle(outcome, request);
  }
}

/** What becomes of a task that this process takes over. */
function takenOver(found: TaskRecord, node: string): TaskRecord {
  const next = resumed(found, { node, token: found.lease.token + 1 });
  if (!("reason" in next)) return next;
  const message = `the task ${next.reason}`;
  return ended(found, "failed", { error: { code: INTERNAL_ERROR, message } }, message);
}
