import type { Id } from "../jsonrpc/message.js";
import type { TraceContext } from "../protocol/trace-context.js";
import type { Principal } from "../transport/transport.js";

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
  started?: ((call: CallStarted) => void) | undefined;
  ended?: ((call: CallEnded) => void) | undefined;
  refused?: ((call: CallRefused) => void) | undefined;
}

/** The outcome of a call; kept only if there are observers. */
export type CallEnd = Pick<CallEnded, "outcome" | "error">;
