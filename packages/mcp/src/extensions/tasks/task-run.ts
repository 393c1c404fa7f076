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
import { endedRecord, hasEnded, type TaskRecord, taskOf, withResult } from "./stored/task-record.js";
import { STORAGE_MS, type TaskStore } from "./stored/task-store.js";
import { askedTooEarly, type RunHistory, StatusMessage, TaskAsker } from "./task-asker.js";
import { TaskCall } from "./task-call.js";

/** The first and the longest pause between attempts to store a change, in milliseconds. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** Maximum time for which a handler waits for a failing storage, in milliseconds. Then the step or question fails. */
const MAX_RETRY_MS = 60_000;

/** The environment that the runs of one server share. */
export interface RunEnvironment {
  readonly server: ExtendedServer;
  readonly store: TaskStore;
  /**
   * Time that a question may stay open, in milliseconds. If undefined, a question stays open as long as the task is
   * stored.
   */
  readonly answerMs: number | undefined;
  /** Called when the run has ended, with or without an outcome. */
  onRunEnd(run: TaskRun): void;
}

type RecordChange = (record: TaskRecord) => TaskRecord;
/** The members of the call's exchange, or of the stored call, that a run uses. */
type ExchangeSource = Pick<Exchange, "http" | "principal" | "peer" | "remote">;

/**
 * One run of a task's handler. The run may change the stored task as long as it holds the lease. An outage of the
 * storage delays the task, but does not end it.
 */
export class TaskRun {
  readonly id: string;
  readonly call = new TaskCall();
  /** True if another process shall continue the task. Then this run starts no further step or question. */
  isReleased = false;
  /** Set if the client that created the task receives status notifications. */
  creator: { readonly peer: Peer; readonly request: Call } | undefined;
  /**
   * True if changes of the task need not be reported to this run: the handler has ended, and the client receives no
   * status notifications.
   */
  ignoresChanges = false;
  /**
   * Stores the task if it is not stored yet. Called before the tool runs, or earlier if middleware asks a question or
   * starts a step.
   */
  create: () => Promise<void> = async () => {};
  readonly #environment: RunEnvironment;
  readonly #controller = new AbortController();
  /** Aborted when the task has ended, expired or been released, or when another process runs it. */
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

  /** `record` is the task at the start of this run. */
  constructor(environment: RunEnvironment, record: TaskRecord) {
    this.id = record.id;
    this.#environment = environment;
    this.#record = record;
  }

  /** Ends the run without an outcome, for example because the task was cancelled or another process runs it. */
  abort(reason: McpError): void {
    this.#controller.abort(reason);
  }

  /**
   * Ends the run so that another process can continue the task. No step and no question starts any more, and the
   * outcome is not stored. Resolves when the steps that have begun are done and stored.
   */
  async release(): Promise<void> {
    this.isReleased = true;
    await this.#asker?.stepsStored();
    this.abort(new McpError("cancelled", "the server is closed"));
  }

