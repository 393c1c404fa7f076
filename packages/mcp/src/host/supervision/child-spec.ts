import { thrownMessage } from "../../encoding/thrown-message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";

/**
 * Decides whether a child that ended is restarted: always (`permanent`), only after an abnormal end (`transient`), or
 * never (`temporary`).
 */
export type RestartPolicy = "permanent" | "transient" | "temporary";

/** The end of an instance of a child. */
export interface ChildExit {
  /** True if the instance ended as intended, for example a process with exit code 0. */
  readonly normal: boolean;
  /** The reason for the end, for people to read. */
  readonly reason: string;
  /** The error that ended the instance; absent if there was none. */
  readonly error?: unknown;
}

/** A child of a supervisor: how to start it, to observe its end, and to stop it. */
export interface ChildSpec<C = unknown> {
  /** The name of the child, unique within its supervisor. */
  id: string;
  /**
   * Starts one instance, and resolves when it is ready. The signal is aborted when the instance is no longer needed; an
   * instance that is returned after that is stopped at once. A returned `Supervisor` that was not started yet is
   * started by its parent.
   */
  start(signal: AbortSignal): C | Promise<C>;
  /** Resolves when the instance has ended. A rejection is an abnormal end. Default: derived from the instance. */
  ended?(child: C): Promise<ChildExit>;
  /**
   * Ends the instance, and resolves when it has ended. Also called after it ended by itself, to release its resources.
   * Default: derived from the instance: `terminate`, `kill`, `Symbol.asyncDispose`, `close` or `Symbol.dispose`.
   */
  stop?(child: C): void | Promise<void>;
  /** The restart policy. Default: `permanent`. */
  restart?: RestartPolicy | undefined;
  /**
   * Milliseconds that one start may take. Default: 30,000; unlimited for a nested supervisor, because its children have
   * limits.
   */
  startMs?: number | undefined;
  /**
   * Milliseconds that ending the instance may take. After that, the supervisor no longer waits for the end. Default:
   * 5,000; for a nested supervisor the sum over its children.
   */
  stopMs?: number | undefined;
  /**
   * Isolates the child: the start of the supervisor does not wait for it, and its failures restart no other child and
   * count only for the child itself. If its failures exceed the intensity, the child is `failed` for this many
   * milliseconds and is then started again. Default: not isolated, so that exceeding the intensity ends the supervisor.
   */
  retryMs?: number | undefined;
}

export const DEFAULT_START_MS = 30_000;
export const DEFAULT_STOP_MS = 5_000;
const POLICIES: readonly unknown[] = ["permanent", "transient", "temporary"] satisfies RestartPolicy[];

/** Throws `invalid_definition` for an invalid child. */
export function checkChildSpec(spec: ChildSpec): void {
  checkOptions("a supervised child", spec, "id start ended stop restart startMs stopMs retryMs");
  if (typeof spec.id !== "string" || spec.id === "") throw invalidOption("`id` of a child", spec.id, "Pass a name.");
  const of = `of the child "${spec.id}"`;
  if (typeof spec.start !== "function") throw invalidOption(`\`start\` ${of}`, spec.start, "Pass a function.");
  if (spec.restart !== undefined && !POLICIES.includes(spec.restart)) {
    throw invalidOption(`\`restart\` ${of}`, spec.restart, `Pass one of: ${POLICIES.join(", ")}.`);
  }
  checkMs(`\`startMs\` ${of}`, spec.startMs);
  checkMs(`\`stopMs\` ${of}`, spec.stopMs);
  checkMs(`\`retryMs\` ${of}`, spec.retryMs);
}

/** Throws `invalid_definition` unless the number is a valid duration. */
export function checkMs(what: string, ms: number | undefined): void {
  // A negated comparison, so that NaN fails too.
  if (ms !== undefined && !(ms >= 0)) throw invalidOption(what, ms, "Pass a number of milliseconds, 0 or more.");
}

/** The error for an invalid option. */
export function invalidOption(what: string, value: unknown, fix: string): McpError {
  return new McpError("invalid_definition", `${what} is ${String(value)}`, { fix });
}

/** The abnormal end that an error causes. */
export function abnormalExit(error: unknown): ChildExit {
  return { normal: false, reason: thrownMessage(error), error };
}
