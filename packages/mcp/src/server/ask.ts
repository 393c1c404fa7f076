import type { Question } from "../era/era.js";
import { isObject } from "../jsonrpc/message.js";
import { capabilitiesFor, hasCapability } from "../protocol/capabilities.js";
import { McpError } from "../protocol/error.js";
import { readTrace, traceMeta } from "../protocol/trace-context.js";
import type { PreparedQuestion } from "./context.js";
import type { Run } from "./run.js";

/** Carries questions of one call to the client and back. */
export interface Asker {
  /** Resolves with the client's raw answer. Rejects with an internal signal when the answer comes in a later round. */
  ask(prepared: PreparedQuestion): Promise<unknown>;
  step(key: string, work: () => unknown): Promise<unknown>;
  /** The interim result, once a question interrupted the handler. */
  conclude(handler: Promise<unknown>): Promise<object>;
}

/** Whether a question that needs a capability of the client can be put to it, in this revision and on this connection. */
export function canAsk({ call, exchange }: Run, capability: string): boolean {
  if (call.era.asks === "request" && exchange.ask === undefined) return false;
  const { elicitation } = call.features;
  if (capability.startsWith("elicitation") && elicitation === "none") return false;
  if (capability === "elicitation.url" && elicitation !== "form+url") return false;
  return hasCapability(call.clientCapabilities, capability);
}

/** Refuses a call whose questions the client said it cannot answer; the error names all that is missing. */
export function requireCapabilities(run: Run, capabilities: readonly string[]): void {
  const missing = capabilities.filter((path) => !canAsk(run, path));
  const [first] = missing;
  if (first === undefined) return;
  throw new McpError("capability_missing", `the client does not support ${missing.map(quoted).join(", ")}`, {
    data: { requiredCapabilities: capabilitiesFor(...missing) },
    fix: `Check \`ctx.client.can("${first}")\` before asking, or connect with a client that declares it.`,
  });
}

function quoted(name: string): string {
  return `"${name}"`;
}

/** Asks by a request of its own on the exchange's stream: the way of the stateful era. */
export function requestAsker(run: Run): Asker {
  const steps = new Set<string>();
  return {
    async ask({ question, needs }) {
      requireCapabilities(run, needs);
      const id = run.core.nextQuestionId();
      const { params } = traced(run, question);
      const body = params === undefined ? "" : `,"params":${JSON.stringify(params)}`;
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${question.method}"${body}}`;
      const asked = run.exchange.ask?.({ id, method: question.method, text });
      if (asked === undefined) throw new McpError("capability_missing", "this client cannot be asked");
      const answer = await unlessAborted(asked, run.signal);
      if (!isObject(answer)) throw malformedAnswer(question.method);
      return answer;
    },
    async step(key, work) {
      claimStep(steps, key);
      return normalise(await work());
    },
    conclude: () => Promise.reject(new McpError("internal_error", "a request never interrupts its handler")),
  };
}

/** A question with the caller's trace, so that what the client does for it belongs to the same trace. */
export function traced(run: Run, question: Question): Question {
  const trace = readTrace(run.call.params["_meta"]);
  return trace === undefined ? question : { ...question, params: { ...question.params, _meta: traceMeta(trace) } };
}

/** Refuses a step key that this run has used. */
export function claimStep(steps: Set<string>, key: string): void {
  if (steps.has(key)) {
    throw new McpError("internal_error", `the step "${key}" exists twice in one call`, {
      fix: "Give each step its own key.",
    });
  }
  steps.add(key);
}

/** A value as JSON keeps it, so that a step gives the same in the first run and in every later one. */
export function normalise(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? "null");
}

/** A promise whose rejection is never reported as unhandled: whoever asked may drop it. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

export function malformedAnswer(method: string): McpError {
  return new McpError("invalid_params", `the client's answer to ${method} is not an object`);
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new McpError("cancelled", "the call was cancelled while a question was open"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
