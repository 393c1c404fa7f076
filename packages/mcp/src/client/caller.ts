import type { Outcome, OutgoingCall } from "../era/era.js";
import { RpcError } from "../jsonrpc/error.js";
import { type Id, isId, isObject, type Params } from "../jsonrpc/message.js";
import { hasCapability } from "../protocol/capabilities.js";
import { fromWire, McpError } from "../protocol/error.js";
import type { ProgressNotificationParams } from "../protocol/lifecycle.js";
import type { MethodRow } from "../protocol/methods.js";
import { featuresOf } from "../protocol/revisions.js";
import { Deadlines } from "./deadlines.js";
import type { Link } from "./link.js";
import type { CallOptions } from "./options.js";
import { PendingCall } from "./pending-call.js";

const DEFAULT_ROUNDS = 32;

/** More than the user says about a call: what a feature adds on the way. */
export interface CallExtras {
  paramHeaders?: Record<string, string>;
}

/** The one path out and back: every request of the client goes through `call`. */
export class Caller {
  readonly #link: Link;
  readonly #deadlines: Deadlines;
  readonly #pending = new Map<Id, PendingCall>();

  constructor(link: Link) {
    this.#link = link;
    this.#deadlines = new Deadlines(link.platform);
  }

  /** Sends a request, answers what the server asks meanwhile, and gives the complete result. */
  async call(
    method: string,
    params?: Params,
    options: CallOptions = {},
    extras: CallExtras = {},
  ): Promise<Record<string, unknown>> {
    const row = this.#link.methods.get(method);
    this.#guard(method, row);
    const out: OutgoingCall = {
      method,
      params,
      ...(this.#link.options.logLevel === undefined ? {} : { logLevel: this.#link.options.logLevel }),
      ...(options.meta === undefined ? {} : { meta: options.meta }),
      ...(extras.paramHeaders === undefined ? {} : { paramHeaders: extras.paramHeaders }),
    };
    const rounds = this.#link.options.maxRounds ?? DEFAULT_ROUNDS;
    for (let round = 0; round <= rounds; round++) {
      const outcome = await this.#once(out, row, options);
      if (outcome.kind !== "input") return outcome.result;
      out.inputs = await this.#answers(outcome, options);
    }
    throw new McpError("limit_exceeded", `${method} asked more than ${rounds} rounds of questions`, {
      fix: "Raise `maxRounds` in `connect`, or look at what the server keeps asking.",
    });
  }

  /** Sends a notification. */
  async notify(method: string, params?: Params): Promise<void> {
    const { era } = this.#link.established;
    await this.#link.transport.notify(era.notice(method, params));
  }

  /** Routes progress to the call that it belongs to; false when nobody waits for it. */
  progress(params: Params | undefined): boolean {
    const token = params?.["progressToken"];
    const pending = isId(token) ? this.#pending.get(token) : undefined;
    if (pending === undefined || !isObject(params) || typeof params["progress"] !== "number") return false;
    // The two required members were checked; the rest is optional.
    pending.progress(params as unknown as ProgressNotificationParams, this.#link.platform.now());
    return true;
  }

  stop(): void {
    this.#deadlines.stop();
  }

  /** Refuses before the wire what the server said it does not offer. */
  #guard(method: string, row: MethodRow | undefined): void {
    if (row?.capability === undefined) return;
    const { capabilities, era } = this.#link.established;
    if (hasCapability(capabilities, row.capability)) return;
    // The oldest revision has completion without a capability for it.
    if (row.capability === "completions" && !featuresOf(era.revision).completionsCapability) return;
    throw new McpError(
      "capability_missing",
      `the server does not offer ${method}: it declares no "${row.capability}"`,
      {
        fix: "Look at `client.serverCapabilities` before calling.",
      },
    );
  }

  #once(call: OutgoingCall, row: MethodRow | undefined, options: CallOptions): Promise<Outcome> {
    const { transport, platform, timeouts } = this.#link;
    const { era } = this.#link.established;
    const id = this.#link.nextId();
    const message = era.encode(id, { ...call, progressToken: id });
    const endless = row?.deadlineExempt === true;
    const bounds = {
      idle: endless ? Number.POSITIVE_INFINITY : (options.timeouts?.idle ?? timeouts.idle),
      total: endless ? Number.POSITIVE_INFINITY : (options.timeouts?.total ?? timeouts.total),
    };
    const { signal } = options;
    if (signal?.aborted === true) return Promise.reject(cancelled(call.method, signal));
    const stop = (reason: McpError) => {
      const notice = row?.cancellable === false ? undefined : era.cancel(id, reason.message);
      if (notice !== undefined) void Promise.resolve(transport.notify(notice)).catch(() => {});
      transport.abandon(id, reason);
    };
    const onAbort = () => stop(cancelled(call.method, signal));
    const pending = new PendingCall(id, call.method, platform.now(), bounds, options.onProgress, stop);
    this.#pending.set(id, pending);
    if (!endless) this.#deadlines.add(pending);
    signal?.addEventListener("abort", onAbort, { once: true });
    const settle = () => {
      this.#pending.delete(id);
      this.#deadlines.remove(pending);
      signal?.removeEventListener("abort", onAbort);
    };
    return transport.request(message).then(
      (result) => {
        settle();
        return era.decode(call.method, result);
      },
      (error) => {
        settle();
        throw error instanceof RpcError ? fromWire(error) : McpError.from(error);
      },
    );
  }

  /** All answers of one round; several questions are put to the application at the same time. */
  async #answers(
    outcome: Outcome & { kind: "input" },
    options: CallOptions,
  ): Promise<NonNullable<OutgoingCall["inputs"]>> {
    const context = {
      signal: options.signal ?? new AbortController().signal,
      server: this.#link.established.serverInfo,
    };
    const entries = Object.entries(outcome.questions);
    const answers = await Promise.all(entries.map(([, question]) => this.#link.answerer.answer(question, context)));
    return {
      ...(entries.length === 0
        ? {}
        : { responses: Object.fromEntries(entries.map(([key], index) => [key, answers[index]])) }),
      ...(outcome.state === undefined ? {} : { state: outcome.state }),
    };
  }
}

function cancelled(method: string, signal: AbortSignal | undefined): McpError {
  return new McpError("cancelled", `${method} was cancelled by its caller`, { cause: signal?.reason });
}
