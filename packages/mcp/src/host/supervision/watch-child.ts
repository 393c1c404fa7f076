import { isThenable } from "../../encoding/maybe-promise.js";
import { callHook } from "../../platform/call-hook.js";
import { atMost } from "../../platform/pause.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { type ChildExit, type ChildSpec, DEFAULT_START_MS, DEFAULT_STOP_MS, failure } from "./child-spec.js";
import { isNestedSupervisor, type NestedSupervisor } from "./supervisor-tree.js";

/** How one instance of a child is watched and ended. */
export interface WatchedChild {
  readonly id: string;
  /** Resolves when it has ended; never rejects. Pending for ever if its end cannot be seen. */
  readonly ended: Promise<ChildExit>;
  /** Asks it to end. */
  stop(): unknown;
  /** Ends what did not end when asked. */
  force?(): void;
  /** How long ending it may take before it is forced or left behind. */
  readonly stopMs: number;
}

/** What the end and the stopping of a value can be derived from. Every member is tested before use. */
interface Endable {
  readonly state?: unknown;
  readonly closed?: unknown;
  readonly ended?: unknown;
  readonly pid?: unknown;
  readonly exitCode?: unknown;
  readonly signalCode?: unknown;
  readonly threadId?: unknown;
  on?(event: string, listener: (value: never) => void): unknown;
  once?(event: string, listener: (...values: never[]) => void): unknown;
  listenerCount?(event: string): number;
  terminate?(): unknown;
  kill?(signal?: string): unknown;
  close?(): unknown;
  [Symbol.asyncDispose]?(): unknown;
  [Symbol.dispose]?(): unknown;
}

/** After `force`, how long to wait for the end that it must bring. */
const FORCED_MS = 1_000;

/** Watches a value that `spec.start` gave. */
export function watchChild(spec: ChildSpec, child: unknown): WatchedChild {
  // Safe: primitives have none of the members, and objects are only asked for what they have. Handlers are functions.
  const value = (child !== null && (typeof child === "object" || typeof child === "function") ? child : {}) as Endable;
  const ended = settledExit(() => spec.ended?.(child) ?? derivedEnd(value));
  const watched = {
    id: spec.id,
    ended,
    // A supervisor may have got more children since.
    get stopMs() {
      return stopMsOf(spec, child);
    },
  };
  if (spec.stop !== undefined) return Object.assign(watched, { stop: () => spec.stop?.(child) });
  if (!isProcess(value)) return Object.assign(watched, { stop: () => derivedStop(value) });
  return Object.assign(watched, {
    stop: () => endProcess(value, ended),
    force: () => void value.kill?.("SIGKILL"),
  });
}

/** How long an instance may take to end when it is asked. */
function stopMsOf(spec: ChildSpec, child: unknown): number {
  return spec.stopMs ?? (isNestedSupervisor(child) ? child.stopBoundMs : DEFAULT_STOP_MS);
}

/** How long ending an instance takes at most, with a second for what has to be forced. */
export function stopBound(spec: ChildSpec, child: unknown): number {
  return stopMsOf(spec, child) + FORCED_MS;
}

/**
 * Ends an instance. A failure to stop is reported, and counts as the end of it. Gives undefined when it is gone, and what is still
 * going on if it did not end in time.
 */
export async function endWatched(
  platform: Platform,
  watched: WatchedChild,
): Promise<{ readonly unended: Promise<void> } | undefined> {
  let gone = false;
  const work = Promise.resolve()
    .then(() => watched.stop())
    .catch((error: unknown) => callHook(platform, `stop of "${watched.id}"`, () => Promise.reject(error)))
    .then(() => {
      gone = true;
    });
  await atMost(platform, watched.stopMs, work, true);
  if (gone) return undefined;
  if (watched.force === undefined) return { unended: work };
  try {
    watched.force();
  } catch {
    // It is reported as left behind.
  }
  await atMost(platform, FORCED_MS, work, true);
  return gone ? undefined : { unended: work };
}

function settledExit(end: () => Promise<ChildExit>): Promise<ChildExit> {
  try {
    return Promise.resolve(end()).then(
      (exit) => exit ?? { normal: true, reason: "ended" },
      (error: unknown) => failure(error),
    );
  } catch (error) {
    return Promise.resolve(failure(error));
  }
}

function derivedEnd(value: Endable): Promise<ChildExit> {
  if (isNestedSupervisor(value)) return value.ended;
  if (typeof value.state === "string" && typeof value.on === "function" && typeof value.close === "function") {
    return clientEnd(value);
  }
  if (isEmitter(value)) return emitterEnd(value);
  for (const promise of [value.closed, value.ended]) {
    if (isThenable(promise)) return Promise.resolve(promise).then(() => ({ normal: true, reason: "closed" }));
  }
  // One of its own for each instance: a promise keeps all who wait for it.
  return new Promise(() => {});
}

const isProcess = (value: Endable) =>
  isEmitter(value) && typeof value.kill === "function" && typeof value.terminate !== "function";

const isEmitter = (value: Endable) => typeof value.once === "function" && typeof value.on === "function";

/** A client ends with its connection; while it recovers by itself it has not ended. */
function clientEnd(client: Endable): Promise<ChildExit> {
  return new Promise((resolve) => {
    const look = (reason?: unknown) => {
      if (client.state === "closed") resolve({ normal: true, reason: "closed" });
      if (client.state !== "disconnected") return;
      resolve(reason === undefined ? { normal: false, reason: "disconnected" } : failure(reason));
    };
    client.on?.("state", (change: { reason?: unknown } | undefined) => look(change?.reason));
    look();
  });
}

