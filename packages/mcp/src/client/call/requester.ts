import type { OutgoingCall, Question } from "../../era/era.js";
import type { ParamHeader } from "../../era/param-headers.js";
import type { Id, Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { CallOptions } from "../contract/options.js";

/** More than the user says about a call: what a feature adds on the way. */
export interface CallExtras {
  /** Arguments that headers have to repeat. */
  mirrored?: readonly ParamHeader[];
  /** The call is known to be safe to repeat, whatever its method says. */
  idempotent?: boolean;
  /** Sent while the connection recovers, as a part of that. */
  recovering?: boolean;
  /** What the caller can be asked for, in place of what the client declares; for calls that are passed on. */
  capabilities?: ClientCapabilities;
  /** The least level of log messages to request, in place of the client's. */
  logLevel?: LoggingLevel;
  /** Answers to an earlier round of the same call. */
  inputs?: NonNullable<OutgoingCall["inputs"]>;
  /** Gives a round of questions to the caller, as an `InterimResult`, instead of answering it. */
  interim?: boolean;
  /** Told the id of each request that stands for the call. */
  onSent?(id: Id): void;
  /** Called when a request of the call waits for a user; the returned function is called when it no longer does. */
  onUserWait?(): () => void;
}

/** All that a feature needs: it sends requests, and says what it had to mend. */
export interface Requester {
  readonly strict: boolean;
  call(method: string, params?: Params, options?: CallOptions, extras?: CallExtras): Promise<Record<string, unknown>>;
  warn(message: string): void;
}

/** A round of questions, as the result of a call that was made with `interim`. */
export class InterimResult {
  readonly questions: Readonly<Record<string, Question>>;
  readonly state: string | undefined;

  constructor(questions: Readonly<Record<string, Question>>, state: string | undefined) {
    this.questions = questions;
    this.state = state;
  }
}
