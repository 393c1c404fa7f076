import type { Question } from "../../era/era.js";
import { notificationText } from "../../era/notification.js";
import { RpcError } from "../../jsonrpc/error.js";
import { type Id, isObject, requestText } from "../../jsonrpc/message.js";
import { callHook, runWithin } from "../../platform/call-hook.js";
import { McpError, USER_REJECTED } from "../../protocol/error.js";
import { readTrace, type TraceContext, traceMeta } from "../../protocol/trace-context.js";
import type { Asker } from "../call/asker.js";
import { requireCapabilities } from "../call/can-ask.js";
import type { ServerCall } from "../call/server-call.js";
import type { QuestionEnded, QuestionFollower, QuestionStarted } from "../contract/observer.js";

/** Asks by sending requests to the client on the stream of the call. */
export function requestAsker(call: ServerCall): Asker {
  const steps = new Set<string>();
  const open = new Set<(reason: McpError) => void>();
  call.whenAnswered(() => {
    for (const giveUp of open) giveUp(new McpError("cancelled", "the call ended without this answer"));
  });
  return {
    async ask({ question, needs }) {
      requireCapabilities(call, needs);
      if (isEarly(call)) await untilInitialized(call);
      const id = call.config.nextQuestionId();
      const followed = followQuestion(call, { method: question.method, requestId: id });
      const trace = followed?.trace ?? readTrace(call.request.params["_meta"]);
      const sent = trace === undefined ? question : traced(question, trace);
      const ask = () => askUntilSettled(call, id, sent, open);
      return followed === undefined ? ask() : followed.send(ask);
    },
    async step(key, work) {
      claimStep(steps, key);
      return normalise(await work());
    },
    conclude: () => Promise.reject(new McpError("internal_error", "a request never interrupts its handler")),
  };
}

/**
 * Maximum wait for a `notifications/initialized` that arrives on another connection. After that, the question fails.
 */
const MAX_INITIALIZED_WAIT_MS = 2000;
const POLL_MS = 20;

function isEarly({ exchange }: ServerCall): boolean {
  return exchange.peer?.session?.initialized === false;
}

/**
 * Waits for the client's `notifications/initialized`. The server must not ask before the client has sent it.
 *
 * Spec: Lifecycle, "Initialization",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
async function untilInitialized(call: ServerCall): Promise<void> {
  for (let waited = 0; isEarly(call) && !call.signal.aborted; waited += POLL_MS) {
    if (waited >= MAX_INITIALIZED_WAIT_MS) {
      throw new McpError("capability_missing", "the client cannot be asked before `notifications/initialized`");
    }
    await new Promise<void>((resolve) => void call.config.platform.timer(POLL_MS, resolve, true));
  }
}

/**
 * Asks, and waits until the client answers, the call ends or is cancelled, or `limits.answerMs` has passed. An
 * unanswered question is then cancelled, so that users do not fill in a form that is no longer needed.
 */
function askUntilSettled(
  call: ServerCall,
  id: Id,
  { method, params }: Question,
  open: Set<(reason: McpError) => void>,
): Promise<unknown> {
  const { config, exchange, signal } = call;
  const text = requestText(id, method, JSON.stringify(params));
  const unwanted = new AbortController();
  return new Promise((resolve, reject) => {
    const cancelled = () => giveUp(new McpError("cancelled", "the call was cancelled while a question was open"));
    const release = () => {
      timer.cancel();
      open.delete(giveUp);
      signal.removeEventListener("abort", cancelled);
    };
    const giveUp = (reason: McpError) => {
      release();
      reject(reason);
      unwanted.abort(reason);
      // The stream of a cancelled call is closed, so the notification goes to the peer.
      const stream = signal.aborted ? exchange.peer : exchange;
      stream?.send(notificationText("notifications/cancelled", { requestId: id, reason: reason.message }));
    };
    const { answerMs } = config.limits;
    const timer = config.platform.timer(answerMs, () => giveUp(unanswered(method, answerMs)));
    const asked = signal.aborted ? undefined : exchange.ask?.({ id, method, text }, unwanted.signal);
    if (asked === undefined) {
      timer.cancel();
      return reject(new McpError(signal.aborted ? "cancelled" : "capability_missing", "this client cannot be asked"));
    }
    open.add(giveUp);
    signal.addEventListener("abort", cancelled, { once: true });
    const settle = (answer: unknown) => (isObject(answer) ? resolve(answer) : reject(malformedAnswer(method)));
    asked.then(settle, (error) => reject(isRefusal(error) ? McpError.from(error) : error)).finally(release);
  });
}

/** True if the user refused to answer. */
function isRefusal(error: unknown): boolean {
  return error instanceof RpcError && error.code === USER_REJECTED;
}

/** Creates the error of a question that the client did not answer in time. */
export function unanswered(method: string, ms: number): McpError {
  return new McpError("timeout", `the client did not answer ${method} within ${ms} ms`, {
    data: { limit: "answerMs", ms },
    fix: "Ask for less at a time, or raise `limits.answerMs` of the server.",
  });
}

/** Adds a trace to a question, so that the client's work for it belongs to that trace. */
export function traced(question: Question, trace: TraceContext): Question {
  const { params = {} } = question;
  const own = isObject(params["_meta"]) ? params["_meta"] : {};
  return { ...question, params: { ...params, _meta: { ...own, ...traceMeta(trace) } } };
}

/** Throws if this run has already used the step key. */
export function claimStep(steps: Set<string>, key: string): void {
  if (steps.has(key)) {
    throw new McpError("misuse", `the step "${key}" was used twice in one call`, {
      fix: "Use a different key for each step.",
    });
  }
  steps.add(key);
}

/**
 * Returns the value after a round trip through JSON, so that a step returns the same in the first run and in later
 * ones.
 */
export function normalise(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? "null");
}

export function malformedAnswer(method: string): McpError {
  return new McpError("invalid_params", `the client's answer to ${method} is not an object`);
}

/** A question with followers. */
export interface FollowedQuestion {
  /** The trace to send with the question. */
  readonly trace: TraceContext | undefined;
  /** Sends the question and reports its outcome to the followers. */
  send(ask: () => Promise<unknown>): Promise<unknown>;
}

/**
 * Notifies the followers of a call that a question is about to be sent. Returns undefined if none of them follows the
 * question.
 */
function followQuestion(call: ServerCall, started: QuestionStarted): FollowedQuestion | undefined {
  const { platform } = call.config;
  const followers: QuestionFollower[] = [];
  for (const ofCall of call.followers ?? []) {
    callHook(platform, "question", () => {
      const follower = ofCall.question?.(started);
      if (follower !== undefined) followers.push(follower);
      return follower;
    });
  }
  if (followers.length === 0) return undefined;
  return {
    trace: followers.find(({ trace }) => trace !== undefined)?.trace,
    send(ask) {
      const since = platform.monotonic();
      const end = (outcome: QuestionEnded["outcome"], error?: unknown) => {
        const ended: QuestionEnded = { ...started, durationMs: platform.monotonic() - since, outcome, error };
        for (const follower of followers) callHook(platform, "ended", () => follower.ended?.(ended));
      };
      return runWithin(platform, followers, ask).then(
        (answer) => {
          end("ok");
          return answer;
        },
        (error: unknown) => {
          end("error", error);
          throw error;
        },
      );
    },
  };
}
