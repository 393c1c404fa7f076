import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Call } from "../../era/era.js";
import { keptResult } from "../../era/task-shape.js";
import { McpError } from "../../protocol/error.js";
import { requireCapabilities } from "../../server/questions/can-ask.js";
import type { Exchange } from "../../transport/transport.js";
import type { ExtendedServer, PreparedCall } from "../seam/extended-server.js";
import { type AskedTask, TaskAsker } from "./task-asker.js";
import { ended, isOver, type TaskLease, type TaskRecord } from "./task-record.js";

/** How often the message of a task's progress is stored at most. */
const STATUS_INTERVAL_MS = 1000;

/** What a run needs from the server that it belongs to. */
export interface RunContext {
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
  readonly #server: ExtendedServer;
  readonly #context: RunContext;
  readonly #lease: TaskLease;
  readonly #controller = new AbortController();
  #asker: TaskAsker | undefined;
  #unhear: (() => void) | undefined;
  #message: string | undefined;
  #shown: string | undefined;
  #showing = false;
  #released = false;
  #began = false;

  constructor(server: ExtendedServer, context: RunContext, id: string, lease: TaskLease) {
    this.id = id;
    this.#server = server;
    this.#context = context;
    this.#lease = lease;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the run without an outcome of its own: the task was cancelled, or another process has it. */
  abort(reason: McpError): void {
    this.#controller.abort(reason);
  }

  /** Ends the run so that another process can go on with the task: nothing is written any more. */
  release(): void {
    this.#released = true;
    this.abort(new McpError("cancelled", "the server is closed"));
  }

  /** Makes the call of this run keep its questions and steps in the record. */
  prepare(call: PreparedCall, recorded: Pick<TaskRecord, "answers" | "steps">): void {
    const task: AskedTask = {
      platform: this.#server.platform,
      answerMs: this.#server.answerMs,
      signal: this.#controller.signal,
      requireCapabilities: (needs) => requireCapabilities(call, needs),
      change: (change) => this.#change(change),
    };
    this.#asker = new TaskAsker(task, recorded);
    call.useAsker(this.#asker);
    call.callId = this.id;
  }

  /** Listens to what happens to the stored task elsewhere: answers, cancellation, another lease. */
  async listen(): Promise<void> {
    this.#began = true;
    this.#unhear = await this.#server.hear("taskIds", this.id, () => void this.look());
    // What happened before the ear was there.
    await this.look();
  }

  /** Reads the record again. Never rejects. */
  async look(): Promise<void> {
    try {
      const record = await this.#context.read(this.id);
      if (record === undefined) this.abort(new McpError("cancelled", "the task has expired"));
      else this.#see(record);
    } catch (error) {
      this.#server.platform.warn(`a task could not be read: ${thrownMessage(error)}`);
    }
  }

  get waits(): boolean {
    return this.#asker?.waits === true;
  }

  #see(record: TaskRecord): void {
    if (record.lease.token !== this.#lease.token)
      this.abort(new McpError("cancelled", "another process runs the task"));
    else if (isOver(record)) this.abort(new McpError("cancelled", "the task was cancelled"));
    else this.#asker?.answered(record);
  }

  /** The exchange of the run: what a handler says becomes the status message, and nobody can be asked by a request. */
  exchange({ http, principal, peer, remote = peer?.remote }: ExchangeSource): Exchange {
    const caller = principal ?? peer?.principal;
    return {
      ...(remote === undefined ? {} : { remote }),
      id: this.id,
      signal: this.#controller.signal,
      ...(http === undefined ? {} : { http }),
      ...(caller === undefined ? {} : { principal: caller }),
      say: (text) => this.#say(text),
      ask: () => Promise.reject(new McpError("internal_error", "a task asks by its record")),
    };
  }

  /** The same until the handler makes the call a task: till then its client can cancel it and be asked. */
  lateExchange(exchange: Exchange): Exchange {
    const own = this.exchange(exchange);
    const cancel = () => {
      if (!this.#began) this.abort(McpError.from(exchange.signal.reason));
    };
    if (exchange.signal.aborted) cancel();
    else exchange.signal.addEventListener("abort", cancel, { once: true });
    return {
      ...own,
      ...(exchange.peer === undefined ? {} : { peer: exchange.peer }),
      say: (text) => (this.#began ? own.say(text) : exchange.say(text)),
      ...(exchange.ask === undefined ? {} : { ask: exchange.ask.bind(exchange) }),
    };
  }

  /** Stores how the handler ended, and tells those who wait. Never rejects. */
  async settle(outcome: Promise<object>, request: Call): Promise<void> {
    let change: (record: TaskRecord) => TaskRecord;
    try {
      const result = keptResult(await outcome, request);
      change = (record) => ended(record, "completed", { result }, failureText(result));
    } catch (thrown) {
      const { code, message, data } = McpError.from(thrown);
      const error = { code, message, ...(data === undefined ? {} : { data }) };
      change = (record) => ended(record, "failed", { error }, message);
    }
    try {
      await this.#change(change);
    } catch (error) {
      await this.#unsettled(error);
    } finally {
      this.#unhear?.();
      this.#context.over(this);
    }
  }

  /** The outcome could not be stored. If this run still holds the lease, the client gets at least the reason. */
  async #unsettled(error: unknown): Promise<void> {
    if (this.#controller.signal.aborted) return;
    const failure = McpError.from(error);
    const { code, message } = failure;
    await this.#change((record) => ended(record, "failed", { error: { code, message } }, message)).catch((again) => {
      this.#server.platform.warn(`the outcome of a task is lost: ${thrownMessage(again)}`);
    });
  }

  async #change(change: (record: TaskRecord) => TaskRecord): Promise<TaskRecord> {
    const { token } = this.#lease;
    if (this.#released) throw new McpError("cancelled", "the server is closed");
    let refused: McpError | undefined;
    const changed = await this.#context.change(this.id, (record) => {
      refused = undefined;
      if (record.lease.token === token && !isOver(record)) return change(record);
      refused = new McpError("cancelled", isOver(record) ? "the task is over" : "another process runs the task");
      return record;
    });
    if (changed === undefined) refused = new McpError("cancelled", "the task has expired");
    if (refused === undefined && changed !== undefined) return changed;
    this.abort(refused ?? new McpError("cancelled", "the task is over"));
    throw refused;
  }

