import type { Principal } from "../../http/authentication.js";
import { onAbort } from "../../platform/on-abort.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { CallDeadline } from "../../server/call/call-deadline.js";
import { isInputRequired } from "../../server/call/input-required.js";
import type { HandlerContext } from "../../server/contract/context.js";
import {
  outcomeOf,
  type PortableOutcome,
  portableError,
  portableFailure,
  revivedError,
  unwrapped,
} from "./portable-outcome.js";
import {
  loadFailed,
  loadTimeout,
  type ToolWorker,
  toolTimeout,
  type WorkerEnd,
  workerFailure,
} from "./start-worker.js";
import { type ContextUse, type FromWorker, type IsolatedCallInfo, MAX_UNREAD_NOTICES } from "./worker-messages.js";

/** One call of an isolated tool. */
export interface ToolTask {
  /** Name of the tool, for messages. */
  readonly tool: string;
  readonly module: string;
  /** Name of the function in the module. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly args: unknown;
  readonly ctx: HandlerContext<unknown>;
}

/** Limits that a pool sets for its calls. */
export interface WorkerCallLimits {
  readonly graceMs: number;
  readonly memoryMb: number;
}

/** Callbacks by which a call informs its pool. */
export interface CallEvents {
  /** Called when the worker can accept another call. */
  release(): void;
  /** Runs the call again if its worker ended before the function started. Undefined if a retry would not help. */
  readonly retry: (() => Promise<unknown>) | undefined;
}

/** Client features a tool can query with `ctx.client.can`. Their availability is constant during a call. */
const CAPABILITIES =
  "elicitation elicitation.form elicitation.url sampling sampling.tools sampling.context roots".split(" ");

/** Maximum time for loading a module, in milliseconds. Does not count towards the time limit of the tool. */
const LOAD_MS = 30_000;

/** Runs one call in a worker: forwards the tool's use of its context and enforces the limits. */
export class WorkerCall {
  readonly #platform: Platform;
  readonly #worker: ToolWorker;
  readonly #task: ToolTask;
  readonly #call: number;
  readonly #limits: WorkerCallLimits;
  readonly #events: CallEvents;
  readonly #stepWork = new Map<number, (outcome: PortableOutcome) => void>();
  #resolve: (value: unknown) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #deadline: CallDeadline | undefined;
  #loading: Timer | undefined;
  #grace: Timer | undefined;
  #interruption: unknown;
  #started = false;
  #settled = false;
  #ended = false;
  #unwatch: (() => void) | undefined;
  #notices = 0;

  constructor(
    platform: Platform,
    worker: ToolWorker,
    call: number,
    task: ToolTask,
    limits: WorkerCallLimits,
    events: CallEvents,
  ) {
    this.#platform = platform;
    this.#worker = worker;
    this.#call = call;
    this.#task = task;
    this.#limits = limits;
    this.#events = events;
  }

