import type { Principal } from "../../http/authentication.js";
import { type Id, isObject } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { Coercion } from "../../schema/coerce.js";
import type { PortableError, PortableOutcome } from "./portable-outcome.js";

/**
 * The part of a call's context that a worker receives with the call. The worker requests everything else by messages.
 */
export interface IsolatedCallInfo {
  readonly requestId: Id;
  readonly method: string;
  readonly protocolVersion: string;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** Client features that this connection can use, for example `elicitation.form`. */
  readonly can: readonly string[];
  /** True if the session is initialized. Undefined without a session. */
  readonly initialized: boolean | undefined;
  readonly auth: Principal | undefined;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly coercions: readonly Coercion[];
  readonly trace: TraceContext | undefined;
  readonly data: Record<string, unknown>;
  readonly callId: string;
}

/** Context methods that return nothing. */
export type NoticeName = "progress" | "log" | "elicitationComplete" | "endSession";

/** Context methods whose result the worker waits for. */
export type AskName = "elicit" | "tryElicit" | "elicitUrl" | "sample" | "roots" | "startTask" | "step";

/** One use of a context method that returns a result. `ask` is its number within the call. */
export interface ContextUse {
  readonly ask: number;
  readonly name: AskName;
  readonly params: readonly unknown[];
}

/**
 * Messages from the serving thread to a worker. `call` numbers the calls, because a message about an earlier call may
 * arrive late.
 */
export type ToWorker =
  | {
      readonly type: "call";
      readonly call: number;
      readonly module: string;
      readonly name: string;
      readonly args: unknown;
      readonly callInfo: IsolatedCallInfo;
    }
  | { readonly type: "abort"; readonly call: number; readonly reason: PortableError }
  | { readonly type: "answer"; readonly call: number; readonly ask: number; readonly outcome: PortableOutcome }
  /** Requests the work of a step that no earlier round has completed. */
  | { readonly type: "work"; readonly call: number; readonly ask: number }
  /** Acknowledges all notices received so far. */
  | { readonly type: "read"; readonly call: number };

/** Messages from a worker to the serving thread. */
export type FromWorker =
  | { readonly type: "ready" }
  /** The function of the tool starts now. */
  | { readonly type: "started"; readonly call: number }
  | { readonly type: "unloadable"; readonly call: number; readonly error: PortableError }
  | {
      readonly type: "notice";
      readonly call: number;
      readonly name: NoticeName;
      readonly params: readonly unknown[];
    }
  /** All questions of one turn. Sent together, so that they form one round in revisions that ask in rounds. */
  | { readonly type: "asked"; readonly call: number; readonly asked: readonly ContextUse[] }
  | { readonly type: "worked"; readonly call: number; readonly ask: number; readonly outcome: PortableOutcome }
  | { readonly type: "ended"; readonly call: number; readonly outcome: PortableOutcome };

/**
 * Identifies messages of this library. A tool, or a package that it uses, may send other messages from the same worker.
 */
const MARK = { from: "@parley/mcp" };

/** Returns the message with the mark of this library. */
export function marked(message: FromWorker): FromWorker {
  return { ...message, ...MARK };
}

/** True if the message carries the mark of this library. */
export function isMarked(message: unknown): message is FromWorker {
  return isObject(message) && message["from"] === MARK.from;
}

/** Maximum number of unacknowledged notices of a call. Beyond it, the worker holds back progress and drops logs. */
export const MAX_UNREAD_NOTICES = 256;
