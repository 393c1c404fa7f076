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
import { endedRecord, hasEnded, type TaskRecord, taskOf, withResult } from "./stored/task-record.js";
import { keyValueWithTimeout, STORAGE_MS, TASK_ID_BYTES, TaskStore, TooManyTasks } from "./stored/task-store.js";
import { TakeOver } from "./take-over.js";
import type { TaskRules, TaskSettings } from "./task-options.js";
import { type RunEnvironment, TaskRun } from "./task-run.js";

/** The environment of the runs, and the state that this process shares with other processes. */
interface TaskServices extends RunEnvironment {
  /** The random name of this process. */
  readonly node: string;
  /** Undefined if the storage is not shared, so that no other process could take over tasks. */
  readonly nodes: TaskNodes | undefined;
}

/** The subscription filter for messages between processes. Clients cannot subscribe to it. */
const NODES_FILTER = "taskNodes";
/**
 * Maximum time that a closing server waits for running steps, in milliseconds. After that, the server aborts their
 * handlers.
 */
const CLOSE_MS = 10_000;
/**
 * Maximum number of tasks that `tasks/list` shows to a peer without authorization. Beyond that, the oldest are omitted.
 */
const MAX_LISTED = 1000;

/** Runs the handlers of tasks: starts new tasks, and takes over the tasks of lost processes. */
export class TaskRunner {
  readonly #server: ExtendedServer;
  readonly #settings: TaskSettings;
  readonly #runs = new Map<string, TaskRun>();
  /** The tasks that each peer created, oldest first. */
  readonly #created = new WeakMap<Peer, string[]>();
  #services: TaskServices | undefined;
  #nodesSubscription: Promise<(() => void) | undefined> | undefined;
  isClosed = false;

  constructor(server: ExtendedServer, settings: TaskSettings) {
    this.#server = server;
    this.#settings = settings;
  }

  /** Returns the task store, and starts to look for tasks of lost processes. */
  open(): TaskStore {
    const { store, nodes } = this.#open();
    if (nodes !== undefined && !this.isClosed) {
      nodes.watch();
      // A closing process announces that it has released its tasks. If the subscription to these messages fails, the
      // next heartbeat finds the tasks.
      this.#nodesSubscription ??= this.#server
        .subscribe(NODES_FILTER, "", () => nodes.scan())
        .catch(() => {
          this.#nodesSubscription = undefined;
          return undefined;
        });
    }
    return store;
  }

