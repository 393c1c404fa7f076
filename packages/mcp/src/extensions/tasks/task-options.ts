import { type Some, withDefaults } from "../../encoding/with-defaults.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { TaskPolicy, TaskSupport } from "../../server/contract/tool.js";

/** Bounds of the tasks of one server. */
export interface TaskLimits {
  /** Tasks that run at once in this process. Default: 10,000. */
  running: number;
  /** Of these, tasks of one authenticated principal, on all processes together. Default: 100. */
  runningPerPrincipal: number;
  /**
   * Tasks of one authenticated principal that are kept, finished ones included: the oldest finished one makes room for a new
   * one, although its `ttlMs` is not over. Default: 1000.
   */
  keptPerPrincipal: number;
  /** The same for the tasks that this process has created, of all callers. Default: 100,000. */
  kept: number;
  /** Length of one task as JSON, with its call, its steps and its result. Default: 4 Mi characters. */
  taskLength: number;
}

/** Options of the tasks extension. All are optional, and those of clients and servers are told apart by their texts. */
export interface TaskOptions {
  /** Milliseconds from its creation that a task and its result are kept. Default: 86,400,000 (one day). */
  ttlMs?: number | undefined;
  /** The longest time that a client may ask for. Default: 604,800,000 (one week). */
  maxTtlMs?: number | undefined;
  /** Milliseconds that clients should wait between two looks at a task. Default: 1000. */
  pollIntervalMs?: number | undefined;
  /**
   * Milliseconds after which another process takes over the tasks of one that gave no sign of life. Only with a `storage` that
   * the processes of the server share. A process that was only slow can store nothing of a task that another one has, and the
   * signal of its handler is aborted. A server that closes waits up to ten seconds for steps that have begun, and leaves its tasks
   * to other processes at once. While the storage fails, steps and questions wait for it up to a minute, and the outcome of a task
   * until the task expires. Default: 15,000.
   */
  leaseMs?: number | undefined;
  /** Milliseconds that a question of a task may stay open. Default: as long as the task is kept, because nobody may look for days. */
  answerMs?: number | undefined;
  /** Replaces the defaults of single limits. */
  limits?: Some<TaskLimits> | undefined;
  /**
   * Whether the server asks its questions as tasks of the client, where the client can. Such a question outlives a lost connection.
   * Default: false, because few clients can. Only in the revision where tasks are experimental.
   */
  askByTask?: boolean | undefined;
  /** Of a client: whether it answers questions as tasks where the server wants that. Default: true. */
  answerByTask?: boolean | undefined;
}

/** The options with their defaults. */
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

/** Fills in the defaults. Throws for options that do not exist or cannot be meant. */
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

/** How calls of one tool become tasks, with every default filled in. */
export interface TaskRules {
  readonly support: "optional" | "required";
  readonly begin: "call" | "handler";
  readonly ttlMs: number | undefined;
  readonly pollIntervalMs: number | undefined;
  readonly retry: number;
}

const SUPPORT: readonly unknown[] = ["optional", "required", "never"];

/** Reads `task` of a tool; undefined if its calls never become tasks. Throws for what cannot be meant. */
export function taskRules(tool: string, given: TaskSupport | TaskPolicy | undefined): TaskRules | undefined {
  if (given === undefined) return undefined;
  const policy = typeof given === "object" && given !== null ? given : { support: given };
  checkOptions(`\`task\` of tool "${tool}"`, policy as TaskPolicy, "support begin ttlMs pollIntervalMs retry");
  const { support, begin = "call", ttlMs, pollIntervalMs, retry = 0 }: TaskPolicy = policy;
  if (!SUPPORT.includes(support)) throw wrong(tool, "support", support, 'Write "optional", "required" or "never".');
  if (begin !== "call" && begin !== "handler") throw wrong(tool, "begin", begin, 'Write "call" or "handler".');
  for (const [name, value] of Object.entries({ ttlMs, pollIntervalMs })) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw wrong(tool, name, value, "Pass a whole number of milliseconds above 0.");
  }
  if (!Number.isSafeInteger(retry) || retry < 0) throw wrong(tool, "retry", retry, "Pass a whole number, 0 or more.");
  return support === "never" ? undefined : { support, begin, ttlMs, pollIntervalMs, retry };
}

function wrong(tool: string, option: string, value: unknown, fix: string): McpError {
  return new McpError("invalid_definition", `\`task.${option}\` of tool "${tool}" is ${JSON.stringify(value)}`, {
    fix,
  });
}
