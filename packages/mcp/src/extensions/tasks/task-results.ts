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
import { endResult, isOver, type TaskAnswer, type TaskRecord, withAnswers } from "./stored/task-record.js";
import { isStorageAway } from "./stored/task-store.js";
import type { TaskRunner } from "./task-runner.js";

/** How often a request that waits for a task looks for itself, because messages between processes may be lost. */
const LOOK_MS = 5000;

/** Tasks of one peer whose questions it was told of that are remembered. */
const MOST_SEEN = 1000;

/** How often an answer is written again while the storage fails, and the pause in between. */
const MAX_WRITES = 60;
const WRITE_AGAIN_MS = 1000;

const NEVER = new AbortController().signal;

/** A question that the client has been asked. */
interface SentQuestion {
  readonly id: string;
  readonly name: string;
  /** Ends it. */
  readonly unwanted: AbortController;
  readonly asker: QuestionAsker;
  /** When it was sent. */
  readonly at: number;
  /** Whether the client has answered, and only the storage does not have it yet. */
  answered: boolean;
}

/** A request through which a task asks its questions. */
interface QuestionAsker {
  readonly request: Call;
  readonly exchange: Exchange;
  /** Later requests have higher numbers. */
  readonly number: number;
  /** Whether its client does not ask for the outcome. */
  readonly unasked: boolean;
}

/**
 * Serves requests that wait for the outcome of a task. The questions of the task are put to the client meanwhile.
 *
 * Spec: Tasks, "Retrieving Task Results",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#retrieving-task-results
 */
export class TaskResults {
  readonly #server: ExtendedServer;
  readonly #runner: TaskRunner;
  readonly #byTask: boolean;
  /** Questions that a client has been asked and not answered yet, by task and name. */
  readonly #asked = new Map<string, SentQuestion>();
  /** The tasks whose questions each peer has been told of by `tasks/get`, with the number of its first such request. */
  readonly #seen = new WeakMap<Peer, Map<string, number>>();
  #requests = 0;

  constructor(server: ExtendedServer, runner: TaskRunner, byTask: boolean) {
    this.#server = server;
    this.#runner = runner;
    this.#byTask = byTask;
  }