  /** Returns the ids of the tasks that this peer created, oldest first. */
  createdBy(peer: Peer | undefined): readonly string[] {
    return (peer === undefined ? undefined : this.#created.get(peer)) ?? [];
  }

  /**
   * Serves a call that becomes a task, or may become one. Resolves with the task as soon as the task is stored, or with
   * the result of a call that ended without a task.
   */
  async begin(call: ExtensionCall, rules: TaskRules, wanted: RequestedTask): Promise<object> {
    const services = this.#open();
    const record = this.#newRecord(call, rules, wanted, services.node);
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
    /** Stores the task, at most once. */
    const create = (begun?: Partial<TaskRecord>) => {
      creating ??= this.#create({ ...record, ...begun }, run, call).then(() => {
        run.call.served?.detach?.();
        isStored();
      });
      return creating;
    };
    const run = new TaskRun(services, record);
    const outcome = late
      ? run.runLate(request, call.exchange, call.request.progressToken, create)
      : run.run(request, call.exchange, create);
    let first: object | undefined;
    try {
      first = await Promise.race([stored, outcome]);
    } catch (error) {
      // A handler that did not wait for `ctx.startTask()` may still have started its task. Then the error is the
      // outcome of the task.
      if (!(await succeeds(creating))) {
        call.reply = run.call.served?.reply ?? call.reply;
        throw error;
      }
    }
    if (first === undefined || (await succeeds(creating))) {
      const answer = createdAnswer(record, request);
      void run.settle(outcome, request);
      return answer;
    }
    const own = first instanceof InputOutcome || first instanceof ExtensionResult;
    return callsRequest && !own ? this.#answeredAtOnce(record, first, request, call) : first;
  }

  /** Creates the record of a call that becomes a task. */
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

  /** Stores a finished task, for a client that requires a task although the outcome is known. */
  async #answeredAtOnce(record: TaskRecord, result: object, request: Call, call: ExtensionCall): Promise<object> {
    const done = withResult(record, taskDialect(request.revision).storedResult(result, request));
    if (this.isClosed) throw serverClosed();
    await this.#store(done);
    this.#noteCreated(call, done.id);
    return createdAnswer(done, request);
  }

  async #create(record: TaskRecord, run: TaskRun, call: ExtensionCall): Promise<void> {
    const { nodes } = this.#open();
    const { running } = this.#settings.limits;
    if (this.isClosed) throw serverClosed();
    if (this.#runs.size >= running) throw new TooManyTasks("tasks are already running", "running", running);
    this.#runs.set(record.id, run);
    try {
      // Subscribe first, so that no change by another process is missed.
      if (nodes !== undefined) await run.subscribe();
      // List the task before it is stored. If this process ends between the two writes, the list contains a task that
      // does not exist. In the other order, a stored task might be in no list and never run.
      await nodes?.add(record.id, record.createdAt + record.ttlMs);
      await this.#store(record);
      await this.#confirm(record, run);
    } catch (error) {
      run.dispose();
      this.#onRunEnd(run);
      throw error;
    }
    const { request, exchange } = call;
    this.#noteCreated(call, record.id);
    if (exchange.peer !== undefined && taskDialect(request.revision).pushes) {
      run.creator = { peer: exchange.peer, request };
    }
    const ready = run.onStored();
    // A client that cancels its call before the answer does not receive the task, so the task is cancelled. After the
    // answer, the signal of the exchange no longer aborts.
    onAbort(exchange.signal, () => void this.#cancelUnseen(record.id));
    await ready;
  }

  /** Stores a new task. Evicts older finished tasks if too many are stored. */
  async #store(record: TaskRecord): Promise<void> {
    const { kept: total, keptPerPrincipal: kept, runningPerPrincipal: running } = this.#settings.limits;
    await this.#open().store.create(record, { kept, running, total, runs: this.#runs });
  }

  /** Ensures that the other processes know that the stored task runs here. Discards the task if this fails. */
  async #confirm(record: TaskRecord, { signal }: TaskRun): Promise<void> {
    const { store, nodes } = this.#open();
    try {
      await nodes?.confirm();
      if (this.isClosed) throw serverClosed();
      // If the signal is aborted, the client cancelled or disconnected before the call became a task. Then no client
      // knows the task, and no handler runs for it.
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
      hasEnded(record) ? record : endedRecord(record, "cancelled", undefined, "the client cancelled the call");
    try {
      await this.#open().store.update(id, cancel);
    } catch (error) {
      this.#server.platform.warn(`the task of a cancelled call could not be cancelled: ${thrownMessage(error)}`);
    }
  }

  /**
   * Publishes a change to the subscribers of a task, and passes it to the task's run. Marks an ended task in the list
   * of its owner.
   */
  #onChange(before: TaskRecord, after: TaskRecord): void {
    const { id } = after;
    this.#server.publish({ filter: "taskIds", value: id, method: "notifications/tasks", params: taskOf(after) });
    const run = this.#runs.get(id);
    if (run !== undefined && !run.ignoresChanges) run.onChange(after);
    if (after.owner === null || !hasEnded(after) || hasEnded(before)) return;
    this.#open()
      .store.markEnded(after)
      .catch((error: unknown) => {
        this.#server.platform.warn(`a finished task still counts as running: ${thrownMessage(error)}`);
      });
  }

  #onRunEnd(run: TaskRun): void {
    const { nodes, store } = this.#open();
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
    // A released task stays in the list of this process until another process continues it. A task with a pending
    // removal stays until it is removed.
    if (nodes !== undefined && !run.isReleased && !store.isPendingRemoval(run.id)) nodes.remove(run.id);
  }

  /** Waits for the steps in progress, at most `CLOSE_MS`, and leaves the tasks to other processes. */
  async close(): Promise<void> {
    this.isClosed = true;
    const released = Promise.all([...this.#runs.values()].map((run) => run.release()));
    await atMost(this.#server.platform, CLOSE_MS, released, true);
    for (const run of this.#runs.values()) run.abort(serverClosed());
    (await this.#nodesSubscription)?.();
    await this.#services?.nodes?.close();
  }

  #open(): TaskServices {
    this.#services ??= this.#createServices();
    return this.#services;
  }

  /** Created on first use, because some runtimes forbid randomness and timers while modules load. */
  #createServices(): TaskServices {
    const server = this.#server;
    const { platform, storage, sharesStorage, info } = server;
    const { leaseMs, limits, answerMs } = this.#settings;
    const node = randomName(platform, 12);
    const kv = keyValueWithTimeout(storage.kv, platform);
    const changed = (before: TaskRecord, after: TaskRecord) => this.#onChange(before, after);
    const store = new TaskStore(kv, platform, info.name, limits.taskLength, changed);
    const environment: RunEnvironment = { server, store, answerMs, onRunEnd: (run) => this.#onRunEnd(run) };
    if (!sharesStorage) return { ...environment, node, nodes: undefined };
    const takeOver = new TakeOver(environment, this.#runs, limits.running, () => this.isClosed);
    // If the storage hangs, a heartbeat must fail before the lease expires. So its timeout is shorter.
    const timely = keyValueWithTimeout(storage.kv, platform, Math.min(STORAGE_MS, Math.max(1000, leaseMs / 3)));
    const nodes: TaskNodes = new TaskNodes(timely, platform, info.name, node, leaseMs, {
      orphaned: (ids, from) => takeOver.takeOverAll(ids, from, nodes),
      beat: (lost) => void takeOver.refreshRuns(lost),
      scanned: async () => {
        await takeOver.retryUnsure(nodes);
        for (const id of await store.retryDiscards()) nodes.remove(id);
      },
      left: () => server.publish({ filter: NODES_FILTER, value: "", method: "notifications/tasks" }),
    });
    return { ...environment, node, nodes };
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

function createdAnswer(record: TaskRecord, { revision }: Call): ExtensionResult {
  return new ExtensionResult("task", taskDialect(revision).createdResult(taskOf(record)));
}
