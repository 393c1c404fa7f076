import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { TaskPolicy, TaskSupport } from "../../server/tools/tool.js";

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
