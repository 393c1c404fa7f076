import { onAbort } from "../../platform/on-abort.js";
import type { Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { platform } from "../platform.js";
import { cannotStart, startWorker, type ToolWorker, type WorkerEnd, type WorkerSettings } from "./start-worker.js";
import { type ToolTask, WorkerCall, type WorkerCallLimits } from "./worker-call.js";

export { workerProgram } from "./start-worker.js";

/** The settings of a pool, with all defaults filled in. */
export interface PoolSettings extends WorkerSettings, WorkerCallLimits {
  readonly size: number;
  readonly queue: number;
  readonly idleMs: number;
}

/** A call that waits for a worker. */
interface Waiting {
  start(member: PooledWorker): void;
  fail(error: unknown): void;
}

interface PooledWorker {
  state: "starting" | "idle" | "busy" | "ending";
  worker: ToolWorker | undefined;
  call: WorkerCall | undefined;
  /** Whether it was fine before the call that it has, so that its end is not the fault of that call. */
  warm: boolean;
  /** Ends it if it is idle, or starting, for too long. */
  timer: Timer | undefined;
}

/** Time for a worker to start, which modules of `execArgv` are part of. */
const START_MS = 30_000;

/** How often a call gets another worker because the one before ended by itself, before the function began. */
const MAX_REPEATS = 5;

/** Runs calls in workers, one at a time in each. Workers are started when they are needed, kept, and replaced when they end. */
export class WorkerPool {
  readonly #program: URL;
  readonly #settings: PoolSettings;
  readonly #members = new Set<PooledWorker>();
  readonly #queue = new Set<Waiting>();
  #calls = 0;
  #closing = false;

  constructor(program: URL, settings: PoolSettings) {
    this.#program = program;
    this.#settings = settings;
  }

  /** Runs a call as soon as a worker is free. Rejects with `limit_exceeded` where too many wait already. */
  run(task: ToolTask): Promise<unknown> {
    const { size, queue } = this.#settings;
    this.#closing = false;
    const free = this.#members.size < size || this.#in("idle").length > 0;
    // Every starting worker takes one of those that wait.
    if (!free && this.#queue.size - this.#in("starting").length >= queue) {
      return Promise.reject(tooMany(task.tool, size, queue));
    }
    return this.#enqueue(task, MAX_REPEATS);
  }

  #enqueue(task: ToolTask, repeats: number): Promise<unknown> {
    const { signal } = task.ctx;
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const leave = () => {
        unwatch();
        this.#queue.delete(waiting);
      };
      const waiting: Waiting = {
        start: (member) => {
          leave();
          resolve(this.#begin(member, task, repeats));
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const unwatch = onAbort(signal, () => waiting.fail(signal.reason));
      this.#queue.add(waiting);
      this.#next();
    });
  }

  /** Gives waiting calls to idle workers, and starts workers for the rest, up to the size. */
  #next(): void {
    for (const member of this.#in("idle")) {
      const [first] = this.#queue;
      if (first === undefined) return;
      first.start(member);
    }
    let starting = this.#in("starting").length;
    for (; starting < this.#queue.size && this.#members.size < this.#settings.size; starting++) this.#grow();
  }

  #in(state: PooledWorker["state"]): PooledWorker[] {
    return [...this.#members].filter((member) => member.state === state);
  }

  #grow(): void {
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
          else if (member.state === "starting") this.#rest(member);
        },
        ended: (end) => this.#lost(member, end),
      });
    } catch (error) {
      this.#lost(member, { error });
    }
  }

  #begin(member: PooledWorker, task: ToolTask, repeats: number): Promise<unknown> {
    const { worker } = member;
    // An idle worker has started; the type does not know.
    if (worker === undefined) return Promise.reject(cannotStart(platform, {}));
    member.timer?.cancel();
    member.state = "busy";
    worker.hold(true);
    const call = new WorkerCall(platform, worker, ++this.#calls, task, this.#settings, {
      free: () => {
        member.call = undefined;
        member.warm = true;
        if (member.state === "busy") this.#rest(member);
      },
      // The function never began, so the call may have another worker.
      again: member.warm && repeats > 0 ? () => this.#enqueue(task, repeats - 1) : undefined,
    });
    member.call = call;
    return call.run();
  }

  /** The worker is ready for a call; without one it ends after a while. */
  #rest(member: PooledWorker): void {
    member.state = "idle";
    member.timer?.cancel();
    member.worker?.hold(false);
    this.#next();
    // Read again, because a call that waited may have it now.
    if ((member.state as PooledWorker["state"]) !== "idle") return;
    member.warm = true;
    if (this.#closing) void end(member);
    else member.timer = platform.timer(this.#settings.idleMs, () => void end(member));
  }

  #lost(member: PooledWorker, end: WorkerEnd): void {
    const { state, call } = member;
    this.#members.delete(member);
    member.timer?.cancel();
    member.state = "ending";
    call?.workerEnded(end);
    // Without this, what cannot start would be started for ever.
    if (state === "starting") for (const first of [...this.#queue].slice(0, 1)) first.fail(cannotStart(platform, end));
    this.#next();
  }

  /** Ends idle workers now and busy ones after their call; a later call starts new ones. Resolves when the idle ones are gone. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#in("idle").map(end));
  }
}

async function end(member: PooledWorker): Promise<void> {
  member.state = "ending";
  member.timer?.cancel();
  await member.worker?.end();
}

function tooMany(tool: string, running: number, queued: number): McpError {
  return new McpError(
    "limit_exceeded",
    `too many calls: the workers of "${tool}" run ${running} at once and ${queued} are waiting`,
    { data: { limit: "queue", running, queued }, fix: "Call again later, or raise `size` or `queue` of the pool." },
  );
}