  /**
   * Runs the call of the task, with the answers and steps of earlier runs. Calls `create`, if given, before the handler
   * starts.
   */
  run(request: Call, source: ExchangeSource, create?: () => Promise<void>): Promise<object> {
    const exchange = this.#exchange(source);
    const asker = this.#askerFor(request, exchange, this.#record);
    if (create !== undefined) this.create = create;
    return this.call.run(this.#environment.server, request, exchange, asker, create);
  }

  /**
   * Runs a call that its handler may turn into a task. The task continues with the answers and steps of the call so
   * far.
   */
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
      this.call.useAsker(this.#askerFor(request, exchange, { answers, steps, ...same }));
      await this.create();
      return true;
    };
    let started: Promise<boolean> | undefined;
    return this.call.runLate(this.#environment.server, request, exchange, () => {
      started ??= start();
      return neverUnhandled(started);
    });
  }

  #askerFor(request: Call, exchange: Exchange, begun: RunHistory): TaskAsker {
    const { server, answerMs } = this.#environment;
    this.#asker = new TaskAsker(this, { request, exchange, slot: this.call.slot }, begun, server.platform, answerMs);
    return this.#asker;
  }

  /** Subscribes to changes by other processes: answers, cancellation, another lease. Never rejects. */
  async subscribe(): Promise<void> {
    const { platform } = this.#environment.server;
    this.#subscribing ??= this.#subscribeNow().catch((error: unknown) => {
      // The next heartbeat of this process reads the task and subscribes again.
      this.#subscribing = undefined;
      platform.warn(`could not subscribe to the changes of a task: ${thrownMessage(error)}`);
    });
    await atMost(platform, STORAGE_MS, this.#subscribing);
  }

  async #subscribeNow(): Promise<void> {
    const unsubscribe = await this.#environment.server.subscribe("taskIds", this.id, () => void this.refresh());
    if (this.#ended) unsubscribe();
    else this.#unsubscribe = unsubscribe;
  }

  /**
   * Called when the task is stored. Starts the expiry timer, and reads the record again if it may have changed in the
   * meantime.
   */
  async onStored(): Promise<void> {
    const { createdAt, ttlMs } = this.#record;
    const { platform } = this.#environment.server;
    this.#isStored = true;
    if (this.signal.aborted) return;
    this.#expiry = longTimer(
      Math.max(1, createdAt + ttlMs - platform.now()),
      () => this.abort(new McpError("cancelled", "the task has expired")),
      (part, run) => platform.timer(part, run),
    );
    onAbort(this.signal, () => this.#expiry?.cancel());
    if (this.#readsAgain) await this.refresh();
  }

  /** Reads the record again. Concurrent calls share one read. Never rejects. */
  async refresh(): Promise<void> {
    if (this.#ended) return;
    this.#readsAgain = true;
    // Until the task is stored there may be no record, and `#read` would treat a missing record as an expired task.
    if (!this.#isStored) return;
    this.#reading ??= this.#read();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { store, server } = this.#environment;
    while (this.#readsAgain && !this.signal.aborted && !this.#ended) {
      this.#readsAgain = false;
      try {
        const record = await store.read(this.id);
        if (this.#ended) break;
        if (record === undefined) this.abort(expired());
        else this.#apply(record);
      } catch (error) {
        server.platform.warn(`a task could not be read: ${thrownMessage(error)}`);
      }
    }
    // Clear `#reading` in the same turn as the last check of the loop. Otherwise a `refresh()` in between would have no
    // effect.
    this.#reading = undefined;
    if (this.#subscribing === undefined && !this.#ended) await this.subscribe();
  }

  #apply(record: TaskRecord): void {
    const refused = this.#refusal(record);
    if (refused !== undefined) this.abort(refused);
    else this.#asker?.deliverAnswers(record);
  }

  /**
   * The exchange of the run. Progress reports of the handler become the status message, and requests to the client are
   * refused.
   */
  #exchange({ http, principal, peer, remote = peer?.remote }: ExchangeSource): Exchange {
    const caller = principal ?? peer?.principal;
    return {
      ...(remote === undefined ? {} : { remote }),
      id: this.id,
      signal: this.signal,
      ...(http === undefined ? {} : { http }),
      ...(caller === undefined ? {} : { principal: caller }),
      send: (text) => this.#sendNotification(text),
      ask: () =>
        Promise.reject(
          new McpError("internal_error", "a task cannot send requests: its questions are stored in its record"),
        ),
    };
  }

  /**
   * Like `#exchange`, but with access to the client until the handler starts the task. Until then the client can cancel
   * the call, answer questions, and receive progress with the `token` of its request.
   */
  #lateExchange(exchange: Exchange, token: Id | undefined): Exchange {
    const own = this.#exchange(exchange);
    onAbort(exchange.signal, () => {
      if (!this.#isStored) this.abort(McpError.from(exchange.signal.reason));
    });
    return {
      ...own,
      ...(exchange.peer === undefined ? {} : { peer: exchange.peer }),
      send: (text) => (this.#isStored ? own.send(text) : sendBeforeTask(exchange, token, text)),
      ...(exchange.ask === undefined ? {} : { ask: exchange.ask.bind(exchange) }),
    };
  }

  #sendNotification(text: string): void {
    if (!this.#isStored) return;
    const { method, params = {} } = JSON.parse(text) as { method: string; params?: Record<string, unknown> };
    if (method !== "notifications/progress") return this.#sendToCreator(method, params);
    this.#message ??= new StatusMessage(
      this.#record.progress,
      (report) => this.change((found) => ({ ...found, ...report })),
      (ms) => this.#pause(ms),
    );
    const progressToken = this.creator?.request.progressToken;
    if (this.#message.report(params) && progressToken !== undefined) {
      this.#sendToCreator(method, { ...params, progressToken });
    }
  }

  #sendToCreator(method: string, params: object): void {
    this.creator?.peer.send(notificationText(method, relatedTo(this.id, params)));
  }

  /**
   * Called when this process changed the task. Sends the new status to the client that created the task.
   *
   * Spec: Tasks, "Task Status Notification",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-notification
   */
  onChange(record: TaskRecord): void {
    if (!this.#isStored) this.#readsAgain = true;
    else if (!this.#ended) this.#apply(record);
    if (this.creator === undefined) return;
    const { peer, request } = this.creator;
    peer.send(notificationText("notifications/tasks/status", taskDialect(request.revision).encode(taskOf(record))));
    if (hasEnded(record)) this.creator = undefined;
  }

  /** Stores the outcome of the handler. Never rejects. */
  async settle(outcome: Promise<object>, request: Call): Promise<void> {
    const end = await endChange(outcome, request);
    // Unsubscribe first: this run makes the next change itself and need not be notified of it.
    this.#unsubscribeNow();
    this.ignoresChanges = this.creator === undefined;
    await this.#end(end);
    this.dispose();
    this.#environment.onRunEnd(this);
  }

  #unsubscribeNow(): void {
    this.#ended = true;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  /** Ends the subscription, the open questions and the timer of the run. */
  dispose(): void {
    this.#unsubscribeNow();
    this.#asker?.rejectOpenQuestions();
    this.#expiry?.cancel();
    this.creator = undefined;
  }

  /**
   * Stores a change, such as the start of a step or a question. Rejects if this run no longer holds the lease, or
   * releases the task.
   */
  async change(change: RecordChange): Promise<TaskRecord> {
    await this.create();
    return this.#withRetries(MAX_RETRY_MS, () => {
      if (this.isReleased) throw new McpError("cancelled", "the server is closed");
      return this.#write(change);
    });
  }

  /** Stores the outcome of a step, even while the task is being released. */
  storeStepOutcome(change: RecordChange): Promise<TaskRecord> {
    return this.#withRetries(MAX_RETRY_MS, () => this.#write(change));
  }

  /**
   * Stores the end of the task. Retries as long as this run holds the task, because the client is waiting for this
   * outcome. Never rejects.
   */
  async #end(change: RecordChange): Promise<void> {
    let end = change;
    while (!this.signal.aborted && !this.isReleased) {
      try {
        await this.#withRetries(Number.POSITIVE_INFINITY, () => this.#write(end));
        return;
      } catch (error) {
        if (this.signal.aborted) return;
        end = failedToStore(error);
        await this.#pause(FIRST_PAUSE_MS);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return pause(this.#environment.server.platform, ms, this.signal);
  }

  async #withRetries(maxMs: number, store: () => Promise<TaskRecord>): Promise<TaskRecord> {
    const { platform } = this.#environment.server;
    const since = platform.monotonic();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return await store();
      } catch (error) {
        const waited = platform.monotonic() - since;
        if (this.signal.aborted || isFinal(error) || waited + pauseMs > maxMs) throw error;
        platform.warn(`a task could not be stored, and the write is retried soon: ${thrownMessage(error)}`);
        await this.#pause(pauseMs);
      }
    }
  }

  async #write(change: RecordChange): Promise<TaskRecord> {
    // An aborted run writes nothing.
    if (this.signal.aborted) throw McpError.from(this.signal.reason);
    let refused: McpError | undefined;
    const changed = await this.#environment.store.update(this.id, (record) => {
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
    return isFinalStatus(status) ? new McpError("cancelled", statusMessage ?? "the task has ended") : undefined;
  }
}

