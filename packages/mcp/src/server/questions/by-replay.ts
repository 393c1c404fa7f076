import { toBase64Url } from "../../encoding/base64.js";
import { canonicalJson } from "../../encoding/canonical-json.js";
import { utf8Bytes } from "../../encoding/json-bytes.js";
import { neverUnhandled } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Question } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { atMost } from "../../platform/pause.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { readTrace } from "../../protocol/trace-context.js";
import {
  type Asker,
  InputOutcome,
  type PreparedQuestion,
  type RecordedAnswers,
  type StepFailure,
  type StepRecord,
} from "../call/asker.js";
import { requireCapabilities } from "../call/can-ask.js";
import { InputRequired, isInputRequired } from "../call/input-required.js";
import type { Interruption, ServerCall } from "../call/server-call.js";
import { ToolError } from "../contract/tool.js";
import { claimStep, malformedAnswer, normalise, traced } from "./by-request.js";

/** Maximum time that new questions wait until the handler has asked all questions that the request answers. */
const CLAIM_MS = 250;
/**
 * Maximum time to wait until an interrupted handler has finished. After that, the questions are sent without waiting.
 */
const UNWIND_MS = 1000;
/**
 * Maximum number of questions and steps that are rejected after the interruption. Later ones never settle, which stops
 * a loop that asks again and again.
 */
const MAX_LATE_QUESTIONS = 64;

/**
 * Asks with interim results: the handler runs again from the top in each round and receives the answers so far.
 * Questions without an answer are collected during one turn of the event loop. Then all of them reject together, and
 * the outcome of the call is the interim result, whatever the handler does.
 *
 * Spec: Multi Round-Trip Requests, "Basic Workflow",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#basic-workflow
 */
export class Replay implements Asker {
  readonly #call: ServerCall;
  readonly #round: number;
  readonly #answers: Map<string, unknown>;
  readonly #steps: Map<string, StepRecord>;
  /** Answers in this request whose questions the handler has not asked yet. */
  readonly #unclaimed: Set<string>;
  readonly #broughtAnswers: boolean;
  readonly #names = new Map<string, number>();
  readonly #stepKeys = new Set<string>();
  readonly #unanswered = new Map<string, Question>();
  readonly #waiters: ((signal: InputRequired) => void)[] = [];
  readonly #stepsInFlight = new Map<string, Promise<unknown>>();
  #claimed = 0;
  #interruptScheduled = false;
  /** Runs while answers of this request are still unclaimed. */
  #claiming: Timer | undefined;
  /** The error that rejects questions without an answer. Set by the interruption. */
  #signal: InputRequired | undefined;
  #late = 0;
  #fatal: McpError | undefined;

  constructor(call: ServerCall, state: RoundState | undefined, responses: Record<string, unknown>) {
    this.#call = call;
    this.#round = state?.round ?? 0;
    this.#answers = new Map(Object.entries(state?.answers ?? {}));
    this.#steps = new Map(Object.entries(state?.steps ?? {}));
    const accepted = Object.entries(responses).filter(([key]) => state === undefined || state.asked.includes(key));
    for (const [key, answer] of accepted) this.#answers.set(key, answer);
    // Without state, the server does not know which questions it asked, so it waits for none of them.
    this.#unclaimed = new Set(state === undefined ? [] : accepted.map(([key]) => key));
    this.#broughtAnswers = this.#unclaimed.size > 0;
  }

