import { randomName } from "../../encoding/base64.js";
import type { Call, Question } from "../../era/era.js";
import { notificationText } from "../../era/notification.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { relatedTo } from "../../era/task-shape.js";
import { RpcError } from "../../jsonrpc/error.js";
import { isObject, type Params, requestText } from "../../jsonrpc/message.js";
import { pause } from "../../platform/pause.js";
import { fromWire, McpError } from "../../protocol/error.js";
import { canAsk } from "../../server/call/can-ask.js";
import { malformedAnswer } from "../../server/questions/by-request.js";
import type { Exchange, Peer } from "../../transport/transport.js";
import type { ExtendedServer, ExtensionCall } from "../seam/extended-server.js";
import { askByTask } from "./ask-by-task.js";
import { endResult, hasEnded, type TaskAnswer, type TaskRecord, withAnswers } from "./stored/task-record.js";
import { isStorageUnavailable } from "./stored/task-store.js";
import type { TaskRunner } from "./task-runner.js";

/** Interval at which a waiting request reads the task, because messages between processes may be lost. */
const POLL_MS = 5000;

/**
 * Maximum number of tasks with open questions that are stored for each polling peer. Beyond that, the oldest is
 * dropped.
 */
const MAX_SEEN = 1000;

/**
 * Maximum number of retries for writing an answer while the storage fails. After the last retry, the answer is dropped.
 * `RETRY_WRITE_MS` is the pause between two retries.
 */
const MAX_WRITES = 60;
const RETRY_WRITE_MS = 1000;

const NEVER = new AbortController().signal;

/** A question that was sent to the client. */
interface SentQuestion {
  readonly id: string;
  readonly name: string;
  /** Aborted to withdraw the question. */
  readonly unwanted: AbortController;
  readonly asker: QuestionAsker;
  /** Time of the monotonic clock when the question was sent. */
  readonly at: number;
  /** True if the client has answered, but the answer is not stored yet. */
  answered: boolean;
}

/** A request over which a task asks its questions. */
interface QuestionAsker {
  readonly request: Call;
  readonly exchange: Exchange;
  /** Later requests have higher numbers. */
  readonly number: number;
  /**
   * True if the questions go over the peer's own stream, because the client polls with `tasks/get` and does not request
   * the outcome.
   */
  readonly viaPeer: boolean;
}

/**
 * Serves requests that wait for the outcome of a task. Asks the questions of the task in the meantime.
 *
 * Spec: Tasks, "Retrieving Task Results",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#retrieving-task-results
 */
export class TaskResults {
  readonly #server: ExtendedServer;
  readonly #runner: TaskRunner;
  readonly #byTask: boolean;
  /** Questions that were sent and are not answered yet, by task and name. */
  readonly #asked = new Map<string, SentQuestion>();
  /**
   * The tasks with open questions that each peer has polled with `tasks/get`, each with the number of the first such
   * request.
   */
  readonly #seen = new WeakMap<Peer, Map<string, number>>();
  #requests = 0;

  constructor(server: ExtendedServer, runner: TaskRunner, byTask: boolean) {
    this.#server = server;
    this.#runner = runner;
    this.#byTask = byTask;
  }