function expired(): McpError {
  return new McpError("cancelled", "the task has expired");
}

/**
 * Sends a notification before the task exists. A progress notification has the token of the task, which the client does
 * not know yet, so the token of the request replaces it.
 */
function sendBeforeTask(exchange: Exchange, token: Id | undefined, text: string): void {
  const { method, params } = JSON.parse(text) as { method: string; params?: object };
  if (method !== "notifications/progress") exchange.send(text);
  else if (token !== undefined) exchange.send(notificationText(method, { ...params, progressToken: token }));
}

/** Turns the outcome of the handler into a change of the record. Never rejects. */
async function endChange(outcome: Promise<object>, request: Call): Promise<RecordChange> {
  try {
    const value = await outcome;
    if (value instanceof ExtensionResult) {
      throw new McpError(
        "internal_error",
        "another extension answered the call with its own result type, which a task cannot have",
      );
    }
    if (value instanceof InputOutcome) throw askedTooEarly();
    const result = taskDialect(request.revision).storedResult(value, request);
    return (record) => withResult(record, result);
  } catch (thrown) {
    const { code, message, data } = McpError.from(thrown);
    const kept = asJson(data);
    const error = { code, message, ...(kept === undefined ? {} : { data: kept }) };
    return (record) => endedRecord(record, "failed", { error }, message);
  }
}

/** True if another attempt would fail for the same reason. */
function isFinal(error: unknown): boolean {
  return error instanceof StorageError || (McpError.is(error) && error.kind !== "internal_error");
}

/** The end of a task whose outcome cannot be stored. Omits the storage's own message, which clients must not see. */
function failedToStore(error: unknown): RecordChange {
  const { code, message } = McpError.is(error)
    ? error
    : new McpError("internal_error", "the outcome of the task could not be stored, because the storage is full");
  return (record) => endedRecord(record, "failed", { error: { code, message } }, message);
}
