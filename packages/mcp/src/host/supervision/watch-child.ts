import { isThenable } from "../../encoding/maybe-promise.js";
import { callHook } from "../../platform/call-hook.js";
import { atMost } from "../../platform/pause.js";
import type { Platform, Timer } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { abnormalExit, type ChildExit, type ChildSpec, DEFAULT_START_MS, DEFAULT_STOP_MS } from "./child-spec.js";
import { isNestedSupervisor, type NestedSupervisor } from "./supervisor-tree.js";

/** Watches one instance of a child, and ends it. */
export interface WatchedChild {
  readonly id: string;
  /** Resolves when the instance has ended. Never rejects. Stays pending if the end cannot be observed. */
  readonly ended: Promise<ChildExit>;
  /** Asks the instance to end. */
  stop(): unknown;
  /** Ends an instance that did not end when asked. */
  force?(): void;
  /**
   * Milliseconds that ending the instance may take. After that it is forced to end or, without `force`, left behind.
   */
  readonly stopMs: number;
}

/** The members from which the end of a value, and a way to stop it, are derived. Each is tested before use. */
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

/** Milliseconds to wait for the end after `force`. */
const FORCE_WAIT_MS = 1_000;

/** Watches a value that `spec.start` returned. */
export function watchChild(spec: ChildSpec, child: unknown): WatchedChild {
  // Safe: primitives have none of the members, and every member is tested before use. Functions are accepted too,
  // because HTTP handlers are functions.
  const value = (child !== null && (typeof child === "object" || typeof child === "function") ? child : {}) as Endable;
  const ended = settledExit(() => spec.ended?.(child) ?? derivedEnd(value));
  const watched = {
    id: spec.id,
    ended,
    // A getter, because a supervisor may have more children by the time it is stopped.
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

/** Milliseconds that an instance may take to end when asked. */
function stopMsOf(spec: ChildSpec, child: unknown): number {
  return spec.stopMs ?? (isNestedSupervisor(child) ? child.stopBoundMs : DEFAULT_STOP_MS);
}

/** Maximum number of milliseconds that ending an instance takes, including the wait after `force`. */
export function stopBound(spec: ChildSpec, child: unknown): number {
  return stopMsOf(spec, child) + FORCE_WAIT_MS;
}

/**
 * Ends an instance. A failure to stop is reported and counts as the end of the instance. Resolves with undefined when
 * the instance has ended. If it does not end in time, resolves with an object whose `unended` resolves at its end.
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
    // Ignores a failure of `force`. If the instance does not end, it is left behind.
  }
  await atMost(platform, FORCE_WAIT_MS, work, true);
  return gone ? undefined : { unended: work };
}

function settledExit(end: () => Promise<ChildExit>): Promise<ChildExit> {
  try {
    return Promise.resolve(end()).then(
      (exit) => exit ?? { normal: true, reason: "ended" },
      (error: unknown) => abnormalExit(error),
    );
  } catch (error) {
    return Promise.resolve(abnormalExit(error));
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
  // Creates a separate promise for each instance, because a shared promise would retain the callbacks of all instances.
  return new Promise(() => {});
}

const isProcess = (value: Endable) =>
  isEmitter(value) && typeof value.kill === "function" && typeof value.terminate !== "function";

const isEmitter = (value: Endable) => typeof value.once === "function" && typeof value.on === "function";

/** Observes a client, which ends with its connection. A client that reconnects has not ended. */
function clientEnd(client: Endable): Promise<ChildExit> {
  return new Promise((resolve) => {
    const check = (reason?: unknown) => {
      if (client.state === "closed") resolve({ normal: true, reason: "closed" });
      if (client.state !== "disconnected") return;
      resolve(reason === undefined ? { normal: false, reason: "disconnected" } : abnormalExit(reason));
    };
    client.on?.("state", (change: { reason?: unknown } | undefined) => check(change?.reason));
    check();
  });
}

/**
 * Observes an emitter. A worker thread or a child process ends with `exit`; other emitters, such as sockets, with
 * `close`.
 */
function emitterEnd(emitter: Endable): Promise<ChildExit> {
  const ends = typeof emitter.terminate === "function" || typeof emitter.kill === "function";
  if (!ends) {
    return new Promise((resolve) => {
      emitter.once?.("close", () => resolve({ normal: true, reason: "closed" }));
      // An unhandled `error` event would end this process. If the program has its own listener, the error does not
      // count as an end.
      emitter.on?.("error", (thrown: unknown) => {
        if ((emitter.listenerCount?.("error") ?? 1) <= 1) resolve(abnormalExit(thrown));
      });
    });
  }
  return new Promise((resolve) => {
    let error: unknown;
    const exited = (code: unknown, signal?: unknown) => {
      if (error !== undefined) return resolve(abnormalExit(error));
      const how = typeof signal === "string" ? `signal ${signal}` : `code ${String(code)}`;
      resolve({ normal: code === 0, reason: `exited with ${how}` });
    };
    // Without a listener, the error of a worker would end this process.
    emitter.on?.("error", (thrown: unknown) => {
      error = thrown;
      // A process that could not be started emits no `exit`.
      if (typeof emitter.kill === "function" && emitter.pid === undefined) resolve(abnormalExit(thrown));
    });
    emitter.once?.("exit", (code: unknown, signal: unknown) => exited(code, signal));
    if (hasExited(emitter)) exited(emitter.exitCode ?? 0, emitter.signalCode ?? undefined);
  });
}

function hasExited({ exitCode, signalCode, threadId }: Endable): boolean {
  return typeof exitCode === "number" || typeof signalCode === "string" || threadId === -1;
}

/** Asks a process to end and waits for its exit, because `kill` only sends a signal. */
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

/** The owner of an attempt, which is notified of its outcome. */
export interface AttemptOwner {
  readonly platform: Platform;
  /** The instance has started. Called at most once, and never after `abandon`. */
  onStarted(value: unknown): void;
  /** The start failed or timed out. Called at most once, and never after `abandon`. */
  onFailed(exit: ChildExit): void;
  /** The instance is a supervisor that is about to be started. */
  adopt(supervisor: NestedSupervisor): void;
  /** The attempt did not end in time after it was abandoned. It may continue until `settled` resolves. */
  leftBehind(afterMs: number, settled: Promise<void>): void;
}

/** One attempt to start an instance. */
export class StartAttempt {
  readonly #spec: ChildSpec;
  readonly #owner: AttemptOwner;
  readonly #controller = new AbortController();
  readonly #settled: Promise<void>;
  #deadline: Timer | undefined;
  #ending: Promise<void> | undefined;
  #wanted = true;
  #nested: NestedSupervisor | undefined;

  /** Begins the attempt when `before` has resolved. `before` must not reject. */
  constructor(spec: ChildSpec, owner: AttemptOwner, before: Promise<void> | undefined) {
    this.#spec = spec;
    this.#owner = owner;
    this.#settled = this.#run(before);
  }

  /**
   * Cancels the attempt: aborts its signal, and ends the instance if the start succeeds nevertheless. Resolves when the
   * attempt has ended or is left behind.
   */
  abandon(): Promise<void> {
    this.#wanted = false;
    this.#ending ??= this.#end(new McpError("cancelled", `the start of "${this.#spec.id}" was cancelled`));
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
      // The attempt may have been abandoned during `start`.
      if (signal.aborted) await endWatched(this.#owner.platform, watchChild(this.#spec, value));
      else this.#owner.onStarted(value);
    } catch (error) {
      if (!signal.aborted) this.#owner.onFailed(abnormalExit(error));
    } finally {
      this.#deadline?.cancel();
    }
  }

  async #startNested(supervisor: NestedSupervisor): Promise<void> {
    if (this.#spec.startMs === undefined) this.#deadline?.cancel();
    this.#nested = supervisor;
    const { signal } = this.#controller;
    if (signal.aborted) return;
    this.#owner.adopt(supervisor);
    signal.addEventListener("abort", () => void supervisor.close(), { once: true });
    await supervisor.start();
  }

  #setDeadline(ms: number): void {
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#deadline = this.#owner.platform.timer(ms, () => this.#timeOut(ms), true);
  }

  #timeOut(ms: number): void {
    const error = new McpError("timeout", `"${this.#spec.id}" did not start within ${ms} ms`, {
      fix: "Raise `startMs` of the child, or check what its `start` waits for.",
      data: { deadline: "startMs" },
    });
    this.#ending = this.#end(error);
    // If the attempt is abandoned meanwhile, `abandon` waits for the same end and the failure is not reported.
    void this.#ending.then(() => {
      if (this.#wanted) this.#owner.onFailed(abnormalExit(error));
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
