import { randomName } from "../../encoding/base64.js";
import type { Question } from "../../era/era.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { readTask } from "../../era/task-shape.js";
import { isObject, type Params, requestText } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { DetailedTask } from "../../protocol/features/tasks.js";
import type { Asker, PreparedQuestion } from "../../server/call/asker.js";
import { unanswered } from "../../server/questions/by-request.js";
import type { Exchange } from "../../transport/transport.js";
import type { ExtendedServer, PreparedCall } from "../seam/extended-server.js";

/** Bounds for the poll interval that a client may request, and the interval if it requests none. */
const MIN_POLL_MS = 20;
const MAX_POLL_MS = 60_000;
const DEFAULT_POLL_MS = 1000;

/** Access to the client for the messages about one question. */
export interface QuestionRoute {
  readonly platform: Platform;
  /** Time that the client has to answer, in milliseconds. */
  readonly answerMs: number;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
  readonly exchange: Exchange;
  /** Sends a request. Rejects if the signal aborts. */
  send(method: string, params: Params): Promise<unknown>;
}

/**
 * Asks a question as a task of the client: the client answers with a task, and this function polls the task until it
 * ends. Also accepts a direct answer.
 *
 * Spec: Tasks, https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export async function askByTask(route: QuestionRoute, { method, params }: Question): Promise<unknown> {
  const answer = await route.send(method, { ...params, task: { ttl: route.answerMs } });
  if (!isObject(answer) || !isObject(answer["task"])) return answer;
  let task = readTask(answer["task"], "client");
  const { taskId } = task;
  try {
    task = await untilEnded(route, method, task);
    if (task.status === "cancelled") throw new McpError("cancelled", `the client cancelled its task for ${method}`);
    return await route.send("tasks/result", { taskId });
  } catch (error) {
    if (task.status === "working" || task.status === "input_required") withdraw(route, taskId);
    throw error;
  }
}

/** Polls the task until its result can be requested. */
async function untilEnded(route: QuestionRoute, method: string, first: DetailedTask): Promise<DetailedTask> {
  const { platform, answerMs } = route;
  const until = platform.monotonic() + answerMs;
  let task = first;
  while (task.status === "working") {
    const left = until - platform.monotonic();
    if (left <= 0) throw unanswered(method, answerMs);
    const interval = Math.min(Math.max(task.pollIntervalMs ?? DEFAULT_POLL_MS, MIN_POLL_MS), MAX_POLL_MS);
    await pause(route, Math.min(interval, left));
    const found = await route.send("tasks/get", { taskId: task.taskId });
    task = readTask(isObject(found) ? found : {}, "client");
    if (task.taskId !== first.taskId) throw new McpError("invalid_response", "the client answered with another task");
  }
  return task;
}

function pause({ platform, signal }: QuestionRoute, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.cancel();
      reject(new McpError("cancelled", "the call ended without this answer"));
    };
    const timer = platform.timer(ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Cancels the task, so that no user fills in an obsolete form. Ignores the response: a task that has ended cannot be
 * cancelled, and a client that is gone never responds.
 */
function withdraw({ platform, exchange }: QuestionRoute, taskId: string): void {
  const text = requestText(`w${randomName(platform, 9)}`, "tasks/cancel", JSON.stringify({ taskId }));
  // The stream of a cancelled call is closed, so send the request on the peer's own stream in that case.
  const stream = exchange.signal.aborted ? exchange.peer : exchange;
  stream?.send(text);
}

/** Asks a question as a task if the client supports tasks for this question, and with the usual asker otherwise. */
export class AskerByTask implements Asker {
  readonly #server: ExtendedServer;
  readonly #call: PreparedCall;
  readonly #unwanted = new AbortController();
  #usual: Asker | undefined;

  constructor(server: ExtendedServer, call: PreparedCall) {
    this.#server = server;
    this.#call = call;
  }

  get #asker(): Asker {
    if (this.#usual !== undefined) return this.#usual;
    const { signal } = this.#call.ctx;
    const end = () => this.#unwanted.abort();
    signal.addEventListener("abort", end, { once: true });
    this.#server.whenAnswered(this.#call, end);
    this.#usual = this.#server.usualAsker(this.#call);
    return this.#usual;
  }

  ask(prepared: PreparedQuestion): Promise<unknown> {
    const { question, ...rest } = prepared;
    const asker = this.#asker;
    const { request } = this.#call;
    if (!taskDialect(request.revision).asksByTask(request, question)) return asker.ask(prepared);
    const { platform, answerMs } = this.#server;
    // Safe: an asker sends any method, but the type `Question` does not include the methods of tasks.
    const send = (method: string, params: Params) =>
      asker.ask({ ...rest, question: { method, params } as unknown as Question });
    const { exchange } = this.#call;
    return askByTask({ platform, answerMs, signal: this.#unwanted.signal, exchange, send }, question);
  }

  step(key: string, work: () => unknown): Promise<unknown> {
    return this.#asker.step(key, work);
  }

  conclude(handler: Promise<unknown>): ReturnType<Asker["conclude"]> {
    return this.#asker.conclude(handler);
  }
}
