import { randomName } from "../../encoding/base64.js";
import type { Call } from "../../era/era.js";
import { restoredCall, storedCall } from "../../era/stored-call.js";
import { createdTask, keptResult, wantedTtl, wantsTask } from "../../era/task-shape.js";
import { INTERNAL_ERROR } from "../../jsonrpc/error.js";
import { McpError } from "../../protocol/error.js";
import { mayBeStranger } from "../../server/call/call-failure.js";
import { ExtensionResult } from "../../server/call/extension-result.js";
import { InputOutcome } from "../../server/questions/input-required.js";
import type { ExtendedServer, ExtensionCall, PreparedCall } from "../seam/extended-server.js";
import { TaskListeners } from "./task-listeners.js";
import { TaskNodes } from "./task-nodes.js";
import type { TaskSettings } from "./task-options.js";
import {
  differs,
  ended,
  isOver,
  resumed,
  type TaskAnswer,
  type TaskRecord,
  taskOf,
  withAnswers,
} from "./task-record.js";
import type { TaskRules } from "./task-rules.js";
import { type RunContext, TaskRun } from "./task-run.js";
import { TaskStore, tooMany } from "./task-store.js";

/** What tasks need of the storage. */
interface TaskParts {
  readonly store: TaskStore;
  /** The name of this process. */
  readonly node: string;
  /** Absent where no other process could take over. */
  readonly nodes: TaskNodes | undefined;
}

/** Runs the handlers of tasks: begins them, and takes over those of processes that are gone. */
export class TaskRunner implements RunContext {
  readonly listeners = new TaskListeners();
  readonly #server: ExtendedServer;
  readonly #settings: TaskSettings;
  readonly #runs = new Map<string, TaskRun>();
  /** When the tasks that this process created expire, oldest first. */
  readonly #kept: number[] = [];
  #parts: TaskParts | undefined;
  #closed = false;

  constructor(server: ExtendedServer, settings: TaskSettings) {
    this.#server = server;
    this.#settings = settings;
  }

  get store(): TaskStore {
    return this.#open().store;
  }

