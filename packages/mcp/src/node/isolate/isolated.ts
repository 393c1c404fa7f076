import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { HandlerContext } from "../../server/contract/context.js";
import { builtin } from "../builtin.js";
import type { PoolSettings, WorkerPool } from "./worker-pool.js";

/** Settings of the workers that run isolated tools. */
export interface IsolatedPoolOptions {
  /**
   * Runs tools in a thread of this process or in a child process. A thread starts in milliseconds. A child process also
   * protects this process from failures that end a whole process, such as a fault in native code or too much memory
   * outside the heap. Default: `"worker"`.
   */
  kind?: "worker" | "process" | undefined;
  /**
   * Maximum heap of one worker, in megabytes. A worker that exceeds it is terminated. A thread that allocates very fast
   * can still end the whole process; use `kind: "process"` to rule that out. Default: 256.
   */
  memoryMb?: number | undefined;
  /**
   * Maximum number of workers, each of which runs one call at a time. Workers start on demand. Default: the number of
   * cores minus one.
   */
  size?: number | undefined;
  /**
   * Maximum number of calls that wait for a worker. Further calls are rejected with `limit_exceeded`. Default: 100.
   */
  queue?: number | undefined;
  /** Time in milliseconds that a cancelled tool has to return. After that, its worker is terminated. Default: 1000. */
  graceMs?: number | undefined;
  /** Time after which an idle worker ends, in milliseconds. Default: 60 000. */
  idleMs?: number | undefined;
  /** Node options of the workers, for example `["--import", "tsx"]`. Default: the options of this process. */
  execArgv?: readonly string[] | undefined;
  /** The complete environment of the workers. Default: the environment of this process. */
  env?: Readonly<Record<string, string>> | undefined;
}

/** Options of one tool in a pool. */
export interface PooledToolOptions<E extends string = string> {
  /** Name of the exported function that implements the tool. Default: the default export. */
  export?: E | undefined;
  /**
   * Maximum run time of a call in milliseconds, excluding the time spent waiting for answers from the client. Default:
   * 60,000.
   */
  timeoutMs?: number | undefined;
}

/** Options of an isolated tool that has its own workers. */
export interface IsolatedOptions<E extends string = string> extends IsolatedPoolOptions, PooledToolOptions<E> {}

/** Handler of an isolated tool. Has the type of the module's function if `M` is given. */
export type IsolatedTool<M, E extends string = "default"> = (M extends Readonly<Record<E, infer F>>
  ? F
  : (args: unknown, ctx: HandlerContext<unknown>) => Promise<never>) &
  AsyncDisposable;

/** Workers that several isolated tools share. */
export interface IsolatedPool extends AsyncDisposable {
  /** Returns a tool handler that runs in these workers. Throws if the module does not exist. */
  tool<M = unknown, const E extends string = "default">(
    module: URL | string,
    options?: PooledToolOptions<E>,
  ): IsolatedTool<M, E>;
  /**
   * Ends idle workers now and busy workers after their current call. Resolves when the idle workers have ended. A later
   * call starts new workers. `server.close` calls this too.
   */
  close(): Promise<void>;
}

/** Upper bound of `size`, to catch mistakes such as passing megabytes. */
const MAX_WORKERS = 1024;

/**
 * Creates a tool handler that runs a module's function outside the serving thread. An endless loop, a crash,
 * `process.exit` or exhausted memory ends the call as a tool error and affects nothing else. The function receives the
 * arguments and a context, like every handler. Throws if the module does not exist.
 *
 * Pass the module's type to have the handler typed:
 * `isolated<typeof import("./crunch.js")>(new URL("./crunch.js", import.meta.url))`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/isolated-tools.md | Isolated tools}
 */
export function isolated<M = unknown, const E extends string = "default">(
  module: URL | string,
  options: IsolatedOptions<E> = {},
): IsolatedTool<M, E> {
  checkOptions("isolated", options, "export timeoutMs kind memoryMb size queue graceMs idleMs execArgv env");
  const { export: name, timeoutMs, ...pool } = options;
  return isolatedPool(pool).tool<M, E>(module, { export: name, timeoutMs });
}

/**
 * Creates a pool of workers for several isolated tools. A worker loads the module of a tool on the first call of that
 * tool.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/isolated-tools.md | Isolated tools}
 */
export function isolatedPool(options: IsolatedPoolOptions = {}): IsolatedPool {
  checkOptions("isolatedPool", options, "kind memoryMb size queue graceMs idleMs execArgv env");
  const settings = settingsOf(options);
  let loading: Promise<WorkerPool> | undefined;
  // Loaded by the first call, so that programs which never call an isolated tool start faster.
  const pool = (module: string) => {
    loading ??= import("./worker-pool.js").then((code) => new code.WorkerPool(code.workerProgram(module), settings));
    return loading;
  };
  // If loading failed, the calls have been rejected already and there is nothing to close.
  const close = async () => (await loading?.catch(() => undefined))?.close();
  const isolatedTools: IsolatedPool = {
    tool(module: URL | string, options: PooledToolOptions = {}) {
      checkOptions("an isolated tool", options, "export timeoutMs");
      const { export: name = "default", timeoutMs = 60_000 } = options;
      const url = moduleUrl(module);
      checkRange("timeoutMs", timeoutMs, 1);
      const handler = async function (this: unknown, args: unknown, ctx: HandlerContext<unknown>) {
        // The server calls the handler as a member of the tool, so `this` has the tool's name.
        const { name: tool = "isolated tool" } = (this ?? {}) as { name?: string };
        return (await pool(url)).run({ tool, module: url, name, timeoutMs, args, ctx });
      };
      // Safe: the handler returns only what the module returns, and `M` is the type of the module.
      return Object.assign(handler, { [Symbol.asyncDispose]: close }) as never;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return isolatedTools;
}

function settingsOf(options: IsolatedPoolOptions): PoolSettings {
  const { kind = "worker", memoryMb = 256, queue = 100, graceMs = 1000, idleMs = 60_000, execArgv, env } = options;
  const { size = Math.max(1, builtin("node:os").availableParallelism() - 1) } = options;
  if (kind !== "worker" && kind !== "process") {
    throw new McpError("invalid_definition", `\`kind\` of an isolated tool is ${JSON.stringify(kind)}`, {
      fix: 'Use `"worker"` or `"process"`.',
    });
  }
  checkRange("memoryMb", memoryMb, 1);
  checkRange("size", size, 1, MAX_WORKERS);
  checkRange("queue", queue, 0);
  checkRange("graceMs", graceMs, 0);
  checkRange("idleMs", idleMs, 0);
  return { kind, memoryMb, size, queue, graceMs, idleMs, execArgv, env };
}

function checkRange(option: string, value: number, min: number, max = Number.POSITIVE_INFINITY): void {
  if (typeof value === "number" && value >= min && value <= max) return;
  const range = max === Number.POSITIVE_INFINITY ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new McpError("invalid_definition", `\`${option}\` of an isolated tool is ${value}`, {
    fix: `Pass a number ${range}, or leave it out.`,
  });
}

function moduleUrl(module: URL | string): string {
  const text = String(module);
  const fix = 'Pass `new URL("./tool.js", import.meta.url)`, with a path relative to the file that contains this call.';
  if (!URL.canParse(text) || new URL(text).protocol !== "file:") {
    throw new McpError("invalid_definition", `the module of an isolated tool is not a file URL: "${text}"`, { fix });
  }
  if (builtin("node:fs").existsSync(new URL(text))) return text;
  throw new McpError("invalid_definition", `the module of an isolated tool does not exist: ${text}`, { fix });
}