  ask(prepared: PreparedQuestion): Promise<unknown> {
    return neverUnhandled(this.#ask(prepared));
  }

  async #ask({ question, needs, key }: PreparedQuestion): Promise<unknown> {
    const name = nextName(this.#names, question, key, this.#call.config.platform);
    if (this.#answers.has(name)) {
      this.#claim(name);
      return this.#answers.get(name);
    }
    requireCapabilities(this.#call, needs);
    if (this.#signal !== undefined) return this.#lateSignal(this.#signal);
    this.#checkLimits();
    this.#unanswered.set(name, question);
    return new Promise((_resolve, reject) => {
      this.#waiters.push(reject);
      this.#scheduleInterrupt();
    });
  }

  step(key: string, work: () => unknown): Promise<unknown> {
    return neverUnhandled(this.#step(key, work));
  }

  async #step(key: string, work: () => unknown): Promise<unknown> {
    claimStep(this.#stepKeys, key);
    const record = this.#steps.get(key);
    if (record !== undefined) {
      if (!("failure" in record)) return record.value;
      throw reviveFailure(record.failure);
    }
    if (this.#signal !== undefined) return this.#lateSignal(this.#signal);
    const running = this.#runStep(key, work);
    this.#stepsInFlight.set(key, running);
    return neverUnhandled(running).finally(() => this.#stepsInFlight.delete(key));
  }

  async #runStep(key: string, work: () => unknown): Promise<unknown> {
    try {
      const value = normalise(await work());
      this.#steps.set(key, value === undefined ? {} : { value });
      return value;
    } catch (error) {
      if (isInputRequired(error)) {
        this.#fatal = new McpError("misuse", `the step "${key}" asks a question`, {
          fix: "Ask outside `ctx.step`, and use the answer inside.",
        });
        throw this.#fatal;
      }
      this.#steps.set(key, { failure: recordFailure(error) });
      throw error;
    }
  }

  async recorded(): Promise<RecordedAnswers> {
    await Promise.allSettled(this.#stepsInFlight.values());
    const [answers, steps] = [Object.fromEntries(this.#answers), Object.fromEntries(this.#steps)];
    return { answers, steps, names: this.#names, stepKeys: this.#stepKeys };
  }

  /** Settles the call with its interim result. */
  async #settle(interruption: Interruption): Promise<void> {
    interruption.interrupted = true;
    try {
      // An extension may have replaced the asker since the question.
      const interim = await (this.#call.questions?.asker ?? this).conclude(interruption.handler);
      this.#call.admission?.release?.();
      interruption.interim = interim;
      interruption.resolve(interim);
    } catch (error) {
      this.#call.admission?.release?.();
      interruption.reject(error);
    }
  }

  /**
   * Creates the interim result after an interruption. Waits for steps as long as the call may last, and for the handler
   * at most `UNWIND_MS`.
   */
  async conclude(handler: Promise<unknown>): Promise<InputOutcome> {
    if (this.#stepsInFlight.size > 0) await this.#stepsToEnd();
    await atMost(this.#call.config.platform, UNWIND_MS, Promise.allSettled([handler]));
    if (this.#fatal !== undefined) throw this.#fatal;
    const state = await sealState(this.#call, {
      id: this.#call.callId,
      round: this.#round + 1,
      answers: Object.fromEntries(this.#answers),
      steps: Object.fromEntries(this.#steps),
      asked: [...this.#unanswered.keys()],
    });
    this.#call.abort(this.#signal);
    const questions = Object.fromEntries(this.#unanswered);
    // The trace is added after the key is computed, because it differs from round to round and must not change the key.
    const trace = readTrace(this.#call.request.params["_meta"]);
    if (trace !== undefined) for (const [key, question] of this.#unanswered) questions[key] = traced(question, trace);
    return new InputOutcome(questions, state);
  }

  /**
   * Waits for running steps. If one does not finish, the call fails, because a step without a record would run again in
   * the next round.
   */
  async #stepsToEnd(): Promise<void> {
    const { config, root } = this.#call;
    const deadline = root.admission?.deadline;
    const limit = deadline === undefined ? "answerMs" : "timeoutMs";
    const ms = Math.ceil(deadline?.left ?? config.limits.answerMs);
    await atMost(config.platform, ms, Promise.allSettled(this.#stepsInFlight.values()));
    for (const step of this.#stepsInFlight.keys()) {
      const late = new McpError("timeout", `the step "${step}" did not finish within ${ms} ms`, {
        data: { limit, ms, step },
        fix: `Do less in one step, or raise ${deadline === undefined ? "`limits.answerMs` of the server" : "`timeoutMs` of the tool"}.`,
      });
      this.#call.abort(late);
      throw late;
    }
  }

  #claim(name: string): void {
    this.#claimed++;
    if (this.#unclaimed.delete(name) && this.#unclaimed.size === 0 && this.#unanswered.size > 0) this.#deferInterrupt();
  }

  #checkLimits(): void {
    const { questions, rounds } = this.#call.config.limits;
    if (this.#unanswered.size >= questions) throw tooMany(`more than ${questions} questions at once`);
    if (this.#round >= rounds) throw tooMany(`more than ${rounds} rounds of questions`);
  }

  #scheduleInterrupt(): void {
    if (this.#interruptScheduled) return;
    this.#interruptScheduled = true;
    if (this.#unclaimed.size === 0) this.#deferInterrupt();
    else this.#claiming = this.#call.config.platform.timer(CLAIM_MS, () => this.#interrupt());
  }

  #deferInterrupt(): void {
    this.#call.config.platform.defer(() => this.#interrupt());
  }

  #interrupt(): void {
    if (this.#signal !== undefined) return;
    const signal = new InputRequired();
    this.#signal = signal;
    this.#call.config.platform.guardRejections?.(isInputRequired);
    this.#claiming?.cancel();
    if (this.#broughtAnswers && this.#claimed === 0) {
      this.#fatal = new McpError("question_changed", "the handler did not ask the questions that the client answered");
    }
    const interruption = this.#call.questions?.interruption;
    if (interruption !== undefined) void this.#settle(interruption);
    for (const interrupt of this.#waiters.splice(0)) interrupt(signal);
  }

  #lateSignal(signal: InputRequired): Promise<never> {
    if (++this.#late > MAX_LATE_QUESTIONS) return new Promise(() => {});
    return new Promise((_resolve, reject) => {
      this.#call.config.platform.defer(() => reject(signal));
    });
  }
}

/**
 * Resumes a call whose request has answers. Throws `invalid_params` for malformed answers.
 *
 * Spec: Multi Round-Trip Requests, "Error Handling",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#error-handling
 */
export async function openReplay(call: ServerCall): Promise<void> {
  const { responses, state } = call.request.inputs ?? {};
  if (responses !== undefined && !isObject(responses)) {
    throw new McpError("invalid_params", "`inputResponses` is not an object");
  }
  for (const answer of Object.values(responses ?? {})) if (!isObject(answer)) throw malformedAnswer("a question");
  const opened = state === undefined ? undefined : await openState(call, state);
  call.resume(opened?.id, new Replay(call, opened, responses ?? {}));
}

function tooMany(what: string): McpError {
  return new McpError("too_many_questions", `a call asked ${what}`);
}

/**
 * Names the next question of one run of a handler by its key, or by its contents, so that every run gives the question
 * the same name. `names` counts the earlier questions. Throws if the key was used before.
 */
export function nextName(
  names: Map<string, number>,
  question: Question,
  key: string | undefined,
  platform: Platform,
): string {
  if (key !== undefined) {
    if (names.has(key)) {
      throw new McpError("misuse", `the question key "${key}" was used twice in one call`, {
        fix: "Use a different key for each question.",
      });
    }
    names.set(key, 1);
    return key;
  }
  const text = canonicalJson([question.method, question.params ?? {}]);
  const digest = toBase64Url(platform.sha256(new TextEncoder().encode(text)).subarray(0, 16));
  const count = names.get(digest) ?? 0;
  names.set(digest, count + 1);
  return count === 0 ? digest : `${digest}.${count}`;
}

/** The state that one round of questions passes to the next. The client stores it, sealed, as `requestState`. */
interface RoundState {
  /** Identifies the call in all its rounds. */
  id: string;
  round: number;
  answers: Record<string, unknown>;
  steps: Record<string, StepRecord>;
  /** Keys of the questions that this round asked. */
  asked: string[];
}

interface SealedState {
  /** Expiry time, in milliseconds since the epoch. */
  until: number;
  /** Digest of the caller, the method and the params, so that a state is valid for its own request only. */
  bound: string;
  state: RoundState;
}

/**
 * Seals a state for the same caller and the same request.
 *
 * Spec: Multi Round-Trip Requests, "Server Requirements (Basic Workflow)",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow
 */
async function sealState(call: ServerCall, state: RoundState): Promise<string> {
  const { platform, limits, secrets } = call.config;
  const payload: SealedState = { until: platform.now() + limits.answerMs, bound: binding(call), state };
  const text = JSON.stringify(payload);
  if (utf8Bytes(text) > limits.stateBytes) {
    throw new McpError(
      "limit_exceeded",
      `answers and steps of ${call.request.method} exceed ${limits.stateBytes} bytes`,
      {
        fix: "Return less from `ctx.step`, or raise `limits.stateBytes`.",
      },
    );
  }
  return secrets.seal("state", text);
}

/** Opens a state from the client. Throws if this server did not seal it for this request, or if it has expired. */
async function openState(call: ServerCall, sealed: unknown): Promise<RoundState> {
  const { platform, limits, secrets } = call.config;
  if (typeof sealed !== "string") throw stateError("is not a string", "Send it back unchanged.");
  // Base64 and encryption add about a third, so a genuine state is shorter than twice the limit.
  if (sealed.length > 2 * limits.stateBytes) throw stateError("is too long", "Send it back unchanged.");
  const opened = await secrets.open("state", sealed);
  if ("fault" in opened) {
    const foreign = opened.fault === "foreign";
    throw stateError(
      foreign ? "was sealed with another secret" : "was altered",
      foreign ? "Give every process of this server the same `secret`." : "Send it back unchanged.",
    );
  }
  // Safe: the seal proves that `sealState` wrote this text.
  const { until, bound, state } = JSON.parse(opened.text) as SealedState;
  if (until < platform.now()) throw stateError("has expired", "Call again without it.");
  if (bound !== binding(call))
    throw stateError("belongs to another request", "Send it only with the request that it was returned for.");
  return state;
}

function stateError(what: string, fix: string): McpError {
  return new McpError("invalid_params", `\`requestState\` ${what}`, { fix });
}

function binding({ request, exchange, config }: ServerCall): string {
  const { _meta, inputResponses, requestState, ...params } = request.params;
  const principal = (exchange.principal ?? exchange.peer?.principal)?.key ?? null;
  const text = canonicalJson([principal, request.method, params]);
  return toBase64Url(config.platform.sha256(new TextEncoder().encode(text)));
}

/** Creates the record of an error that a step threw. */
export function recordFailure(error: unknown): StepFailure {
  const common = { name: error instanceof Error ? error.name : "Error", message: thrownMessage(error) };
  if (ToolError.is(error)) return { ...common, tool: { content: error.content } };
  if (!McpError.is(error)) return common;
  const { kind, code, data } = error;
  return { ...common, mcp: { kind, code, data: asJson(data) } };
}

/** Creates the error that a later round throws for a recorded failure. */
export function reviveFailure({ name, message, mcp, tool }: StepFailure): Error {
  if (mcp !== undefined) return new McpError(mcp.kind, message, { code: mcp.code, data: mcp.data });
  if (tool !== undefined) return new ToolError(message, tool.content === undefined ? {} : { content: tool.content });
  return Object.assign(new Error(message), { name });
}

/**
 * Returns the data after a round trip through JSON; undefined if it is not serialisable, because the failure matters
 * more than its data.
 */
export function asJson(data: unknown): unknown {
  try {
    return data === undefined ? undefined : JSON.parse(JSON.stringify(data) ?? "null");
  } catch {
    return undefined;
  }
}