  /** Waits until the task ends and returns its outcome. */
  async wait({ id }: TaskRecord, call: ExtensionCall): Promise<object> {
    const { request, exchange } = call;
    const { signal } = exchange;
    const asker = { request, exchange, number: ++this.#requests, viaPeer: false };
    const changes = new WakeSignal();
    const unsubscribe = await this.#server.subscribe("taskIds", id, () => changes.wake());
    const cancel = () => changes.wake();
    signal.addEventListener("abort", cancel, { once: true });
    /** Controllers that withdraw the questions of this request, by name. */
    const asked = new Map<string, AbortController>();
    try {
      while (!signal.aborted) {
        const record = await this.#runner.open().read(id);
        if (record === undefined) throw new McpError("invalid_params", "the task has expired");
        for (const [name, unwanted] of asked) if (!Object.hasOwn(record.questions, name)) unwanted.abort();
        if (hasEnded(record)) return endResult(record);
        for (const [name, question] of Object.entries(record.questions)) {
          const unwanted = this.#ask(record, name, question, asker);
          if (unwanted !== undefined) asked.set(name, unwanted);
        }
        const timer = this.#server.platform.timer(POLL_MS, () => changes.wake());
        await changes.next();
        timer.cancel();
      }
      throw new McpError("cancelled", "the client no longer waits for the task");
    } finally {
      for (const unwanted of asked.values()) unwanted.abort();
      unsubscribe();
      signal.removeEventListener("abort", cancel);
    }
  }

  /**
   * Handles a `tasks/get` request. A client that polls a task with open questions a second time apparently does not
   * send `tasks/result`, over which it would receive the questions. So the server sends the questions over the peer's
   * own stream.
   *
   * Spec: Tasks, "Input Required Status",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#input-required-status
   */
  onGet(record: TaskRecord, { request, exchange: { peer } }: ExtensionCall): void {
    if (peer === undefined) return;
    for (const [key, { unwanted, id, name, asker }] of this.#asked) {
      if (asker.viaPeer && id === record.id && !Object.hasOwn(record.questions, name)) {
        unwanted.abort();
        this.#asked.delete(key);
      }
    }
    if (record.status !== "input_required") return;
    const seen = this.#seen.get(peer) ?? new Map<string, number>();
    this.#seen.set(peer, seen);
    const number = seen.get(record.id);
    if (number === undefined) {
      seen.set(record.id, ++this.#requests);
      if (seen.size > MAX_SEEN) seen.delete(String(seen.keys().next().value));
      return;
    }
    const exchange = { peer, signal: NEVER, send: peer.send.bind(peer), ask: peer.ask.bind(peer), id: record.id };
    for (const [name, question] of Object.entries(record.questions)) {
      this.#ask(record, name, question, { request, exchange, number, viaPeer: true });
    }
  }

  /**
   * Sends one question to the client on the stream of its request, if the client declares the capabilities for it. If
   * the question was already sent for an earlier request, withdraws the earlier question, because the client of that
   * request may be disconnected. Returns the controller that withdraws the question, or undefined if nothing was sent.
   */
  #ask({ id }: TaskRecord, name: string, question: Question, asker: QuestionAsker): AbortController | undefined {
    const { request, exchange } = asker;
    const key = `${id} ${name}`;
    const before = this.#asked.get(key);
    if (!needsOf(question).every((need) => canAsk(asker, need))) return undefined;
    const at = this.#server.platform.monotonic();
    if (before !== undefined && (before.answered || !isPreferred(asker, before.asker))) return undefined;
    // The same client may already show the form. If the question did not arrive, a poll after `POLL_MS` sends it again.
    if (before?.asker.exchange.peer === exchange.peer && before?.asker.viaPeer && at - before.at < POLL_MS)
      return undefined;
    before?.unwanted.abort();
    const unwanted = new AbortController();
    const sent: SentQuestion = { id, name, unwanted, asker, at, answered: false };
    this.#asked.set(key, sent);
    const { signal } = unwanted;
    const { method } = question;
    // Safe: members are only added to an object of parameters.
    const params = relatedTo(id, question.params ?? {}) as Params;
    const send = (about: string, members: Params) => this.#send(exchange, signal, about, members);
    const { platform, answerMs } = this.#server;
    const answer =
      this.#byTask && taskDialect(request.revision).asksByTask(request, question)
        ? askByTask({ platform, answerMs, signal, exchange, send }, { method, params })
        : send(method, params);
    answer
      .then(
        (value): TaskAnswer => (isObject(value) ? { value } : failedAnswer(malformedAnswer(method))),
        (error: unknown): TaskAnswer => {
          if (error instanceof RpcError) return failedAnswer(fromWire(error));
          if (!signal.aborted && McpError.is(error) && FAILURES.has(error.kind)) return failedAnswer(error);
          // The client is gone, or the question was withdrawn. The next request for the result sends the question
          // again.
          throw error;
        },
      )
      .then((given) => this.#write(sent, given))
      .catch(() => {})
      .finally(() => this.#asked.get(key)?.unwanted === unwanted && this.#asked.delete(key));
    return unwanted;
  }

  /** Stores an answer. Retries while the storage is unavailable, because the user must not be asked twice. */
  async #write(sent: SentQuestion, given: TaskAnswer): Promise<void> {
    sent.answered = true;
    for (let left = MAX_WRITES; ; left--) {
      try {
        await this.#runner.open().update(sent.id, (record) => withAnswers(record, { [sent.name]: given }));
        return;
      } catch (error) {
        if (left === 0 || this.#runner.isClosed || !isStorageUnavailable(error)) throw error;
        await pause(this.#server.platform, RETRY_WRITE_MS);
      }
    }
  }

  /**
   * Sends a request to the client. If the signal aborts, cancels the request, so that no user fills in an obsolete
   * form.
   */
  #send(exchange: Exchange, signal: AbortSignal, method: string, params: Params): Promise<unknown> {
    // Random, because several processes may send requests within one session.
    const requestId = `t${randomName(this.#server.platform, 12)}`;
    const text = requestText(requestId, method, JSON.stringify(params));
    return new Promise((resolve, reject) => {
      const reason = "the task no longer waits for this answer";
      const giveUp = () => {
        reject(new McpError("cancelled", reason));
        const stream = exchange.signal.aborted ? exchange.peer : exchange;
        stream?.send(notificationText("notifications/cancelled", { requestId, reason }));
      };
      if (signal.aborted || exchange.ask === undefined) return reject(new McpError("cancelled", reason));
      signal.addEventListener("abort", giveUp, { once: true });
      exchange
        .ask({ id: requestId, method, text }, signal)
        .then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", giveUp));
    });
  }
}

/**
 * True if a question should be sent over `one` instead of `other`. A request's own stream is better than the peer's
 * stream, and otherwise the newer request is better.
 */
function isPreferred(one: QuestionAsker, other: QuestionAsker): boolean {
  const { peer, signal } = other.exchange;
  // Transports other than HTTP deliver every message while the peer is connected, so the question need not be sent
  // again.
  if (peer !== undefined && peer === one.exchange.peer && peer.transport !== "http" && !signal.aborted) return false;
  return one.viaPeer === other.viaPeer ? one.number > other.number : other.viaPeer;
}

/** Derives the client capabilities that a question requires. The record of the task does not store them. */
function needsOf({ method, params = {} }: Question): readonly string[] {
  if (method === "roots/list") return ["roots"];
  if (method === "elicitation/create") return [params["mode"] === "url" ? "elicitation.url" : "elicitation.form"];
  const { tools, toolChoice, includeContext = "none" } = params;
  return [
    "sampling",
    ...(tools === undefined && toolChoice === undefined ? [] : ["sampling.tools"]),
    ...(includeContext === "none" ? [] : ["sampling.context"]),
  ];
}

/**
 * Kinds of errors by which a question that was asked as a task may fail. The error is then stored as the answer to the
 * question.
 */
const FAILURES: ReadonlySet<string> = new Set(["timeout", "cancelled", "invalid_response"]);

function failedAnswer({ code, message }: McpError): TaskAnswer {
  return { error: { code, message } };
}

/**
 * Lets one waiter pause until `wake` is called. If `wake` is called while there is no waiter, the next wait returns at
 * once.
 */
class WakeSignal {
  #noted = false;
  #wake: (() => void) | undefined;

  wake(): void {
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
