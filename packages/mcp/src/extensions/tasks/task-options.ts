import { type Some, withDefaults } from "../../encoding/with-defaults.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { TaskPolicy, TaskSupport } from "../../server/contract/tool.js";

/** Limits for the tasks of one server. */
export interface TaskLimits {
  /** Maximum number of tasks that run at the same time in this process. Further tasks are refused. Default: 10,000. */
  running: number;
  /**
   * Maximum number of running tasks of one authenticated principal, in all processes together. Further tasks are
   * refused. Default: 100.
   */
  runningPerPrincipal: number;
  /**
   * Maximum number of stored tasks of one authenticated principal, including finished ones. At the limit, a new task
   * evicts the oldest finished one, even before its `ttlMs` has passed. Default: 1000.
   */
  keptPerPrincipal: number;
  /**
   * Maximum number of stored tasks that this process created, for all callers together. Evicts like `keptPerPrincipal`.
   * Default: 100,000.
   */
  kept: number;
  /**
   * Maximum length of one task as JSON, including its call, steps and result. A task that exceeds it is refused or
   * fails. Default: 4 Mi characters.
   */
  taskLength: number;
}

/**
 * Options of the tasks extension. All are optional. `answerByTask` is for clients, and all other options are for
 * servers. `ttlMs`, `maxTtlMs` and `pollIntervalMs` also apply to the tasks with which a client answers questions.
 */
export interface TaskOptions {
  /**
   * Time for which a task and its result are stored, in milliseconds from its creation. Default: 86,400,000 (one day).
   */
  ttlMs?: number | undefined;
  /**
   * Longest time to live that a client may request, in milliseconds. Default: 604,800,000 (one week), or `ttlMs` if
   * that is longer.
   */
  maxTtlMs?: number | undefined;
  /** Interval at which clients should poll a task, in milliseconds. Default: 1000. */
  pollIntervalMs?: number | undefined;
  /**
   * Time without a heartbeat after which other processes take over the tasks of a process, in milliseconds. Only
   * applies with a `storage` that the processes of the server share. Default: 15,000.
   *
   * A process that was only slow cannot write to a task that another process took over, and the signal of its handler
   * is aborted. A server that closes waits up to ten seconds for running steps, then leaves its tasks to other
   * processes. While the storage fails, steps and questions wait for it for up to a minute. The outcome of a task waits
   * until the task expires.
   */
  leaseMs?: number | undefined;
  /**
   * Time that a question of a task may stay open, in milliseconds. Default: as long as the task is stored, because the
   * user may be away for days.
   */
  answerMs?: number | undefined;
  /** Replaces the defaults of individual limits. */
  limits?: Some<TaskLimits> | undefined;
  /**
   * True if the server asks its questions (elicitation, sampling, roots) as tasks of the client, where the client
   * supports that. Such a question survives a lost connection. Only in revision 2025-11-25, where tasks are
   * experimental. Default: false, because few clients support it.
   */
  askByTask?: boolean | undefined;
  /** For clients: true if the client answers questions as tasks where the server requests that. Default: true. */
  answerByTask?: boolean | undefined;
}

/** The options with their defaults filled in. */
export interface TaskSettings {
  readonly ttlMs: number;
  readonly maxTtlMs: number;
  readonly pollIntervalMs: number;
  readonly leaseMs: number;
  readonly answerMs: number | undefined;
  readonly limits: TaskLimits;
  readonly askByTask: boolean;
  readonly answerByTask: boolean;
}

const DAY_MS = 86_400_000;

const DEFAULT_LIMITS: TaskLimits = {
  running: 10_000,
  runningPerPrincipal: 100,
  keptPerPrincipal: 1000,
  kept: 100_000,
  taskLength: 4 * 1024 * 1024,
};

/** Fills in the defaults. Throws `invalid_definition` for unknown options and invalid values. */
export function taskSettings(options: TaskOptions): TaskSettings {
  checkOptions(
    "the tasks extension",
    options,
    "ttlMs maxTtlMs pollIntervalMs leaseMs answerMs limits askByTask answerByTask",
  );
  checkOptions(
    "`limits` of the tasks extension",
    options.limits,
    "running runningPerPrincipal keptPerPrincipal kept taskLength",
  );
  const {
    ttlMs = DAY_MS,
    maxTtlMs = Math.max(7 * DAY_MS, ttlMs),
    pollIntervalMs = 1000,
    leaseMs = 15_000,
    answerMs,
  } = options;
  const limits = withDefaults(DEFAULT_LIMITS, options.limits);
  for (const [name, value] of Object.entries({
    ttlMs,
    maxTtlMs,
    pollIntervalMs,
    leaseMs,
    answerMs: answerMs ?? 1,
    ...limits,
  })) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new McpError("invalid_definition", `\`${name}\` of the tasks extension is ${value}`, {
      fix: "Pass a whole number above 0.",
    });
  }
  const { askByTask = false, answerByTask = true } = options;
  for (const [name, value] of Object.entries({ askByTask, answerByTask })) {
    if (typeof value === "boolean") continue;
    throw new McpError("invalid_definition", `\`${name}\` of the tasks extension is ${JSON.stringify(value)}`, {
      fix: "Pass true or false.",
    });
  }
  return { ttlMs, maxTtlMs, pollIntervalMs, leaseMs, answerMs, limits, askByTask, answerByTask };
}

/** The rules by which calls to one tool become tasks, with all defaults filled in. */
export interface TaskRules {
  readonly support: "optional" | "required";
  readonly begin: "call" | "handler";
  readonly ttlMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
  readonly retry: number;
}

const SUPPORT: readonly unknown[] = ["optional", "required", "never"];

/**
 * Reads the `task` option of a tool. Returns undefined if calls to the tool never become tasks. Throws
 * `invalid_definition` for invalid values.
 */
export function taskRules(tool: string, given: TaskSupport | TaskPolicy | undefined): TaskRules | undefined {
  if (given === undefined) return undefined;
  const policy = typeof given === "object" && given !== null ? given : { support: given };
  checkOptions(`\`task\` of tool "${tool}"`, policy as TaskPolicy, "support begin ttlMs pollIntervalMs retry");
  const { support, begin = "call", ttlMs, pollIntervalMs, retry = 0 }: TaskPolicy = policy;
  if (!SUPPORT.includes(support))
    throw invalidOption(tool, "support", support, 'Write "optional", "required" or "never".');
  if (begin !== "call" && begin !== "handler") throw invalidOption(tool, "begin", begin, 'Write "call" or "handler".');
  for (const [name, value] of Object.entries({ ttlMs, pollIntervalMs })) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw invalidOption(tool, name, value, "Pass a whole number of milliseconds above 0.");
  }
  if (!Number.isSafeInteger(retry) || retry < 0)
    throw invalidOption(tool, "retry", retry, "Pass a whole number, 0 or more.");
  return support === "never" ? undefined : { support, begin, ttlMs, pollIntervalMs, retry };
}

function invalidOption(tool: string, option: string, value: unknown, fix: string): McpError {
  return new McpError("invalid_definition", `\`task.${option}\` of tool "${tool}" is ${JSON.stringify(value)}`, {
    fix,
  });
}
