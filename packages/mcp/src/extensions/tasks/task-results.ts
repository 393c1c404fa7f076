import type { Question } from "../../era/era.js";
import { relatedTo } from "../../era/task-shape.js";
import { RpcError } from "../../jsonrpc/error.js";
import { isObject } from "../../jsonrpc/message.js";
import { requestText } from "../../jsonrpc/message-text.js";
import { fromWire, McpError } from "../../protocol/error.js";
import { malformedAnswer } from "../../server/questions/by-request.js";
import type { ExtendedServer, ExtensionCall } from "../seam/extended-server.js";
import { isOver, type TaskAnswer, type TaskRecord } from "./task-record.js";
import type { TaskRunner } from "./task-runner.js";

/** How often a request that waits for a task looks for itself, because messages between processes may be lost. */
const LOOK_MS = 5000;

/**
 * Serves requests that wait for the outcome of a task. The questions of the task are put to the client meanwhile.
 *
 * Spec: Tasks, "Retrieving Task Results",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#retrieving-task-results
 */
export class TaskResults {
  readonly #server: ExtendedServer;
  readonly #runner: TaskRunner;
  /** Questions that a client has been asked and not answered yet. */
  readonly #asked = new Set<string>();
  #questions = 0;

  constructor(server: ExtendedServer, runner: TaskRunner) {
    this.#server = server;
    this.#runner = runner;
  }

  async wait(id: string, call: ExtensionCall): Promise<object> {
    const { signal } = call.exchange;
    const changes = new Changes();
    const unhear = await this.#server.hear("taskIds", id, () => changes.note());
    const cancel = () => changes.note();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      while (!signal.aborted) {
        const record = await this.#runner.read(id);
        if (record === undefined) throw new McpError("invalid_params", "the task has expired");
        if (isOver(record)) return outcomeOf(record);
        for (const [name, question] of Object.entries(record.questions)) this.#ask(record, name, question, call);
        const timer = this.#server.platform.timer(LOOK_MS, () => changes.note());
        await changes.next();
        timer.cancel();
      }
      throw new McpError("cancelled", "the client no longer waits for the task");
    } finally {
      unhear();
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Puts one question to the client on the stream of its request, unless it is being asked already. */
  #ask({ id }: TaskRecord, name: string, question: Question, { exchange }: ExtensionCall): void {
    const key = `${id} ${name}`;
    if (exchange.ask === undefined || this.#asked.has(key)) return;
    this.#asked.add(key);
    this.#questions++;
    const requestId = `t${id.slice(0, 8)}-${this.#questions}`;
    const { method, params = {} } = question;
    const text = requestText(requestId, method, JSON.stringify(relatedTo(id, params)));
    const answered = exchange.ask({ id: requestId, method, text }, exchange.signal).then(
      (answer): TaskAnswer => (isObject(answer) ? { value: answer } : failed(malformedAnswer(method))),
      (error: unknown): TaskAnswer => {
        // The client is gone; it asks for the result again, and is then asked again.
        if (!(error instanceof RpcError)) throw error;
        return failed(fromWire(error));
      },
    );
    answered
      .then((answer) => this.#runner.answerOne(id, name, answer))
      .catch(() => {})
      .finally(() => this.#asked.delete(key));
  }
}

function failed({ code, message }: McpError): TaskAnswer {
  return { error: { code, message } };
}

function outcomeOf({ id, status, outcome }: TaskRecord): object {
  if (outcome !== undefined && "result" in outcome) return relatedTo(id, outcome.result);
  if (outcome !== undefined) {
    const { code, message, data } = outcome.error;
    throw new McpError("internal_error", message, { code, data });
  }
  throw new McpError("invalid_params", `the task is ${status} and has no result`);
}

/** Lets one waiter sleep until something is noted; what was noted while nobody slept is not lost. */
class Changes {
  #noted = false;
  #wake: (() => void) | undefined;

  note(): void {
    this.#noted = true;
    this.#wake?.();
  }

  async next(): Promise<void> {
    if (!this.#noted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#noted = false;
    this.#wake = undefined;
  }
}
