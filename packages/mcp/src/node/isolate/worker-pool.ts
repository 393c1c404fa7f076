import { onAbort } from "../../platform/on-abort.js";
import type { Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { platform } from "../platform.js";
import { startFailed, startWorker, type ToolWorker, type WorkerEnd, type WorkerSettings } from "./start-worker.js";
import { type ToolTask, WorkerCall, type WorkerCallLimits } from "./worker-call.js";

export { workerProgram } from "./start-worker.js";

/** Settings of a pool, with defaults applied. */
export interface PoolSettings extends WorkerSettings, WorkerCallLimits {
  readonly size: number;
  readonly queue: number;
  readonly idleMs: number;
}

/** A call that waits for a worker. */
interface QueuedCall {
  start(member: PooledWorker): void;
  fail(error: unknown): void;
}

interface PooledWorker {
  state: "starting" | "idle" | "busy" | "ending";
  worker: ToolWorker | undefined;
  call: WorkerCall | undefined;
  /**
   * True if the worker was healthy before its current call. If the worker then ends before the function starts, the
   * call did not cause that and is retried.
   */
  warm: boolean;
  /** Ends the worker if it is starting or idle for too long. */
  timer: Timer | undefined;
}

/** Maximum start time of a worker, in milliseconds. Includes loading the modules in `execArgv`. */
const START_MS = 30_000;

/** Maximum number of retries of a call whose worker ended before the function started. */
const MAX_RETRIES = 5;

/**
 * Runs calls in workers, one at a time per worker. Starts workers on demand, reuses them, and replaces those that end.
 */
export class WorkerPool {
  readonly #program: URL;
  readonly #settings: PoolSettings;
  readonly #members = new Set<PooledWorker>();
  readonly #queue = new Set<QueuedCall>();
  #calls = 0;
  #closing = false;

  constructor(program: URL, settings: PoolSettings) {
    this.#program = program;
    this.#settings = settings;
  }

  /** Runs a call as soon as a worker is free. Rejects with `limit_exceeded` if the queue is full. */
  run(task: ToolTask): Promise<unknown> {
    const { size, queue } = this.#settings;
    this.#closing = false;
    const free = this.#members.size < size || this.#membersIn("idle").length > 0;
    // Each starting worker will run one queued call. These calls do not count towards the limit.
    if (!free && this.#queue.size - this.#membersIn("starting").length >= queue) {
      return Promise.reject(queueFull(task.tool, size, queue));
    }
    return this.#enqueue(task, MAX_RETRIES);
  }

  #enqueue(task: ToolTask, retriesLeft: number): Promise<unknown> {
    const { signal } = task.ctx;
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const leave = () => {
        unwatch();
        this.#queue.delete(queued);
      };
      const queued: QueuedCall = {
        start: (member) => {
          leave();
          resolve(this.#begin(member, task, retriesLeft));
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const unwatch = onAbort(signal, () => queued.fail(signal.reason));
      this.#queue.add(queued);
      this.#dispatch();
    });
  }

  /** Assigns queued calls to idle workers, and starts workers for the rest up to the pool size. */
  #dispatch(): void {
    for (const member of this.#membersIn("idle")) {
      const [first] = this.#queue;
      if (first === undefined) return;
      first.start(member);
    }
    let starting = this.#membersIn("starting").length;
    for (; starting < this.#queue.size && this.#members.size < this.#settings.size; starting++) this.#startMember();
  }

  #membersIn(state: PooledWorker["state"]): PooledWorker[] {
    return [...this.#members].filter((member) => member.state === state);
  }

  #startMember(): void {
    const member: PooledWorker = {
      state: "starting",
      worker: undefined,
      call: undefined,
      warm: false,
      timer: platform.timer(START_MS, () => void member.worker?.end(), true),
    };
    this.#members.add(member);
    try {
      member.worker = startWorker(this.#program, this.#settings, {
        message: (message) => {
          if (message.type !== "ready") member.call?.receive(message);
          else if (member.state === "starting") this.#makeIdle(member);
        },
        ended: (end) => this.#onWorkerEnded(member, end),
      });
    } catch (error) {
      this.#onWorkerEnded(member, { error });
    }
  }

  #begin(member: PooledWorker, task: ToolTask, retriesLeft: number): Promise<unknown> {
    const { worker } = member;
    // Never happens: an idle worker has started. The type cannot express this.
    if (worker === undefined) return Promise.reject(startFailed(platform, {}));
    member.timer?.cancel();
    member.state = "busy";
    worker.keepProcessAlive(true);
    const call = new WorkerCall(platform, worker, ++this.#calls, task, this.#settings, {
      release: () => {
        member.call = undefined;
        member.warm = true;
        if (member.state === "busy") this.#makeIdle(member);
      },
      // The function has not started, so another worker can run the call.
      retry: member.warm && retriesLeft > 0 ? () => this.#enqueue(task, retriesLeft - 1) : undefined,
    });
    member.call = call;
    return call.run();
  }

  /**
   * Marks the worker as ready for a call. If no call is queued, the worker ends after `idleMs`, or at once if the pool
   * is closing.
   */
  #makeIdle(member: PooledWorker): void {
    member.state = "idle";
    member.timer?.cancel();
    member.worker?.keepProcessAlive(false);
    this.#dispatch();
    // Read again: `#dispatch` may have assigned a queued call.
    if ((member.state as PooledWorker["state"]) !== "idle") return;
    member.warm = true;
    if (this.#closing) void end(member);
    else member.timer = platform.timer(this.#settings.idleMs, () => void end(member));
  }

  #onWorkerEnded(member: PooledWorker, end: WorkerEnd): void {
    const { state, call } = member;
    this.#members.delete(member);
    member.timer?.cancel();
    member.state = "ending";
    call?.workerEnded(end);
    // Fail one queued call if a worker did not start. Otherwise a worker that cannot start would be restarted
    // endlessly.
    if (state === "starting") for (const first of [...this.#queue].slice(0, 1)) first.fail(startFailed(platform, end));
    this.#dispatch();
  }

  /**
   * Ends idle workers now, and the other workers when no call is queued. A later call reopens the pool. Resolves when the idle workers have ended. A later
   * call starts new workers.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#membersIn("idle").map(end));
  }
}

async function end(member: PooledWorker): Promise<void> {
  member.state = "ending";
  member.timer?.cancel();
  await member.worker?.end();
}

function queueFull(tool: string, running: number, queued: number): McpError {
  return new McpError(
    "limit_exceeded",
    `too many calls: the workers of "${tool}" run ${running} at once and ${queued} are waiting`,
    { data: { limit: "queue", running, queued }, fix: "Call again later, or raise `size` or `queue` of the pool." },
  );
}
