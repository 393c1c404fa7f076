import { type Client, type ClientOptions, connect, McpError, type Observer, type Server } from "@parley/mcp";
import type { Io } from "../terminal/io.js";
import { redirectConsole } from "../terminal/redirect-console.js";
import { loadServerExport } from "./load-module.js";

/** Options for opening a module. */
interface OpenModuleOptions {
  readonly client: ClientOptions;
  readonly debug: boolean;
  /** Observes the calls to the server. */
  readonly tracer?: Observer | undefined;
  /** Called with the name of the export that has the server. */
  readonly onExport?: ((name: string) => void) | undefined;
  /** Time limit for loading; unlimited if undefined. */
  readonly timeoutMs: number | undefined;
}

/**
 * Loads a module and connects to its server in this process. Until the client closes, the module's `console` output
 * goes to stderr. Unless `debug` is set, errors of its handlers have only one stack frame.
 */
export async function openModule(path: string, io: Io, options: OpenModuleOptions): Promise<Client> {
  const restoreConsole = redirectConsole(io);
  const { stackTraceLimit } = Error;
  const restore = () => {
    restoreConsole();
    Error.stackTraceLimit = stackTraceLimit;
  };
  if (!options.debug) Error.stackTraceLimit = 1;
  try {
    const { name, server } = await withLoadTimeout(loadServerExport(path), path, io.signal, options.timeoutMs);
    options.onExport?.(name);
    // The module may use an older copy of the library, in which servers have no `observe`.
    if (options.tracer !== undefined) (server as Partial<Server>).observe?.(options.tracer);
    const client = await connect(server, options.client);
    client.on("state", ({ state }) => {
      if (state === "closed") restore();
    });
    return client;
  } catch (reason) {
    restore();
    throw reason;
  }
}

/** Limits the time for loading a module, because a top-level `await` in the module may never settle. */
export function withLoadTimeout<T>(
  loading: Promise<T>,
  path: string,
  signal: AbortSignal,
  timeoutMs: number | undefined,
): Promise<T> {
  let stop = () => {};
  const ended = new Promise<never>((_, reject) => {
    const late = new McpError("timeout", `loading ${path} took longer than ${timeoutMs} ms`, {
      fix: "Raise --timeout, or check what the module awaits at its top level.",
    });
    const interrupt = () => reject(signal.reason);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => reject(late), timeoutMs);
    signal.addEventListener("abort", interrupt, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", interrupt);
    };
  });
  return Promise.race([loading, ended]).finally(stop);
}