  /** The outcome of a task, as soon as it is over. */
  async wait({ id }: TaskRecord, call: ExtensionCall): Promise<object> {
    const { request, exchange } = call;
    const { signal } = exchange;
    const asker = { request, exchange, number: ++this.#requests, unasked: false };
    const changes = new Changes();
    const unhear = await this.#server.hear("taskIds", id, () => changes.note());
    const cancel = () => changes.note();
    signal.addEventListener("abort", cancel, { once: true });
    /** What ends the questions that this request put to the client. */
    const asked = new Map<string, AbortController>();
    try {
      while (!signal.aborted) {
        const record = await this.#runner.open().read(id);
        if (record === undefined) throw new McpError("invalid_params", "the task has expired");
        for (const [name, unwanted] of asked) if (!Object.hasOwn(record.questions, name)) unwanted.abort();
        if (isOver(record)) return endResult(record);
        for (const [name, question] of Object.entries(record.questions)) {
          const unwanted = this.#ask(record, name, question, asker);
          if (unwanted !== undefined) asked.set(name, unwanted);
        }
        const timer = this.#server.platform.timer(LOOK_MS, () => changes.note());
        await changes.next();
        timer.cancel();
      }
      throw new McpError("cancelled", "the client no longer waits for the task");
    } finally {
      for (const unwanted of asked.values()) unwanted.abort();
      unhear();
      signal.removeEventListener("abort", cancel);
    }
  }

  /**
   * A client looked at a task. One that looks again at a task with questions does not ask for the outcome, which would bring them,
   * so they are put to it by requests of their own.
   *
   * Spec: Tasks, "Input Required Status",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#input-required-status
   */
  looked(record: TaskRecord, { request, exchange: { peer } }: ExtensionCall): void {
    if (peer === undefined) return;
    for (const [key, { unwanted, id, name, asker }] of this.#asked) {
      if (asker.unasked && id === record.id && !Object.hasOwn(record.questions, name)) {
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
      if (seen.size > MOST_SEEN) seen.delete(String(seen.keys().next().value));
      return;
    }
    const exchange = { peer, signal: NEVER, send: peer.send.bind(peer), ask: peer.ask.bind(peer), id: record.id };
    for (const [name, question] of Object.entries(record.questions)) {
      this.#ask(record, name, question, { request, exchange, number, unasked: true });
    }
  }

  /**
   * Puts one question to the client on the stream of its request, if the client can be asked. What an earlier request was asked
   * is taken back: nobody may be left to answer it.
   */
  #ask({ id }: TaskRecord, name: string, question: Question, asker: QuestionAsker): AbortController | undefined {
    const { request, exchange } = asker;
    const key = `${id} ${name}`;
    const before = this.#asked.get(key);
    if (!needsOf(question).every((need) => canAsk(asker, need))) return undefined;
    const at = this.#server.platform.monotonic();
    if (before !== undefined && (before.answered || !comesBefore(asker, before.asker))) return undefined;
    // The same client may be filling in its form already; if nothing reached it, it is asked with the next look.
    if (before?.asker.exchange.peer === exchange.peer && before?.asker.unasked && at - before.at < LOOK_MS)
      return undefined;
    before?.unwanted.abort();
    const unwanted = new AbortController();
    const sent: SentQuestion = { id, name, unwanted, asker, at, answered: false };
    this.#asked.set(key, sent);
    const { signal } = unwanted;
    const { method } = question;
    // Members are only added to what is one already.
    const params = relatedTo(id, question.params ?? {}) as Params;
    const send = (about: string, members: Params) => this.#send(exchange, signal, about, members);
    const { platform, answerMs } = this.#server;
    const answer =
      this.#byTask && taskDialect(request.revision).asksByTask(request, question)
        ? askByTask({ platform, answerMs, signal, exchange, send }, { method, params })
        : send(method, params);
    answer
      .then(
        (value): TaskAnswer => (isObject(value) ? { value } : failed(malformedAnswer(method))),
        (error: unknown): TaskAnswer => {
          if (error instanceof RpcError) return failed(fromWire(error));
          if (!signal.aborted && McpError.is(error) && FAILURES.has(error.kind)) return failed(error);
          // The client is gone; it asks for the result again, and is then asked again.
          throw error;
        },
      )
      .then((given) => this.#write(sent, given))
      .catch(() => {})
      .finally(() => this.#asked.get(key)?.unwanted === unwanted && this.#asked.delete(key));
    return unwanted;
  }

  /** Writes an answer, for a while also to a storage that is away: the user must not be asked twice. */
  async #write(sent: SentQuestion, given: TaskAnswer): Promise<void> {
    sent.answered = true;
    for (let left = MAX_WRITES; ; left--) {
      try {
        await this.#runner.open().update(sent.id, (record) => withAnswers(record, { [sent.name]: given }));
        return;
      } catch (error) {
        if (left === 0 || this.#runner.isClosed || !isStorageAway(error)) throw error;
        await pause(this.#server.platform, WRITE_AGAIN_MS);
      }
    }
  }

  /** Sends a request to the client, which is taken back when the signal aborts, so that no user fills in a form in vain. */
  #send(exchange: Exchange, signal: AbortSignal, method: string, params: Params): Promise<unknown> {
    // No number: several processes may ask within one session.
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

/** The stream of a request arrives in any case, that of the peer may not; of the same kind, the latest is the most alive. */
function comesBefore(one: QuestionAsker, other: QuestionAsker): boolean {
  const { peer, signal } = other.exchange;
  // On a pipe everything arrives as long as its peer is there.
  if (peer !== undefined && peer === one.exchange.peer && peer.transport !== "http" && !signal.aborted) return false;
  return one.unasked === other.unasked ? one.number > other.number : other.unasked;
}

/** The capabilities that a client needs for a question, which the record does not have. */
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

/** What the client did with a question that it was asked by a task. */
const FAILURES: ReadonlySet<string> = new Set(["timeout", "cancelled", "invalid_response"]);

function failed({ code, message }: McpError): TaskAnswer {
  return { error: { code, message } };
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