  /**
   * Keeps the message of a progress report as the status message.
   *
   * Spec: Tasks extension, "Notifications": tasks have neither progress nor log notifications.
   */
  #say(text: string): void {
    const { method, params } = JSON.parse(text) as { method: string; params?: Record<string, unknown> };
    this.#context.notify(this.id, method, params ?? {});
    if (method !== "notifications/progress") return;
    const { message, progress, total } = params ?? {};
    this.#message =
      typeof message === "string" ? message : `${String(progress)}${total === undefined ? "" : ` of ${String(total)}`}`;
    if (!this.#showing) void this.#show();
  }

  async #show(): Promise<void> {
    this.#showing = true;
    try {
      while (this.#message !== this.#shown && !this.#controller.signal.aborted) {
        const statusMessage = this.#message;
        await this.#change((record) => ({ ...record, statusMessage }));
        this.#shown = statusMessage;
        await new Promise<void>((resolve) => void this.#server.platform.timer(STATUS_INTERVAL_MS, resolve));
      }
    } catch {
      // The task is over or elsewhere: nobody waits for the message.
    } finally {
      this.#showing = false;
    }
  }
}

/** A short text of a result that is an error, for people who look at the task. */
function failureText(result: Record<string, unknown>): string | undefined {
  if (result["isError"] !== true) return undefined;
  const [first] = Array.isArray(result["content"]) ? (result["content"] as { text?: unknown }[]) : [];
  return typeof first?.text === "string" ? first.text.slice(0, 500) : "the tool failed";
}
