import { randomName } from "../../encoding/base64.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Call } from "../../era/era.js";
import { storedCall } from "../../era/select/stored-call.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import type { RequestedTask } from "../../era/task-shape.js";
import { onAbort } from "../../platform/on-abort.js";
import { atMost } from "../../platform/pause.js";
import { McpError, serverClosed } from "../../protocol/error.js";
import { InputOutcome } from "../../server/call/asker.js";
import { mayBeStranger } from "../../server/call/call-failure.js";
import { ExtensionResult } from "../../server/call/server-call.js";
import type { Peer } from "../../transport/transport.js";
import type { ExtendedServer, ExtensionCall } from "../seam/extended-server.js";
import { TaskNodes } from "./stored/task-nodes.js";
import { ended, isOver, type TaskRecord, taskOf, withResult } from "./stored/task-record.js";
import { STORAGE_MS, TASK_ID_BYTES, TaskStore, TooManyTasks, timelyKeyValue } from "./stored/task-store.js";
import { TakeOver } from "./take-over.js";
import type { TaskRules, TaskSettings } from "./task-options.js";
import { type RunHome, TaskRun } from "./task-run.js";

/** What tasks need of the storage. */
interface TaskParts extends RunHome {
  /** The name of this process. */
  readonly node: string;
  /** Absent where no other process could take over. */
  readonly nodes: TaskNodes | undefined;
}

/** The filter of messages between processes; no client can listen to it. */
const NODES_FILTER = "taskNodes";
/** Milliseconds that steps which have begun may take when the server closes. */
const CLOSE_MS = 10_000;
/** Tasks of one peer without authorization that its list shows. */
const MAX_LISTED = 1000;

/** Runs the handlers of tasks: begins them, and takes over those of processes that are gone. */
export class TaskRunner {
  readonly #server: ExtendedServer;
  readonly #settings: TaskSettings;
  readonly #runs = new Map<string, TaskRun>();
  /** The tasks that each peer created, oldest first. */
  readonly #created = new WeakMap<Peer, string[]>();
  #parts: TaskParts | undefined;
  #hearing: Promise<(() => void) | undefined> | undefined;
  isClosed = false;

  constructor(server: ExtendedServer, settings: TaskSettings) {
    this.#server = server;
    this.#settings = settings;
  }

  /** Opens the stored tasks, and begins to look for those of processes that are gone. */
  open(): TaskStore {
    const { store, nodes } = this.#open();
    if (nodes !== undefined && !this.isClosed) {
      nodes.watch();
      // Another process may say that it leaves; where that cannot be heard, its tasks are found with the next beat.
      this.#hearing ??= this.#server
        .hear(NODES_FILTER, "", () => nodes.scan())
        .catch(() => {
          this.#hearing = undefined;
          return undefined;
        });
    }
    return store;
  }

