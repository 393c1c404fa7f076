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
import { lateError, neverStarted, type ToolWorker, unloadable, type WorkerEnd, workerFailure } from "./start-worker.js";
import { type CallFacts, type ContextUse, type FromWorker, MAX_UNREAD_NOTICES } from "./worker-messages.js";

/** One call of an isolated tool. */
export interface ToolTask {
  /** The name of the tool, for messages. */
  readonly tool: string;
  readonly module: string;
  /** The name of the function in the module. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly args: unknown;
  readonly ctx: HandlerContext<unknown>;
}

/** The limits of calls that their pool sets. */
export interface WorkerCallLimits {
  readonly graceMs: number;
  readonly memoryMb: number;
}

/** What a call tells the pool. */
export interface CallEvents {
  /** The worker can have another call. */
  free(): void;
  /** Runs the call once more, where its worker ended before the function began; absent where that would be no help. */
  readonly again: (() => Promise<unknown>) | undefined;
}

/** What a client may be asked for; the answer for each is fixed for the call. */
const CAPABILITIES =
  "elicitation elicitation.form elicitation.url sampling sampling.tools sampling.context roots".split(" ");

/** Time for loading a module, which is no part of the tool's own. */
const LOAD_MS = 30_000;

/** Runs one call in a worker: passes on what the tool does with its context, and holds it to its limits. */
export class WorkerCall {
  readonly #platform: Platform;
  readonly #worker: ToolWorker;
  readonly #task: ToolTask;
  readonly #call: number;
  readonly #limits: WorkerCallLimits;
  readonly #events: CallEvents;
  readonly #work = new Map<number, (outcome: PortableOutcome) => void>();
  #resolve: (value: unknown) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #deadline: CallDeadline | undefined;
  #loading: Timer | undefined;
  #grace: Timer | undefined;
  #interruption: unknown;
  #started = false;
  #settled = false;
  #over = false;
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

  /** Starts the call. Settles as the function does, or with the reason for which it had to end. */
  run(): Promise<unknown> {
    const { module, name, args, ctx, tool } = this.#task;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      try {
        this.#worker.post({ type: "call", call: this.#call, module, name, args, facts: factsOf(ctx) });
      } catch (error) {
        this.#settle(() => reject(notPortable(tool, error)));
        this.#leave();
        return;
      }
      this.#loading = this.#platform.timer(LOAD_MS, () => this.#stop(neverStarted(tool, LOAD_MS)), true);
      this.#unwatch = onAbort(ctx.signal, () => this.#stop(ctx.signal.reason));
    });
  }

  receive(message: FromWorker): void {
    if (this.#over || message.type === "ready" || message.call !== this.#call) return;
    try {
      this.#obey(message);
    } catch (error) {
      // What the tool gave to its context fails the call, as it does in the serving thread, and nothing else.
      this.#stop(error);
    }
  }

  #obey(message: Exclude<FromWorker, { type: "ready" }>): void {
    if (message.type === "started") this.#start();
    else if (message.type === "notice") this.#notice(message);
    else if (message.type === "asked") for (const asked of message.asked) this.#ask(asked);
    else if (message.type === "worked") this.#work.get(message.ask)?.(message.outcome);
    else if (message.type === "unloadable") {
      const error = unloadable(this.#platform, this.#task.tool, revivedError(message.error));
      this.#settle(() => this.#reject(error));
      this.#leave();
    } else {
      this.#settle(() => this.#end(message.outcome));
      this.#leave();
    }
  }

  /** The worker has ended, in the middle of the call. */
  workerEnded(end: WorkerEnd): void {
    const { again } = this.#events;
    this.#over = true;
    this.#grace?.cancel();
    this.#settle(() => {
      if (!this.#started && again !== undefined) this.#resolve(again());
      else this.#reject(workerFailure(this.#platform, this.#task.tool, end, this.#limits.memoryMb));
    });
  }

  #start(): void {
    this.#started = true;
    this.#loading?.cancel();
    const { tool, timeoutMs } = this.#task;
    if (this.#settled || timeoutMs === Number.POSITIVE_INFINITY) return;
    this.#deadline = new CallDeadline(this.#platform, timeoutMs, () => {
      const late = lateError(tool, timeoutMs);
      this.#stop(late);
      return late;
    });
  }

  #end(outcome: PortableOutcome): void {
    try {
      this.#resolve(unwrapped(outcome));
    } catch (error) {
      // The same object, because the call knows its own interruption.
      this.#reject(isInputRequired(error) ? (this.#interruption ?? error) : error);
    }
  }

  #notice({ name, params }: Extract<FromWorker, { type: "notice" }>): void {
    const { ctx } = this.#task;
    // Safe: the parameters are those of the method of this name in the worker.
    const [first, second, third] = params as [never, never, never];
    if (name === "endSession") ctx.session?.end(first);
    else if (!this.#settled) ctx[name](first, second, third);
    this.#notices++;
    if (this.#notices % (MAX_UNREAD_NOTICES / 2) === 0) this.#worker.post({ type: "read", call: this.#call });
  }

  #ask({ ask, name, params }: ContextUse): void {
    const answer = (outcome: PortableOutcome) => {
      if (!this.#over) this.#worker.post({ type: "answer", call: this.#call, ask, outcome });
    };
    if (this.#settled) return answer(portableFailure(new McpError("cancelled", "the call has ended")));
    const { ctx } = this.#task;
    // Safe, as for notices.
    const [first, second, third] = params as [never, never, never];
    const asked = () => (name === "step" ? ctx.step(first, () => this.#workOf(ask)) : ctx[name](first, second, third));
    // The time that the user takes does not count for the limit; that of a step does.
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

  /** Has the worker do the work of a step, which is its own function. */
  #workOf(ask: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#work.set(ask, (outcome) => {
        this.#work.delete(ask);
        try {
          resolve(unwrapped(outcome));
        } catch (error) {
          reject(error);
        }
      });
      this.#worker.post({ type: "work", call: this.#call, ask });
    });
  }

  /** Ends the call for its caller, and tells the tool; what goes on after a grace loses its worker. */
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

  #leave(): void {
    this.#over = true;
    this.#grace?.cancel();
    this.#events.free();
  }
}

function factsOf(ctx: HandlerContext<unknown>): CallFacts {
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

/** Functions cannot be posted to another thread. */
function withoutHook({ onRevoked: _hook, ...auth }: Principal): Principal {
  return auth;
}

function notPortable(tool: string, cause: unknown): McpError {
  return new McpError("misuse", `the arguments or \`ctx.data\` of "${tool}" cannot be handed to another thread`, {
    cause,
    fix: "Keep functions and objects with cycles out of the parsed arguments and of `ctx.data`.",
  });
}
