import type { OutgoingCall, Question } from "../../era/era.js";
import type { ParamHeader } from "../../era/param-headers.js";
import type { Id, Params } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { LoggingLevel } from "../../protocol/logging.js";
import type { CallOptions } from "../contract/options.js";

/** A call forwarded for another client, which answers the server's questions itself. */
export interface ForwardedCall {
  /** The capabilities of the other client, in place of this client's. */
  readonly capabilities?: ClientCapabilities;
  /** The lowest level of log messages to request, in place of this client's. */
  readonly logLevel?: LoggingLevel;
  /** Answers to the last round of questions. */
  readonly inputs?: NonNullable<OutgoingCall["inputs"]>;
}

/** Settings of a call that the library makes, in addition to the application's options. */
export interface CallExtras {
  /** Arguments to repeat in headers, according to the tool's listed schema. */
  readonly mirrored?: readonly ParamHeader[];
  /** True if the listed tool is safe to call again. */
  readonly idempotent?: boolean;
  /** Set for a forwarded call. If the server asks questions, the call resolves with an `InterimResult`. */
  readonly forwarded?: ForwardedCall;
  /** Sends the call while the connection recovers, as a part of the recovery. */
  readonly recovering?: boolean;
  /** Called with the id of each request of the call. */
  onSent?(id: Id): void;
  /**
   * Called when a request of the call starts to wait for a user. The returned function is called when the wait ends.
   */
  onUserWait?(): () => void;
}

/** Sends requests and warns about repaired results. */
export interface Requester {
  readonly strict: boolean;
  call(method: string, params?: Params, options?: CallOptions, extras?: CallExtras): Promise<Record<string, unknown>>;
  warn(message: string): void;
}

/** A round of questions, as the result of a forwarded call. */
export class InterimResult {
  readonly questions: Readonly<Record<string, Question>>;
  readonly state: string | undefined;

  constructor(questions: Readonly<Record<string, Question>>, state: string | undefined) {
    this.questions = questions;
    this.state = state;
  }
}