  /** The tasks that this peer created, oldest first. */
  createdBy(peer: Peer | undefined): readonly string[] {
    return (peer === undefined ? undefined : this.#created.get(peer)) ?? [];
  }

  /** Serves a call as a task: answers with the task once everything about the call is checked and the task is stored. */
  async begin(call: ExtensionCall, rules: TaskRules, wanted: RequestedTask): Promise<object> {
    const parts = this.#open();
    const record = this.#newRecord(call, rules, wanted, parts.node);
    const { callsRequest } = taskDialect(call.request.revision);
    const late = rules.begin === "handler" && !callsRequest;
    const inputs = late ? call.request.inputs : undefined;
    const { id } = record;
    const request: Call = { ...call.request, id, progressToken: id, session: undefined, inputs };
    let creating: Promise<void> | undefined;
    let isStored = () => {};
    const stored = new Promise<undefined>((resolve) => {
      isStored = () => resolve(undefined);
    });
    /** Stores the task once, whoever needs it first. */
    const create = (begun?: Partial<TaskRecord>) => {
      creating ??= this.#create({ ...record, ...begun }, run, call).then(() => {
        run.call.served?.detach?.();
        isStored();
      });
      return creating;
    };
    const run = new TaskRun(parts, record);
    const outcome = late
      ? run.runLate(request, call.exchange, call.request.progressToken, create)
      : run.run(request, call.exchange, create);
    let first: object | undefined;
    try {
      first = await Promise.race([stored, outcome]);
    } catch (error) {
      // A handler that did not wait for its task has one all the same.
      if (!(await succeeds(creating))) {
        call.reply = run.call.served?.reply ?? call.reply;
        throw error;
      }
    }
    if (first === undefined || (await succeeds(creating))) {
      const answer = answeredWith(record, request);
      void run.settle(outcome, request);
      return answer;
    }
    const own = first instanceof InputOutcome || first instanceof ExtensionResult;
    return callsRequest && !own ? this.#answeredAtOnce(record, first, request, call) : first;
  }

  /** The record of a call that becomes a task. */
  #newRecord({ request, exchange }: ExtensionCall, rules: TaskRules, wanted: RequestedTask, node: string): TaskRecord {
    const { ttlMs, maxTtlMs, pollIntervalMs } = this.#settings;
    const principal = exchange.principal ?? exchange.peer?.principal;
    const { platform } = this.#server;
    const now = platform.now();
    return {
      id: randomName(platform, TASK_ID_BYTES),
      owner: principal?.key ?? null,
      createdAt: now,
      updatedAt: now,
      ttlMs: Math.min(Math.ceil(wanted.ttlMs ?? rules.ttlMs ?? ttlMs), Math.max(maxTtlMs, rules.ttlMs ?? 0)),
      pollIntervalMs: rules.pollIntervalMs ?? pollIntervalMs,
      status: "working",
      retry: rules.retry,
      lease: { node, token: 1 },
      call: storedCall(request, principal, mayBeStranger(exchange)),
      questions: {},
      answers: {},
      steps: {},
    };
  }

  /** A task for a client that must be given one, although its outcome is known. */
  async #answeredAtOnce(record: TaskRecord, result: object, request: Call, call: ExtensionCall): Promise<object> {
    const done = withResult(record, taskDialect(request.revision).storedResult(result, request));
    if (this.isClosed) throw serverClosed();
    await this.#store(done);
    this.#noteCreated(call, done.id);
    return answeredWith(done, request);
  }

  async #create(record: TaskRecord, run: TaskRun, call: ExtensionCall): Promise<void> {
    const { nodes } = this.#open();
    const { running } = this.#settings.limits;
    if (this.isClosed) throw serverClosed();
    if (this.#runs.size >= running) throw new TooManyTasks("tasks run", "running", running);
    this.#runs.set(record.id, run);
    try {
      // First, so that no change by another process is missed.
      if (nodes !== undefined) await run.subscribe();
      // In this order: a process that ends in between leaves a task that nobody knows, never one that nobody runs.
      await nodes?.add(record.id, record.createdAt + record.ttlMs);
      await this.#store(record);
      await this.#confirm(record, run);
    } catch (error) {
      run.leave();
      this.#over(run);
      throw error;
    }
    const { request, exchange } = call;
    this.#noteCreated(call, record.id);
    if (exchange.peer !== undefined && taskDialect(request.revision).pushes) {
      run.creator = { peer: exchange.peer, request };
    }
    const ready = run.stored();
    // A client that gives up its call before the answer never learns of the task. No exchange is aborted after its answer.
    onAbort(exchange.signal, () => void this.#cancelUnseen(record.id));
    await ready;
  }

  /** Stores a new task, in the place of older ones if there are too many. */
  async #store(record: TaskRecord): Promise<void> {
    const { kept: total, keptPerPrincipal: kept, runningPerPrincipal: running } = this.#settings.limits;
    await this.#open().store.create(record, { kept, running, total, runs: this.#runs });
  }

  /** Makes sure that a task that was stored is also known to run here. */
  async #confirm(record: TaskRecord, { signal }: TaskRun): Promise<void> {
    const { store, nodes } = this.#open();
    try {
      await nodes?.confirm();
      if (this.isClosed) throw serverClosed();
      // Its client has gone before the call became a task: nobody knows of it, and nothing runs for it.
      if (signal.aborted) throw McpError.from(signal.reason);
    } catch (error) {
      await store.discard(record);
      throw error;
    }
  }

  #noteCreated({ exchange: { peer } }: ExtensionCall, id: string): void {
    if (peer === undefined) return;
    const created = this.#created.get(peer) ?? [];
    created.push(id);
    if (created.length > MAX_LISTED) created.shift();
    this.#created.set(peer, created);
  }

  async #cancelUnseen(id: string): Promise<void> {
    const cancel = (record: TaskRecord) =>
      isOver(record) ? record : ended(record, "cancelled", undefined, "the client cancelled the call");
    try {
      await this.#open().store.update(id, cancel);
    } catch (error) {
      this.#server.platform.warn(`a task that nobody waits for could not be cancelled: ${thrownMessage(error)}`);
    }
  }

  /** Tells those who listen to a task that it has changed. */
  #changed(before: TaskRecord, after: TaskRecord): void {
    const { id } = after;
    this.#server.publish({ filter: "taskIds", value: id, method: "notifications/tasks", params: taskOf(after) });
    const run = this.#runs.get(id);
    if (run !== undefined && !run.isAlone) run.changed(after);
    if (after.owner === null || !isOver(after) || isOver(before)) return;
    this.#open()
      .store.ended(after)
      .catch((error: unknown) => {
        this.#server.platform.warn(`a finished task still counts as running: ${thrownMessage(error)}`);
      });
  }

  #over(run: TaskRun): void {
    const { nodes, store } = this.#open();
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
    // What another process shall continue stays in the list of this one until then, as does what is still to be removed.
    if (nodes !== undefined && !run.isReleased && !store.isLeft(run.id)) nodes.remove(run.id);
  }

  /** Leaves the tasks to other processes, after steps that have begun. */
  async close(): Promise<void> {
    this.isClosed = true;
    const released = Promise.all([...this.#runs.values()].map((run) => run.release()));
    await atMost(this.#server.platform, CLOSE_MS, released, true);
    for (const run of this.#runs.values()) run.abort(serverClosed());
    (await this.#hearing)?.();
    await this.#parts?.nodes?.close();
  }

  #open(): TaskParts {
    this.#parts ??= this.#make();
    return this.#parts;
  }

  /** Made with the first use, because some runtimes forbid randomness and timers while modules load. */
  #make(): TaskParts {
    const server = this.#server;
    const { platform, storage, sharesStorage, info } = server;
    const { leaseMs, limits, answerMs } = this.#settings;
    const node = randomName(platform, 12);
    const kv = timelyKeyValue(storage.kv, platform);
    const changed = (before: TaskRecord, after: TaskRecord) => this.#changed(before, after);
    const store = new TaskStore(kv, platform, info.name, limits.taskLength, changed);
    const home: RunHome = { server, store, answerMs, over: (run) => this.#over(run) };
    if (!sharesStorage) return { ...home, node, nodes: undefined };
    const takeOver = new TakeOver(home, this.#runs, limits.running, () => this.isClosed);
    // A beat that hangs must have failed before the lease ends.
    const timely = timelyKeyValue(storage.kv, platform, Math.min(STORAGE_MS, Math.max(1000, leaseMs / 3)));
    const nodes: TaskNodes = new TaskNodes(timely, platform, info.name, node, leaseMs, {
      orphaned: (ids, from) => takeOver.takeAll(ids, from, nodes),
      beat: (lost) => void takeOver.look(lost),
      scanned: async () => {
        await takeOver.takeUnsure(nodes);
        for (const id of await store.discardLeft()) nodes.remove(id);
      },
      left: () => server.publish({ filter: NODES_FILTER, value: "", method: "notifications/tasks" }),
    });
    return { ...home, node, nodes };
  }
}

async function succeeds(work: Promise<void> | undefined): Promise<boolean> {
  try {
    await work;
    return work !== undefined;
  } catch {
    return false;
  }
}

function answeredWith(record: TaskRecord, { revision }: Call): ExtensionResult {
  return new ExtensionResult("task", taskDialect(revision).createdResult(taskOf(record)));
}
