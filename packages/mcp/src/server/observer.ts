import type { Id } from "../jsonrpc/message.js";
import type { TraceContext } from "../protocol/trace-context.js";
import type { Principal } from "../transport/transport.js";
import type { ServerCore } from "./call/core.js";
import type { Run } from "./call/server-call.js";
import { messageOf } from "./call/thrown.js";

/** A call, as telemetry may know it: never its arguments nor its result. */
export interface CallStarted {
  readonly method: string;
  /** The tool, prompt or URI that the call is about, where the method names one. */
  readonly name: string | undefined;
  readonly requestId: Id;
  readonly protocolVersion: string;
  /** Whether the call came over HTTP. */
  readonly http: boolean;
  readonly auth: Principal | undefined;
  /** The caller's trace; spans made here are its children. */
  readonly trace: TraceContext | undefined;
}

/** How a call ended. */
export interface CallEnded extends CallStarted {
  readonly durationMs: number;
  /** `tool_error` is a result that tells the model of a failure; `input_required` asks the client and is no end of the story. */
  readonly outcome: "ok" | "tool_error" | "input_required" | "error";
  /** What was thrown, in full, also where the caller was told less. */
  readonly error: unknown;
  /** Characters of the answer. */
  readonly length: number;
}

/** A request that was refused before it became a call: malformed, of an unknown method, in a revision not spoken. */
export interface CallRefused {
  readonly method: string;
  readonly requestId: Id | undefined;
  readonly error: unknown;
}

/** Hears of what a server does. What it throws is reported to the operator and changes nothing. */
export interface Observer {
  started?(call: CallStarted): void;
  ended?(call: CallEnded): void;
  refused?(call: CallRefused): void;
}

/** What became of a run; kept only while somebody observes. */
export type RunEnd = Pick<CallEnded, "outcome" | "error">;

/** Runs a call under the eyes of a server's observers. */
export function observed<A extends { text: string }>(run: Run, answer: () => A | Promise<A>): A | Promise<A> {
  const { core } = run;
  const call = startedOf(run);
  tell(core, (observer) => observer.started?.(call));
  const since = core.platform.now();
  const end = (given: A): A => {
    const { outcome = "ok", error } = run.end ?? {};
    const durationMs = core.platform.now() - since;
    const ended: CallEnded = { ...call, durationMs, outcome, error, length: given.text.length };
    tell(core, (observer) => observer.ended?.(ended));
    return given;
  };
  const given = answer();
  return given instanceof Promise ? given.then(end) : end(given);
}

/** Tells observers of a request that never became a call. */
export function refused(core: ServerCore, method: string, requestId: Id | undefined, error: unknown): void {
  tell(core, (observer) => observer.refused?.({ method, requestId, error }));
}

function startedOf(run: Run): CallStarted {
  const { call, row, ctx } = run;
  const named = row.nameField === undefined ? undefined : call.params[row.nameField];
  return {
    method: call.method,
    name: typeof named === "string" ? named : undefined,
    requestId: call.id,
    protocolVersion: call.revision,
    http: run.exchange.http !== undefined,
    auth: ctx.auth,
    trace: ctx.trace,
  };
}

function tell(core: ServerCore, what: (observer: Observer) => void): void {
  for (const observer of core.observers) {
    try {
      what(observer);
    } catch (error) {
      core.platform.warn(`an observer failed: ${messageOf(error)}`);
    }
  }
}
