import { isThenable } from "../../encoding/maybe-promise.js";
import { callHook } from "../../platform/call-hook.js";
import { atMost } from "../../platform/pause.js";
import type { Platform } from "../../platform/platform.js";
import { type ChildExit, type ChildSpec, DEFAULT_STOP_MS, failure } from "./child-spec.js";
import { isNestedSupervisor } from "./nested-supervisor.js";

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
export function stopMsOf(spec: ChildSpec, child: unknown): number {
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
  await withinMs(platform, watched.stopMs, work);
  if (gone) return undefined;
  if (watched.force === undefined) return { unended: work };
  try {
    watched.force();
  } catch {
    // It is reported as left behind.
  }
  await withinMs(platform, FORCED_MS, work);
  return gone ? undefined : { unended: work };
}

/** As `atMost`, and without a timer if there is no limit. */
export function withinMs(platform: Platform, ms: number, work: Promise<void>): Promise<void> {
  return ms === Number.POSITIVE_INFINITY ? work : atMost(platform, ms, work, true);
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