  /** Starts the call. Settles like the function, or rejects with the reason why the call was stopped. */
  run(): Promise<unknown> {
    const { module, name, args, ctx, tool } = this.#task;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      try {
        this.#worker.post({ type: "call", call: this.#call, module, name, args, callInfo: callInfoOf(ctx) });
      } catch (error) {
        this.#settle(() => reject(notPortable(tool, error)));
        this.#releaseWorker();
        return;
      }
      this.#loading = this.#platform.timer(LOAD_MS, () => this.#stop(loadTimeout(tool, LOAD_MS)), true);
      this.#unwatch = onAbort(ctx.signal, () => this.#stop(ctx.signal.reason));
    });
  }

  receive(message: FromWorker): void {
    if (this.#ended || message.type === "ready" || message.call !== this.#call) return;
    try {
      this.#handle(message);
    } catch (error) {
      // Invalid arguments to a context method fail only this call, as they do in the serving thread.
      this.#stop(error);
    }
  }

  #handle(message: Exclude<FromWorker, { type: "ready" }>): void {
    if (message.type === "started") this.#start();
    else if (message.type === "notice") this.#notice(message);
    else if (message.type === "asked") for (const asked of message.asked) this.#ask(asked);
    else if (message.type === "worked") this.#stepWork.get(message.ask)?.(message.outcome);
    else if (message.type === "unloadable") {
      const error = loadFailed(this.#platform, this.#task.tool, revivedError(message.error));
      this.#settle(() => this.#reject(error));
      this.#releaseWorker();
    } else {
      this.#settle(() => this.#settleWith(message.outcome));
      this.#releaseWorker();
    }
  }

  /** Settles the call after its worker has ended during the call. */
  workerEnded(end: WorkerEnd): void {
    const { retry } = this.#events;
    this.#ended = true;
    this.#grace?.cancel();
    this.#settle(() => {
      if (!this.#started && retry !== undefined) this.#resolve(retry());
      else this.#reject(workerFailure(this.#platform, this.#task.tool, end, this.#limits.memoryMb));
    });
  }

  #start(): void {
    this.#started = true;
    this.#loading?.cancel();
    const { tool, timeoutMs } = this.#task;
    if (this.#settled || timeoutMs === Number.POSITIVE_INFINITY) return;
    this.#deadline = new CallDeadline(this.#platform, timeoutMs, () => {
      const late = toolTimeout(tool, timeoutMs);
      this.#stop(late);
      return late;
    });
  }

  #settleWith(outcome: PortableOutcome): void {
    try {
      this.#resolve(unwrapped(outcome));
    } catch (error) {
      // The server recognizes its own interruption by identity, so reject with the same object.
      this.#reject(isInputRequired(error) ? (this.#interruption ?? error) : error);
    }
  }

  #notice({ name, params }: Extract<FromWorker, { type: "notice" }>): void {
    const { ctx } = this.#task;
    // Safe: the worker sends the parameters of the method with this name.
    const [first, second, third] = params as [never, never, never];
    if (name === "endSession") ctx.session?.end(first);
    else if (!this.#settled) ctx[name](first, second, third);
    this.#notices++;
    if (this.#notices % (MAX_UNREAD_NOTICES / 2) === 0) this.#worker.post({ type: "read", call: this.#call });
  }

  #ask({ ask, name, params }: ContextUse): void {
    const answer = (outcome: PortableOutcome) => {
      if (!this.#ended) this.#worker.post({ type: "answer", call: this.#call, ask, outcome });
    };
    if (this.#settled) return answer(portableFailure(new McpError("cancelled", "the call has ended")));
    const { ctx } = this.#task;
    // Safe: the worker sends the parameters of the method with this name.
    const [first, second, third] = params as [never, never, never];
    const asked = () =>
      name === "step" ? ctx.step(first, () => this.#runStepWork(ask)) : ctx[name](first, second, third);
    // Waiting for the user does not count towards the time limit. The work of a step does.
    const deadline = name === "step" ? undefined : this.#deadline;
    deadline?.pause();
    const noted = (error: unknown) => {
      if (isInputRequired(error)) this.#interruption = error;
      throw error;
    };
    const answered = outcomeOf(() => asked().catch(noted));
    void answered.then((outcome) => {
      deadline?.resume();
      answer(outcome);
    });
  }

  /** Asks the worker to run the work of a step, because the function exists only there. */
  #runStepWork(ask: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#stepWork.set(ask, (outcome) => {
        this.#stepWork.delete(ask);
        try {
          resolve(unwrapped(outcome));
        } catch (error) {
          reject(error);
        }
      });
      this.#worker.post({ type: "work", call: this.#call, ask });
    });
  }

  /** Rejects the call and aborts the tool. Terminates the worker if the tool has not returned after `graceMs`. */
  #stop(reason: unknown): void {
    if (this.#settled) return;
    this.#settle(() => this.#reject(reason));
    this.#worker.post({ type: "abort", call: this.#call, reason: portableError(reason) });
    this.#grace = this.#platform.timer(this.#limits.graceMs, () => void this.#worker.end(), true);
  }

  #settle(settle: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#deadline?.end();
    this.#loading?.cancel();
    this.#unwatch?.();
    settle();
  }

  #releaseWorker(): void {
    this.#ended = true;
    this.#grace?.cancel();
    this.#events.release();
  }
}

function callInfoOf(ctx: HandlerContext<unknown>): IsolatedCallInfo {
  const { requestId, method, protocolVersion, client, session, auth, meta, coercions, trace, callId } = ctx;
  return {
    requestId,
    method,
    protocolVersion,
    clientInfo: client.info,
    clientCapabilities: client.capabilities,
    can: CAPABILITIES.filter((capability) => client.can(capability)),
    initialized: session?.initialized,
    auth: auth && withoutHook(auth),
    meta,
    coercions,
    trace,
    data: JSON.parse(JSON.stringify(ctx.data)),
    callId,
  };
}

/** Removes the callback, because functions cannot be posted to another thread. */
function withoutHook({ onRevoked: _hook, ...auth }: Principal): Principal {
  return auth;
}

function notPortable(tool: string, cause: unknown): McpError {
  return new McpError("misuse", `the arguments or \`ctx.data\` of "${tool}" cannot be sent to another thread`, {
    cause,
    fix: "Remove functions and cyclic objects from the parsed arguments and from `ctx.data`.",
  });
}
