import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Call } from "../../era/era.js";
import { notificationText } from "../../era/notification.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import type { Id } from "../../jsonrpc/message.js";
import { longTimer, type Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { InputOutcome } from "../../server/call/input-required.js";
import { ExtensionResult } from "../../server/call/server-call.js";
import { asJson } from "../../server/questions/state.js";
import type { Exchange } from "../../transport/transport.js";
import type { ExtendedServer } from "../seam/extended-server.js";
import { StatusMessage } from "./status-message.js";
import { LeasedTask } from "./stored/leased-task.js";
import { timely } from "./stored/timely-key-value.js";
import { type AskedTask, askedTooEarly, type BegunRun, TaskAsker } from "./task-asker.js";
import { type TaskCall, TaskSlot } from "./task-call.js";
import { ended, type TaskRecord, withResult } from "./task-record.js";

/** What a run needs from the server that it belongs to. */
export interface RunContext {
  /** Milliseconds that a question may stay open; undefined for as long as the task is kept. */
  readonly answerMs: number | undefined;
  read(id: string): Promise<TaskRecord | undefined>;
  /** Changes a record and tells those who wait for it. Undefined if the task has expired. */
  change(id: string, change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord | undefined>;
  /** The handler sent a notification. */
  notify(id: string, method: string, params: Record<string, unknown>): void;
  /** The run has ended, whatever became of the task. */
  over(run: TaskRun): void;
}

/** What a run takes over from the exchange of its call, or from what was stored of it. */
type ExchangeSource = Pick<Exchange, "http" | "principal" | "peer" | "remote">;

/** One run of the handler of a task. It may write as long as it holds the lease of the record. */
export class TaskRun {
  readonly id: string;
  readonly slot = new TaskSlot();
  readonly #server: ExtendedServer;
  readonly #context: RunContext;
  readonly #task: LeasedTask;
  readonly #until: number;
  #asker: TaskAsker | undefined;
  #hearing: Promise<(() => void) | undefined> | undefined;
  #expiry: Timer | undefined;
  #looking: Promise<void> | undefined;
  #looksAgain = false;
  readonly #message: StatusMessage;
  #began = false;
  #ended = false;

  constructor(server: ExtendedServer, context: RunContext, record: TaskRecord) {
    this.id = record.id;
    this.#server = server;
    this.#context = context;
    this.#task = new LeasedTask(server.platform, record, (change) => context.change(record.id, change));
    this.#until = record.createdAt + record.ttlMs;
    this.#message = new StatusMessage(
      record.progress,
      (report) => this.#task.change((found) => ({ ...found, ...report })),
      (ms) => this.#task.pause(ms),
    );
  }

  /** Aborted when the run has lost its task, or before that when the client of the call has gone. */
  get signal(): AbortSignal {
    return this.#task.signal;
  }

  /** Ends the run without an outcome of its own: the task was cancelled, or another process has it. */
  abort(reason: McpError): void {
    this.#task.abort(reason);
  }

  /** Whether another process shall go on with the task. */
  get isReleased(): boolean {
    return this.#task.isReleased;
  }

  /**
   * Ends the run so that another process can go on with the task: no step and no question begins any more, and the outcome is
   * not stored. Resolves when steps that have begun are done and stored.
   */
  async release(): Promise<void> {
    this.#task.isReleased = true;
    await this.#asker?.rested();
    this.abort(new McpError("cancelled", "the server is closed"));
  }

  /** Makes the call of this run keep its questions and steps in the record. */
  prepare(call: TaskCall, recorded: BegunRun): void {
    const task: AskedTask = {
      platform: this.#server.platform,
      answerMs: this.#context.answerMs,
      signal: this.#task.signal,
      slot: this.slot,
      requireCapabilities: (needs) => call.requireCapabilities(needs),
      change: async (change) => {
        await this.create();
        return this.#task.change(change);
      },
      keep: (change) => this.#task.keep(change),
    };
    this.#asker = new TaskAsker(task, recorded);
    // From here on the number of tasks is the limit, and nothing may refuse what has been promised.
    call.keepIn(this.id, this.#asker);
  }

  /** Stores the task, if that has not happened yet: before the tool runs, or when middleware asks or begins a step before that. */
  create: () => Promise<void> = async () => {};

  /** Listens to what happens to the stored task elsewhere: answers, cancellation, another lease. Never rejects. */
  async listen(): Promise<void> {
    this.#began = true;
    this.#watchExpiry();
    await this.#hear();
    // What happened before the ear was there.
    await this.look();
  }

  /** Where it cannot listen now, it looks with the beats of its process and tries again then. */
  async #hear(): Promise<void> {
    this.#hearing ??= this.#server
      .hear("taskIds", this.id, () => void this.look())
      .then(
        (unhear) => {
          if (!this.#ended) return unhear;
          unhear();
          return undefined;
        },
        (error: unknown) => {
          this.#hearing = undefined;
          this.#server.platform.warn(`a task cannot be listened to: ${thrownMessage(error)}`);
          return undefined;
        },
      );
    try {
      await timely(this.#hearing, this.#server.platform);
    } catch {
      // It goes on without for now.
    }
  }

  #watchExpiry(): void {
    const { platform } = this.#server;
    const { signal } = this.#task;
    if (signal.aborted) return;
    signal.addEventListener("abort", () => this.#expiry?.cancel(), { once: true });
    const ms = Math.max(1, this.#until - platform.now());
    this.#expiry = longTimer(
      ms,
      () => this.abort(new McpError("cancelled", "the task has expired")),
      (part, run) => platform.timer(part, run),
    );
  }

  /** Reads the record again; one read at a time, however many reasons there are. Never rejects. */
  async look(): Promise<void> {
    // Before that there may be no record yet, which must not be taken for one that has expired.
    if (!this.#began || this.#ended) return;
    if (this.#looking !== undefined) {
      this.#looksAgain = true;
      await this.#looking;
      return;
    }
    this.#looking = this.#lookNow();
    await this.#looking;
  }

  async #lookNow(): Promise<void> {
    do {
      this.#looksAgain = false;
      try {
        const record = await this.#context.read(this.id);
        if (this.#ended) break;
        if (record === undefined) this.abort(new McpError("cancelled", "the task has expired"));
        else if (this.#task.see(record)) this.#asker?.answered(record);
      } catch (error) {
        this.#server.platform.warn(`a task could not be read: ${thrownMessage(error)}`);
      }
    } while (this.#looksAgain && !this.#task.signal.aborted);
    // In the same turn as the question whether to look again, which would else be lost in between.
    this.#looking = undefined;
    if (this.#hearing === undefined && !this.#ended) await this.#hear();
  }

  /** The exchange of the run: what a handler says becomes the status message, and nobody can be asked by a request. */
  exchange({ http, principal, peer, remote = peer?.remote }: ExchangeSource): Exchange {
    const caller = principal ?? peer?.principal;
    return {
      ...(remote === undefined ? {} : { remote }),
      id: this.id,
      signal: this.#task.signal,
      ...(http === undefined ? {} : { http }),
      ...(caller === undefined ? {} : { principal: caller }),
      say: (text) => this.#say(text),
      ask: () => Promise.reject(new McpError("internal_error", "a task asks by its record")),
    };
  }

  /**
   * The same until the handler makes the call a task: till then its client can cancel it, be asked, and be told progress by the
   * `token` of its request.
   */
  lateExchange(exchange: Exchange, token: Id | undefined): Exchange {
    const own = this.exchange(exchange);
    const cancel = () => {
      if (!this.#began) this.abort(McpError.from(exchange.signal.reason));
    };
    if (exchange.signal.aborted) cancel();
    else exchange.signal.addEventListener("abort", cancel, { once: true });
    return {
      ...own,
      ...(exchange.peer === undefined ? {} : { peer: exchange.peer }),
      say: (text) => (this.#began ? own.say(text) : sayEarly(exchange, token, text)),
      ...(exchange.ask === undefined ? {} : { ask: exchange.ask.bind(exchange) }),
    };
  }

  /** Stores how the handler ended, and tells those who wait. Never rejects. */
  async settle(outcome: Promise<object>, request: Call): Promise<void> {
    const end = await endOf(outcome, request);
    // From now on nobody has to be told of what becomes of the task, least of all of its end.
    this.#ended = true;
    await this.#task.end(end);
    this.#asker?.giveUp();
    this.#expiry?.cancel();
    this.#hearing?.then((unhear) => unhear?.());
    this.#context.over(this);
  }

  #say(text: string): void {
    const { method, params = {} } = JSON.parse(text) as { method: string; params?: Record<string, unknown> };
    if (method !== "notifications/progress" || this.#message.note(params)) {
      this.#context.notify(this.id, method, params);
    }
  }
}

/** Progress has the token of the task, which the client does not know yet. */
function sayEarly(exchange: Exchange, token: Id | undefined, text: string): void {
  const { method, params } = JSON.parse(text) as { method: string; params?: object };
  if (method !== "notifications/progress") exchange.say(text);
  else if (token !== undefined) exchange.say(notificationText(method, { ...params, progressToken: token }));
}

/** What the end of the handler makes of the record. Never rejects. */
async function endOf(outcome: Promise<object>, request: Call): Promise<(record: TaskRecord) => TaskRecord> {
  try {
    const value = await outcome;
    if (value instanceof ExtensionResult) {
      throw new McpError("internal_error", "the call was answered in the form of another extension, which no task has");
    }
    if (value instanceof InputOutcome) throw askedTooEarly();
    const result = taskDialect(request.revision).stored(value, request);
    return (record) => withResult(record, result);
  } catch (thrown) {
    const { code, message, data } = McpError.from(thrown);
    const kept = asJson(data);
    const error = { code, message, ...(kept === undefined ? {} : { data: kept }) };
    return (record) => ended(record, "failed", { error }, message);
  }
}
