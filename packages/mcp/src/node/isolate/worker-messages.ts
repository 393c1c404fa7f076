import type { Principal } from "../../http/authentication.js";
import { type Id, isObject } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { TraceContext } from "../../protocol/trace-context.js";
import type { Coercion } from "../../schema/coerce.js";
import type { PortableError, PortableOutcome } from "./portable-outcome.js";

/** What a worker is told of a call; everything else of its context is asked for by messages. */
export interface CallFacts {
  readonly requestId: Id;
  readonly method: string;
  readonly protocolVersion: string;
  readonly clientInfo: Implementation | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** What the client can be asked for over this connection. */
  readonly can: readonly string[];
  /** Whether the session is initialized; undefined without a session. */
  readonly initialized: boolean | undefined;
  readonly auth: Principal | undefined;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly coercions: readonly Coercion[];
  readonly trace: TraceContext | undefined;
  readonly data: Record<string, unknown>;
  readonly callId: string;
}

/** Methods of the context that return nothing. */
export type NoticeName = "progress" | "log" | "elicitationComplete" | "endSession";

/** Methods of the context that are answered. */
export type AskName = "elicit" | "tryElicit" | "elicitUrl" | "sample" | "roots" | "startTask" | "step";

/** One use of a method that is answered; `ask` is its number within the call. */
export interface ContextUse {
  readonly ask: number;
  readonly name: AskName;
  readonly params: readonly unknown[];
}

/** What the serving side sends to a worker. `call` is the number of the call, because messages of an earlier one may be late. */
export type ToWorker =
  | {
      readonly type: "call";
      readonly call: number;
      readonly module: string;
      readonly name: string;
      readonly args: unknown;
      readonly facts: CallFacts;
    }
  | { readonly type: "abort"; readonly call: number; readonly reason: PortableError }
  | { readonly type: "answer"; readonly call: number; readonly ask: number; readonly outcome: PortableOutcome }
  /** Asks for the work of a step, which no earlier round has done. */
  | { readonly type: "work"; readonly call: number; readonly ask: number }
  /** All notices so far have been read. */
  | { readonly type: "read"; readonly call: number };

/** What a worker sends. */
export type FromWorker =
  | { readonly type: "ready" }
  /** The function of the tool begins now. */
  | { readonly type: "started"; readonly call: number }
  | { readonly type: "unloadable"; readonly call: number; readonly error: PortableError }
  | {
      readonly type: "notice";
      readonly call: number;
      readonly name: NoticeName;
      readonly params: readonly unknown[];
    }
  /** All questions of one turn, so that they become one round where questions travel in rounds. */
  | { readonly type: "asked"; readonly call: number; readonly asked: readonly ContextUse[] }
  | { readonly type: "worked"; readonly call: number; readonly ask: number; readonly outcome: PortableOutcome }
  | { readonly type: "ended"; readonly call: number; readonly outcome: PortableOutcome };

/** The mark of the library's messages: a tool, or a package that it uses, may send others from the same thread or process. */
const MARK = { from: "@parley/mcp" };

/** A message with the mark. */
export function marked(message: FromWorker): FromWorker {
  return { ...message, ...MARK };
}

/** Whether a message has the mark. */
export function isMarked(message: unknown): message is FromWorker {
  return isObject(message) && message["from"] === MARK.from;
}

/** Notices that a worker sends before it waits until they are read. */
export const MAX_UNREAD_NOTICES = 256;
