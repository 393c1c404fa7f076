import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { HandlerContext } from "../../server/contract/context.js";
import { builtin } from "../builtin.js";
import type { PoolSettings, WorkerPool } from "./worker-pool.js";

/** The workers that isolated tools run in. */
export interface IsolatedPoolOptions {
  /**
   * A thread of this process, which starts in milliseconds, or a process of its own, which also survives what ends a whole
   * process: a fault in native code, or memory outside of the heap. Default: `"worker"`.
   */
  kind?: "worker" | "process" | undefined;
  /**
   * Largest heap of one worker, in megabytes; a tool that needs more is ended. A thread that fills it very fast can still end the
   * whole process; another process cannot. Default: 256.
   */
  memoryMb?: number | undefined;
  /** Workers at once, each with one call. They start when they are needed. Default: one less than the machine has cores. */
  size?: number | undefined;
  /** Calls that wait for a worker; more are refused with `limit_exceeded`. Default: 100. */
  queue?: number | undefined;
  /** Milliseconds that a cancelled tool has to end by itself before its worker is ended. Default: 1000. */
  graceMs?: number | undefined;
  /** Milliseconds after which a worker without a call ends. Default: 60 000. */
  idleMs?: number | undefined;
  /** Options of Node for the workers, for example `["--import", "tsx"]`. Default: those of this process. */
  execArgv?: readonly string[] | undefined;
  /** The whole environment of the workers. Default: that of this process. */
  env?: Readonly<Record<string, string>> | undefined;
}

/** One tool of a pool. */
export interface PooledToolOptions<E extends string = string> {
  /** The name of the function in the module. Default: its default export. */
  export?: E | undefined;
  /** Milliseconds that a call may run, not counting the time it waits for answers of the client. Default: 60 000. */
  timeoutMs?: number | undefined;
}

/** An isolated tool with workers of its own. */
export interface IsolatedOptions<E extends string = string> extends IsolatedPoolOptions, PooledToolOptions<E> {}

/** The handler of an isolated tool, of the type of the module's function where that is given. */
export type IsolatedTool<M, E extends string = "default"> = (M extends Readonly<Record<E, infer F>>
  ? F
  : (args: unknown, ctx: HandlerContext<unknown>) => Promise<never>) &
  AsyncDisposable;

/** Workers that several tools share. */
export interface IsolatedPool extends AsyncDisposable {
  /** The handler of a tool that runs in these workers. Throws if there is no such module. */
  tool<M = unknown, const E extends string = "default">(
    module: URL | string,
    options?: PooledToolOptions<E>,
  ): IsolatedTool<M, E>;
  /**
   * Ends workers without a call now, and the others after their call; a later call starts new ones. Resolves when those
   * without a call are gone. `server.close` does the same.
   */
  close(): Promise<void>;
}

/** More is no number of threads or processes that a program wants. */
const MAX_WORKERS = 1024;

/**
 * A tool handler that runs the function of a module outside the thread that serves: an endless loop, a crash, `process.exit` or
 * a lack of memory ends the call as a tool error, and nothing else. The function gets the arguments and a context, as every
 * handler does. Give the module's type to have it checked: `isolated<typeof import("./crunch.js")>(new URL("./crunch.js",
 * import.meta.url))`. Throws if there is no such module.
 */
export function isolated<M = unknown, const E extends string = "default">(
  module: URL | string,
  options: IsolatedOptions<E> = {},
): IsolatedTool<M, E> {
  checkOptions("isolated", options, "export timeoutMs kind memoryMb size queue graceMs idleMs execArgv env");
  const { export: name, timeoutMs, ...pool } = options;
  return isolatedPool(pool).tool<M, E>(module, { export: name, timeoutMs });
}

/** Workers for several isolated tools, which load the module of each when it is first called there. */
export function isolatedPool(options: IsolatedPoolOptions = {}): IsolatedPool {
  checkOptions("isolatedPool", options, "kind memoryMb size queue graceMs idleMs execArgv env");
  const settings = settingsOf(options);
  let loading: Promise<WorkerPool> | undefined;
  // The code is loaded by the first call, so that a program which never calls one starts without it.
  const pool = (module: string) => {
    loading ??= import("./worker-pool.js").then((code) => new code.WorkerPool(code.workerProgram(module), settings));
    return loading;
  };
  // What could not be loaded has failed its calls, and has nothing to close.
  const close = async () => (await loading?.catch(() => undefined))?.close();
  const made: IsolatedPool = {
    tool(module: URL | string, options: PooledToolOptions = {}) {
      checkOptions("an isolated tool", options, "export timeoutMs");
      const { export: name = "default", timeoutMs = 60_000 } = options;
      const url = moduleUrl(module);
      atLeast("timeoutMs", timeoutMs, 1);
      const handler = async function (this: unknown, args: unknown, ctx: HandlerContext<unknown>) {
        // A tool's handler is called as a member of the tool.
        const { name: tool = "isolated tool" } = (this ?? {}) as { name?: string };
        return (await pool(url)).run({ tool, module: url, name, timeoutMs, args, ctx });
      };
      // Safe: only what the module returns leaves the handler, and `M` is the type of the module.
      return Object.assign(handler, { [Symbol.asyncDispose]: close }) as never;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return made;
}

function settingsOf(options: IsolatedPoolOptions): PoolSettings {
  const { kind = "worker", memoryMb = 256, queue = 100, graceMs = 1000, idleMs = 60_000, execArgv, env } = options;
  const { size = Math.max(1, builtin("node:os").availableParallelism() - 1) } = options;
  if (kind !== "worker" && kind !== "process") {
    throw new McpError("invalid_definition", `\`kind\` of an isolated tool is ${JSON.stringify(kind)}`, {
      fix: 'Write `"worker"` or `"process"`.',
    });
  }
  atLeast("memoryMb", memoryMb, 1);
  atLeast("size", size, 1, MAX_WORKERS);
  atLeast("queue", queue, 0);
  atLeast("graceMs", graceMs, 0);
  atLeast("idleMs", idleMs, 0);
  return { kind, memoryMb, size, queue, graceMs, idleMs, execArgv, env };
}

function atLeast(option: string, value: number, least: number, most = Number.POSITIVE_INFINITY): void {
  if (typeof value === "number" && value >= least && value <= most) return;
  const range = most === Number.POSITIVE_INFINITY ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new McpError("invalid_definition", `\`${option}\` of an isolated tool is ${value}`, {
    fix: `Pass a number ${range}, or leave it out.`,
  });
}

function moduleUrl(module: URL | string): string {
  const text = String(module);
  const fix = 'Write `new URL("./tool.js", import.meta.url)`, with the path from the file that you write it in.';
  if (!URL.canParse(text) || new URL(text).protocol !== "file:") {
    throw new McpError("invalid_definition", `the module of an isolated tool is no file URL: "${text}"`, { fix });
  }
  if (builtin("node:fs").existsSync(new URL(text))) return text;
  throw new McpError("invalid_definition", `there is no module at ${text} for an isolated tool`, { fix });
}
