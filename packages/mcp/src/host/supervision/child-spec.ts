import { thrownMessage } from "../../encoding/thrown-message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";

/** When a child that ended is started again: always; unless it ended normally; never. */
export type RestartPolicy = "permanent" | "transient" | "temporary";

/** How a child ended. */
export interface ChildExit {
  /** True if it ended as intended, as a process does with code 0. */
  readonly normal: boolean;
  /** Why it ended, for people. */
  readonly reason: string;
  /** The error that ended it, if there was one. */
  readonly error?: unknown;
}

/** How a supervisor starts a child, sees its end, and ends it. */
export interface ChildSpec<C = unknown> {
  /** Its name, unique among the children of its supervisor. */
  id: string;
  /**
   * Starts one instance, and resolves when it works. The signal is aborted when nobody wants the instance any more; one that
   * is given nevertheless is stopped at once. A `Supervisor` that was not started yet is started by its parent.
   */
  start(signal: AbortSignal): C | Promise<C>;
  /** Resolves when the instance has ended. A rejection is an abnormal end. Default: derived from the value. */
  ended?(child: C): Promise<ChildExit>;
  /**
   * Ends the instance; done when it resolves. Also called when it ended by itself, so that nothing of it is left. Default:
   * derived from the value: `terminate`, `kill`, asynchronous or other disposal, or `close`.
   */
  stop?(child: C): void | Promise<void>;
  /** When it is started again. Default: `permanent`. */
  restart?: RestartPolicy | undefined;
  /** How long one start may take. Default: 30 s; a nested supervisor has no limit, because its children have. */
  startMs?: number | undefined;
  /** How long ending it may take before it is left behind. Default: 5 s; a nested supervisor takes what its children may. */
  stopMs?: number | undefined;
  /**
   * Isolates the child: nobody waits for its start, its failures count for itself alone and restart nobody else, and when
   * they exceed the intensity it is held as `failed` this long and then tried again. Default: not isolated; exceeding the
   * intensity ends the supervisor.
   */
  retryMs?: number | undefined;
}

export const DEFAULT_START_MS = 30_000;
export const DEFAULT_STOP_MS = 5_000;
const POLICIES: readonly unknown[] = ["permanent", "transient", "temporary"] satisfies RestartPolicy[];

/** Throws `invalid_definition` for a description that could not work. */
export function checkChildSpec(spec: ChildSpec): void {
  checkOptions("a supervised child", spec, "id start ended stop restart startMs stopMs retryMs");
  if (typeof spec.id !== "string" || spec.id === "") throw wrong("`id` of a child", spec.id, "Pass a name.");
  const of = `of the child "${spec.id}"`;
  if (typeof spec.start !== "function") throw wrong(`\`start\` ${of}`, spec.start, "Pass a function.");
  if (spec.restart !== undefined && !POLICIES.includes(spec.restart)) {
    throw wrong(`\`restart\` ${of}`, spec.restart, `Pass one of: ${POLICIES.join(", ")}.`);
  }
  checkMs(`\`startMs\` ${of}`, spec.startMs);
  checkMs(`\`stopMs\` ${of}`, spec.stopMs);
  checkMs(`\`retryMs\` ${of}`, spec.retryMs);
}

/** Throws `invalid_definition` unless the number can be waited for. */
export function checkMs(what: string, ms: number | undefined): void {
  // Written so that what is not a number fails too.
  if (ms !== undefined && !(ms >= 0)) throw wrong(what, ms, "Pass a number of milliseconds, 0 or more.");
}

/** The error for an option that cannot be used. */
export function wrong(what: string, value: unknown, fix: string): McpError {
  return new McpError("invalid_definition", `${what} is ${String(value)}`, { fix });
}

/** The abnormal end that an error means. */
export function failure(error: unknown): ChildExit {
  return { normal: false, reason: thrownMessage(error), error };
}
