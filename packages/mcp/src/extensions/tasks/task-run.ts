import { neverUnhandled } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Call } from "../../era/era.js";
import { notificationText } from "../../era/notification.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { relatedTo } from "../../era/task-shape.js";
import type { Id } from "../../jsonrpc/message.js";
import { onAbort } from "../../platform/on-abort.js";
import { atMost, pause } from "../../platform/pause.js";
import { longTimer, type Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { isFinalStatus } from "../../protocol/features/tasks.js";
import { InputOutcome } from "../../server/call/asker.js";
import { ExtensionResult } from "../../server/call/server-call.js";
import { asJson } from "../../server/questions/by-replay.js";
import { StorageError } from "../../storage/storage.js";
import type { Exchange, Peer } from "../../transport/transport.js";
import type { ExtendedServer } from "../seam/extended-server.js";
import { ended, isOver, type TaskRecord, taskOf, withResult } from "./stored/task-record.js";
import { STORAGE_MS, type TaskStore } from "./stored/task-store.js";
import { askedTooEarly, type BegunRun, StatusMessage, TaskAsker } from "./task-asker.js";
import { TaskCall } from "./task-call.js";

/** Pauses between attempts to store something, from the first to the longest. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** Milliseconds that a handler waits for a storage that fails. */
const PATIENCE_MS = 60_000;

/** What the runs of one server share. */
export interface RunHome {
  readonly server: ExtendedServer;
  readonly store: TaskStore;
  /** Milliseconds that a question may stay open; undefined for as long as the task is kept. */
  readonly answerMs: number | undefined;
  /** The run has ended, whatever became of the task. */
  over(run: TaskRun): void;
}

type RecordChange = (record: TaskRecord) => TaskRecord;
/** What a run takes from the exchange of its call, or from what was stored of it. */
type ExchangeSource = Pick<Exchange, "http" | "principal" | "peer" | "remote">;

/**
 * One run of the handler of a task. It may change the stored task as long as it has the lease. An outage of the storage delays the
 * task and does not end it.
 */
export class TaskRun {
  readonly id: string;
  readonly call = new TaskCall();
  /** Whether another process shall continue the task: nothing new begins here then. */
  isReleased = false;
  /** Set if the client that created the task is sent its status. */
  creator: { readonly peer: Peer; readonly request: Call } | undefined;
  /** Whether nobody has to be told of a change: the handler has ended, and the client is not sent the status. */
  isAlone = false;
  /** Stores the task, if that has not happened yet: before the tool runs, or when middleware asks or begins a step before that. */
  create: () => Promise<void> = async () => {};
  readonly #home: RunHome;
  readonly #controller = new AbortController();
  /** Aborted when the run has lost the task, or when the task is over. */
  readonly signal = this.#controller.signal;
  readonly #record: TaskRecord;
  #asker: TaskAsker | undefined;
  #message: StatusMessage | undefined;
  #subscribing: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;
  #expiry: Timer | undefined;
  #reading: Promise<void> | undefined;
  #readsAgain = false;
  #isStored = false;
  #ended = false;

  /** `record` is the task as this run begins it. */
  constructor(home: RunHome, record: TaskRecord) {
    this.id = record.id;
    this.#home = home;
    this.#record = record;
  }

  /** Ends the run without an outcome of its own: the task was cancelled, or another process has it. */
  abort(reason: McpError): void {
    this.#controller.abort(reason);
  }

  /**
   * Ends the run so that another process can continue the task: no step and no question begins any more, and the outcome is
   * not stored. Resolves when steps that have begun are done and stored.
   */
  async release(): Promise<void> {
    this.isReleased = true;
    await this.#asker?.rested();
    this.abort(new McpError("cancelled", "the server is closed"));
  }

  /** Runs the call of the task, whose record has its questions and steps. Calls `create` before the handler begins. */
  run(request: Call, source: ExchangeSource, create?: () => Promise<void>): Promise<object> {
    const exchange = this.#exchange(source);
    const asker = this.#askerFor(request, exchange, this.#record);
    if (create !== undefined) this.create = create;
    return this.call.run(this.#home.server, request, exchange, asker, create);
  }

  /** Runs a call that its handler may make a task, which continues with what the call has asked and done so far. */
  runLate(
    request: Call,
    outer: Exchange,
    token: Id | undefined,
    create: (begun: Pick<TaskRecord, "answers" | "steps">) => Promise<void>,
  ): Promise<object> {
    const exchange = this.#lateExchange(outer, token);
    const start = async () => {
      const { answers: given = {}, steps = {}, ...same } = (await this.call.served?.recorded()) ?? {};
      const answers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, { value }]));
      this.create = () => create({ answers, steps });
      this.call.keep(this.#askerFor(request, exchange, { answers, steps, ...same }));
      await this.create();
      return true;
    };
    let started: Promise<boolean> | undefined;
    return this.call.runLate(this.#home.server, request, exchange, () => {
      started ??= start();
      return neverUnhandled(started);
    });
  }

  #askerFor(request: Call, exchange: Exchange, begun: BegunRun): TaskAsker {
    const { server, answerMs } = this.#home;
    this.#asker = new TaskAsker(this, { request, exchange, slot: this.call.slot }, begun, server.platform, answerMs);
    return this.#asker;
  }

  /** Subscribes to what other processes change: answers, cancellation, another lease. Never rejects. */
  async subscribe(): Promise<void> {
    const { platform } = this.#home.server;
    this.#subscribing ??= this.#subscribeNow().catch((error: unknown) => {
      // It reads the task with the beats of its process, and tries again then.
      this.#subscribing = undefined;
      platform.warn(`a task cannot be listened to: ${thrownMessage(error)}`);
    });
    await atMost(platform, STORAGE_MS, this.#subscribing);
  }

  async #subscribeNow(): Promise<void> {
    const unsubscribe = await this.#home.server.hear("taskIds", this.id, () => void this.look());
    if (this.#ended) unsubscribe();
    else this.#unsubscribe = unsubscribe;
  }

  /** The task is stored. Reads it if it may have changed since. */
  async stored(): Promise<void> {
    const { createdAt, ttlMs } = this.#record;
    const { platform } = this.#home.server;
    this.#isStored = true;
    if (this.signal.aborted) return;
    this.#expiry = longTimer(
      Math.max(1, createdAt + ttlMs - platform.now()),
      () => this.abort(new McpError("cancelled", "the task has expired")),
      (part, run) => platform.timer(part, run),
    );
    onAbort(this.signal, () => this.#expiry?.cancel());
    if (this.#readsAgain) await this.look();
  }

  /** Reads the record again; one read at a time, however many reasons there are. Never rejects. */
  async look(): Promise<void> {
    if (this.#ended) return;
    this.#readsAgain = true;
    // Before that there may be no record yet, which must not be taken for one that has expired.
    if (!this.#isStored) return;
    this.#reading ??= this.#read();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { store, server } = this.#home;
    while (this.#readsAgain && !this.signal.aborted && !this.#ended) {
      this.#readsAgain = false;
      try {
        const record = await store.read(this.id);
        if (this.#ended) break;
        if (record === undefined) this.abort(expired());
        else this.#see(record);
      } catch (error) {
        server.platform.warn(`a task could not be read: ${thrownMessage(error)}`);
      }
    }
    // In the same turn as the question whether to read again, which would else be lost in between.
    this.#reading = undefined;
    if (this.#subscribing === undefined && !this.#ended) await this.subscribe();
  }

  #see(record: TaskRecord): void {
    const refused = this.#refusal(record);
    if (refused !== undefined) this.abort(refused);
    else this.#asker?.answered(record);
  }

  /** The exchange of the run: what a handler says becomes the status message, and nobody can be asked by a request. */
  #exchange({ http, principal, peer, remote = peer?.remote }: ExchangeSource): Exchange {
    const caller = principal ?? peer?.principal;
    return {
      ...(remote === undefined ? {} : { remote }),
      id: this.id,
      signal: this.signal,
      ...(http === undefined ? {} : { http }),
      ...(caller === undefined ? {} : { principal: caller }),
      send: (text) => this.#say(text),
      ask: () =>
        Promise.reject(new McpError("internal_error", "a task sends no requests: its record has its questions")),
    };
  }

  /**
   * The same until the handler makes the call a task: till then its client can cancel it, be asked, and be told progress by the
   * `token` of its request.
   */
  #lateExchange(exchange: Exchange, token: Id | undefined): Exchange {
    const own = this.#exchange(exchange);
    onAbort(exchange.signal, () => {
      if (!this.#isStored) this.abort(McpError.from(exchange.signal.reason));
    });
    return {
      ...own,
      ...(exchange.peer === undefined ? {} : { peer: exchange.peer }),
      send: (text) => (this.#isStored ? own.send(text) : sayEarly(exchange, token, text)),
      ...(exchange.ask === undefined ? {} : { ask: exchange.ask.bind(exchange) }),
    };
  }

  #say(text: string): void {
    if (!this.#isStored) return;
    const { method, params = {} } = JSON.parse(text) as { method: string; params?: Record<string, unknown> };
    if (method !== "notifications/progress") return this.#sendToCreator(method, params);
    this.#message ??= new StatusMessage(
      this.#record.progress,
      (report) => this.change((found) => ({ ...found, ...report })),
      (ms) => this.#pause(ms),
    );
    const progressToken = this.creator?.request.progressToken;
    if (this.#message.note(params) && progressToken !== undefined) {
      this.#sendToCreator(method, { ...params, progressToken });
    }
  }

  #sendToCreator(method: string, params: object): void {
    this.creator?.peer.send(notificationText(method, relatedTo(this.id, params)));
  }

  /**
   * The task was changed by this process. Sends its status to the client that created it.
   *
   * Spec: Tasks, "Task Status Notification",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-notification
   */
  changed(record: TaskRecord): void {
    if (!this.#isStored) this.#readsAgain = true;
    else if (!this.#ended) this.#see(record);
    if (this.creator === undefined) return;
    const { peer, request } = this.creator;
    peer.send(notificationText("notifications/tasks/status", taskDialect(request.revision).encode(taskOf(record))));
    if (isOver(record)) this.creator = undefined;
  }

  /** Stores how the handler ended. Never rejects. */
  async settle(outcome: Promise<object>, request: Call): Promise<void> {
    const end = await endOf(outcome, request);
    // From now on the run need not know what becomes of the task, least of all of its end.
    this.#unsubscribeNow();
    this.isAlone = this.creator === undefined;
    await this.#end(end);
    this.leave();
    this.#home.over(this);
  }

  #unsubscribeNow(): void {
    this.#ended = true;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  /** Ends all that the run waits for. */
  leave(): void {
    this.#unsubscribeNow();
    this.#asker?.giveUp();
    this.#expiry?.cancel();
    this.creator = undefined;
  }

  /** Stores something that begins. Rejects when this run has lost the task or gives it away. */
  async change(change: RecordChange): Promise<TaskRecord> {
    await this.create();
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
  async #end(change: RecordChange): Promise<void> {
    let end = change;
    while (!this.signal.aborted && !this.isReleased) {
      try {
        await this.#patiently(Number.POSITIVE_INFINITY, () => this.#write(end));
        return;
      } catch (error) {
        if (this.signal.aborted) return;
        end = unstored(error);
        await this.#pause(FIRST_PAUSE_MS);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return pause(this.#home.server.platform, ms, this.signal);
  }

  async #patiently(patienceMs: number, store: () => Promise<TaskRecord>): Promise<TaskRecord> {
    const { platform } = this.#home.server;
    const since = platform.monotonic();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return await store();
      } catch (error) {
        const waited = platform.monotonic() - since;
        if (this.signal.aborted || isFinal(error) || waited + pauseMs > patienceMs) throw error;
        platform.warn(`a task could not be stored and is stored again soon: ${thrownMessage(error)}`);
        await this.#pause(pauseMs);
      }
    }
  }

  async #write(change: RecordChange): Promise<TaskRecord> {
    // A run that was told to end stores nothing more.
    if (this.signal.aborted) throw McpError.from(this.signal.reason);
    let refused: McpError | undefined;
    const changed = await this.#home.store.update(this.id, (record) => {
      refused = this.#refusal(record);
      return refused === undefined ? change(record) : record;
    });
    if (refused === undefined && changed !== undefined) return changed;
    const reason = refused ?? expired();
    this.abort(reason);
    throw reason;
  }

  #refusal({ lease, status, statusMessage }: TaskRecord): McpError | undefined {
    if (lease.token !== this.#record.lease.token) return new McpError("cancelled", "another process runs the task");
    return isFinalStatus(status) ? new McpError("cancelled", statusMessage ?? "the task is over") : undefined;
  }
}

function expired(): McpError {
  return new McpError("cancelled", "the task has expired");
}

/** Progress has the token of the task, which the client does not know yet. */
function sayEarly(exchange: Exchange, token: Id | undefined, text: string): void {
  const { method, params } = JSON.parse(text) as { method: string; params?: object };
  if (method !== "notifications/progress") exchange.send(text);
  else if (token !== undefined) exchange.send(notificationText(method, { ...params, progressToken: token }));
}

/** What the end of the handler makes of the record. Never rejects. */
async function endOf(outcome: Promise<object>, request: Call): Promise<RecordChange> {
  try {
    const value = await outcome;
    if (value instanceof ExtensionResult) {
      throw new McpError("internal_error", "the call was answered in the form of another extension, which no task has");
    }
    if (value instanceof InputOutcome) throw askedTooEarly();
    const result = taskDialect(request.revision).storedResult(value, request);
    return (record) => withResult(record, result);
  } catch (thrown) {
    const { code, message, data } = McpError.from(thrown);
    const kept = asJson(data);
    const error = { code, message, ...(kept === undefined ? {} : { data: kept }) };
    return (record) => ended(record, "failed", { error }, message);
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