/** A worker thread or a child process ends with `exit`; another emitter, such as a socket, with `close`. */
function emitterEnd(emitter: Endable): Promise<ChildExit> {
  const ends = typeof emitter.terminate === "function" || typeof emitter.kill === "function";
  if (!ends) {
    return new Promise((resolve) => {
      emitter.once?.("close", () => resolve({ normal: true, reason: "closed" }));
      // An error that nobody handles would end this process; what the program handles is its own.
      emitter.on?.("error", (thrown: unknown) => {
        if ((emitter.listenerCount?.("error") ?? 1) <= 1) resolve(failure(thrown));
      });
    });
  }
  return new Promise((resolve) => {
    let error: unknown;
    const exited = (code: unknown, signal?: unknown) => {
      if (error !== undefined) return resolve(failure(error));
      const how = typeof signal === "string" ? `signal ${signal}` : `code ${String(code)}`;
      resolve({ normal: code === 0, reason: `exited with ${how}` });
    };
    // Without a listener the error of a worker would end this process.
    emitter.on?.("error", (thrown: unknown) => {
      error = thrown;
      // A process that could not be started has no exit.
      if (typeof emitter.kill === "function" && emitter.pid === undefined) resolve(failure(thrown));
    });
    emitter.once?.("exit", (code: unknown, signal: unknown) => exited(code, signal));
    if (hasExited(emitter)) exited(emitter.exitCode ?? 0, emitter.signalCode ?? undefined);
  });
}

function hasExited({ exitCode, signalCode, threadId }: Endable): boolean {
  return typeof exitCode === "number" || typeof signalCode === "string" || threadId === -1;
}

/** `kill` only asks: the process is gone when it has exited. */
function endProcess(process: Endable, ended: Promise<unknown>): unknown {
  if (hasExited(process) || process.pid === undefined) return undefined;
  process.kill?.();
  return ended;
}

function derivedStop(value: Endable): unknown {
  if (typeof value.terminate === "function") return value.terminate();
  if (typeof value[Symbol.asyncDispose] === "function") return value[Symbol.asyncDispose]?.();
  if (typeof value.close === "function") return value.close();
  if (typeof value[Symbol.dispose] === "function") return value[Symbol.dispose]?.();
  return undefined;
}

/** Who hears of an attempt. */
export interface AttemptOwner {
  readonly platform: Platform;
  /** It works. Called at most once, and never after `abandon`. */
  works(value: unknown): void;
  /** It failed or took too long. Called at most once, and never after `abandon`. */
  fails(exit: ChildExit): void;
  /** The instance is a supervisor, which is about to be started. */
  nests(supervisor: NestedSupervisor): void;
  /** It did not end in time after it was abandoned, and may still be going on until `settled` resolves. */
  leftBehind(afterMs: number, settled: Promise<void>): void;
}

/** One start of one instance. */
export class StartAttempt {
  readonly #spec: ChildSpec;
  readonly #owner: AttemptOwner;
  readonly #controller = new AbortController();
  readonly #settled: Promise<void>;
  #deadline: Timer | undefined;
  #ending: Promise<void> | undefined;
  #wanted = true;
  #nested: NestedSupervisor | undefined;

  /** Begins when `before`, which must not reject, has resolved. */
  constructor(spec: ChildSpec, owner: AttemptOwner, before: Promise<void> | undefined) {
    this.#spec = spec;
    this.#owner = owner;
    this.#settled = this.#run(before);
  }

  /** Nobody wants it any more: aborts its signal and ends what comes of it. Resolves when that is gone or left behind. */
  abandon(): Promise<void> {
    this.#wanted = false;
    this.#ending ??= this.#end(new McpError("cancelled", `the start of "${this.#spec.id}" is not wanted any more`));
    return this.#ending;
  }

  async #run(before: Promise<void> | undefined): Promise<void> {
    await before;
    const { signal } = this.#controller;
    if (signal.aborted) return;
    this.#setDeadline(this.#spec.startMs ?? DEFAULT_START_MS);
    try {
      const value = await this.#spec.start(signal);
      if (isNestedSupervisor(value)) await this.#startNested(value);
      // The state may have changed while the instance was on its way.
      if (signal.aborted) await endWatched(this.#owner.platform, watchChild(this.#spec, value));
      else this.#owner.works(value);
    } catch (error) {
      if (!signal.aborted) this.#owner.fails(failure(error));
    } finally {
      this.#deadline?.cancel();
    }
  }

  async #startNested(supervisor: NestedSupervisor): Promise<void> {
    if (this.#spec.startMs === undefined) this.#deadline?.cancel();
    this.#nested = supervisor;
    const { signal } = this.#controller;
    if (signal.aborted) return;
    this.#owner.nests(supervisor);
    signal.addEventListener("abort", () => void supervisor.close(), { once: true });
    await supervisor.start();
  }

  #setDeadline(ms: number): void {
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#deadline = this.#owner.platform.timer(ms, () => this.#timeOut(ms), true);
  }

  #timeOut(ms: number): void {
    const error = new McpError("timeout", `"${this.#spec.id}" did not start within ${ms} ms`, {
      fix: "Raise `startMs` of the child, or look at what its `start` waits for.",
      data: { deadline: "startMs" },
    });
    this.#ending = this.#end(error);
    // Whoever abandons it meanwhile waits for the same end, and is not told of the failure.
    void this.#ending.then(() => {
      if (this.#wanted) this.#owner.fails(failure(error));
    });
  }

  async #end(reason: McpError): Promise<void> {
    this.#deadline?.cancel();
    this.#controller.abort(reason);
    let gone = false;
    const settled = this.#settled.then(() => {
      gone = true;
    });
    const stopMs = stopMsOf(this.#spec, this.#nested);
    await atMost(this.#owner.platform, stopMs, settled, true);
    if (!gone) this.#owner.leftBehind(stopMs, settled);
  }
}