  /** Begins to look for tasks of processes that are gone. */
  watch(): void {
    if (!this.#closed) this.#open().nodes?.watch();
  }

  /** Serves a call as a task: answers with the task once everything about the call is checked and the task is stored. */
  async begin(call: ExtensionCall, rules: TaskRules): Promise<object> {
    const { node, store } = this.#open();
    const record = this.#newRecord(call, rules, store.newId(), node);
    const run = new TaskRun(this.#server, this, record.id, record.lease);
    const request: Call = { ...call.request, id: record.id, progressToken: record.id, session: undefined };
    const late = rules.begin === "handler" && !wantsTask(request);
    const { promise: created, resolve: isCreated } = withResolver();
    const create = async (recorded: Pick<TaskRecord, "answers" | "steps">) => {
      await this.#create({ ...record, ...recorded }, run, call);
      isCreated();
    };
    let inner: PreparedCall | undefined;
    const outcome = this.#server.run(
      request,
      late ? run.lateExchange(call.exchange) : run.exchange(call.exchange),
      (prepared) => {
        inner = prepared;
        if (late) return this.#startLate(prepared, run, create);
        run.prepare(prepared, record);
        prepared.startTask = async () => true;
        prepared.beforeTool = () => create(record);
      },
    );
    const settled = outcome.then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    const first = await Promise.race([created, settled]);
    if (inner?.scopes !== undefined) call.scopes = inner.scopes;
    if (first === undefined) {
      void run.settle(outcome, request);
      return answeredWith(record, request);
    }
    if ("error" in first) throw first.error;
    if (!wantsTask(request) || first.result instanceof InputOutcome) return first.result;
    const done = ended(record, "completed", { result: keptResult(first.result, request) });
    await store.create(done, this.#ownerLimits());
    await store.ended(done);
    this.listeners.add(record.id, call);
    return answeredWith(done, request);
  }

  #startLate(
    prepared: PreparedCall,
    run: TaskRun,
    create: (recorded: Pick<TaskRecord, "answers" | "steps">) => Promise<void>,
  ): void {
    let started: Promise<boolean> | undefined;
    prepared.startTask = () => {
      started ??= (async () => {
        const { answers, steps } = prepared.recorded;
        const given = Object.entries(answers).map(([name, value]) => [name, { value }] as const);
        const recorded = { answers: Object.fromEntries(given), steps };
        await create(recorded);
        run.prepare(prepared, recorded);
        return true;
      })();
      return started;
    };
  }

  #newRecord({ request, exchange }: ExtensionCall, rules: TaskRules, id: string, node: string): TaskRecord {
    const { ttlMs, maxTtlMs, pollIntervalMs } = this.#settings;
    const principal = exchange.principal ?? exchange.peer?.principal;
    const now = this.#server.platform.now();
    return {
      id,
      owner: principal?.key ?? null,
      createdAt: now,
      updatedAt: now,
      ttlMs: Math.min(Math.ceil(wantedTtl(request) ?? rules.ttlMs ?? ttlMs), Math.max(maxTtlMs, rules.ttlMs ?? 0)),
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

  async #create(record: TaskRecord, run: TaskRun, call: ExtensionCall): Promise<void> {
    const { store, nodes } = this.#open();
    this.#admit(record);
    this.#runs.set(record.id, run);
    try {
      // In this order: a process that ends in between leaves a task that nobody knows, never one that nobody runs.
      await nodes?.add(record.id);
      await store.create(record, this.#ownerLimits());
      this.listeners.add(record.id, call);
      await run.listen();
    } catch (error) {
      this.over(run);
      throw error;
    }
  }

  #admit({ createdAt, ttlMs }: TaskRecord): void {
    const { running, kept } = this.#settings.limits;
    if (this.#closed) throw new McpError("connection_closed", "the server is closed");
    if (this.#runs.size >= running) throw tooMany("tasks run", "running", running);
    while (this.#kept.length > 0 && (this.#kept[0] ?? 0) <= createdAt) this.#kept.shift();
    if (this.#kept.length >= kept) throw tooMany("tasks are kept", "kept", kept);
    this.#kept.push(createdAt + ttlMs);
  }

  #ownerLimits(): { kept: number; running: number } {
    const { keptPerPrincipal, runningPerPrincipal } = this.#settings.limits;
    return { kept: keptPerPrincipal, running: runningPerPrincipal };
  }

  read(id: string): Promise<TaskRecord | undefined> {
    return this.store.read(id);
  }

  async change(id: string, change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord | undefined> {
    let before: TaskRecord | undefined;
    const after = await this.store.update(id, (record) => {
      before = record;
      return change(record);
    });
    if (after !== undefined && before !== undefined && differs(before, after)) this.#tell(before, after);
    return after;
  }

  /** Gives a task answers to its questions; answers to other questions are ignored. */
  async answer(id: string, answers: Readonly<Record<string, unknown>>): Promise<void> {
    const given = Object.entries(answers).map(([name, value]) => [name, { value }] as const);
    await this.change(id, (record) => withAnswers(record, Object.fromEntries(given)));
  }

  /** Gives a task what the client said to one question. */
  async answerOne(id: string, name: string, answer: TaskAnswer): Promise<void> {
    await this.change(id, (record) => withAnswers(record, { [name]: answer }));
  }

  #tell(before: TaskRecord, after: TaskRecord): void {
    const params = taskOf(after);
    this.#server.publish({ filter: "taskIds", value: after.id, method: "notifications/tasks", params });
    this.listeners.changed(after);
    if (isOver(after) && !isOver(before)) {
      this.listeners.remove(after.id);
      this.store.ended(after).catch((error: unknown) => {
        this.#server.platform.warn(`a finished task still counts as running: ${String(error)}`);
      });
    }
  }

  notify(id: string, method: string, params: Record<string, unknown>): void {
    this.listeners.notify(id, method, params);
  }

  over(run: TaskRun): void {
    this.#runs.delete(run.id);
    this.#parts?.nodes?.remove(run.id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const run of this.#runs.values()) run.release();
    await this.#parts?.nodes?.close();
  }

  #open(): TaskParts {
    this.#parts ??= this.#make();
    return this.#parts;
  }

  /** Made with the first use, because some runtimes forbid randomness and timers while modules load. */
  #make(): TaskParts {
    const { platform, storage, sharesStorage, info } = this.#server;
    const { leaseMs, limits } = this.#settings;
    const node = randomName(platform, 12);
    const nodes = sharesStorage
      ? new TaskNodes(storage.kv, platform, info.name, node, leaseMs, {
          orphaned: (ids, from) => this.#takeOver(ids, from),
          beat: () => this.#look(),
        })
      : undefined;
    return { store: new TaskStore(storage, platform, info.name, limits.taskLength), node, nodes };
  }

  /** Messages between processes may be lost, and so may a lease, so all runs look for themselves now and then. */
  #look(): void {
    for (const run of this.#runs.values()) void run.look();
  }

  async #takeOver(ids: readonly string[], from: string): Promise<string[]> {
    const settled: string[] = [];
    for (const id of ids) {
      if (this.#closed || this.#runs.size >= this.#settings.limits.running) break;
      await this.#adopt(id, from);
      settled.push(id);
    }
    return settled;
  }

  async #adopt(id: string, from: string): Promise<void> {
    const { node, nodes } = this.#open();
    await nodes?.add(id);
    const record = await this.change(id, (found) => {
      if (isOver(found) || found.lease.node !== from) return found;
      const next = resumed(found, { node, token: found.lease.token + 1 });
      if (!("reason" in next)) return next;
      const message = `the task cannot be resumed: ${next.reason}`;
      return ended(found, "failed", { error: { code: INTERNAL_ERROR, message } }, message);
    });
    if (record?.call === undefined || record.lease.node !== node || isOver(record)) {
      nodes?.remove(id);
      return;
    }
    const run = new TaskRun(this.#server, this, id, record.lease);
    this.#runs.set(id, run);
    const request: Call = { ...restoredCall(record.call, id), progressToken: id };
    await run.listen();
    const outcome = this.#server.run(request, run.exchange(record.call), (prepared) => {
      run.prepare(prepared, record);
      prepared.startTask = async () => true;
    });
    void run.settle(outcome, request);
  }
}

function answeredWith(record: TaskRecord, { revision }: Call): ExtensionResult {
  return new ExtensionResult("task", createdTask(taskOf(record), revision));
}

function withResolver(): { promise: Promise<undefined>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<undefined>((done) => {
    resolve = () => done(undefined);
  });
  return { promise, resolve };
}
