import { Console } from "node:console";
import { type Client, type ClientOptions, connect, McpError, type Observer, type Server } from "@parley/mcp";
import type { Io } from "../terminal/io.js";
import { loadServerExport, type ServerExport } from "./load-module.js";

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
 * goes to stderr. Unless `debug` is set, errors that are created after loading have only one stack frame.
 */
export async function openModule(path: string, io: Io, options: OpenModuleOptions): Promise<Client> {
  const restoreConsole = redirectConsole(io);
  const { stackTraceLimit } = Error;
  const restore = () => {
    restoreConsole();
    Error.stackTraceLimit = stackTraceLimit;
  };
  try {
    const { name, server } = await loadWithTimeout(path, io.signal, options.timeoutMs);
    options.onExport?.(name);
    // The module may use an older copy of the library, in which servers have no `observe`.
    if (options.tracer !== undefined) (server as Partial<Server>).observe?.(options.tracer);
    // Set after loading, because finding the position of a load error needs the whole stack.
    if (!options.debug) Error.stackTraceLimit = 1;
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

/** Methods of `console` that write to stdout. */
const STDOUT_METHODS = ["log", "info", "debug", "dir", "dirxml", "table", "group", "groupCollapsed", "count"] as const;

/** Redirects `console` to stderr, because stdout is for the result. Returns a function that restores it. */
function redirectConsole({ stderr }: Io): () => void {
  const own = globalThis.console;
  const before = Object.fromEntries(STDOUT_METHODS.map((name) => [name, own[name]]));
  const other = new Console(stderr);
  Object.assign(own, Object.fromEntries(STDOUT_METHODS.map((name) => [name, other[name].bind(other)])));
  return () => void Object.assign(own, before);
}

/** Loads the module within the time limit, because a top-level `await` in the module may never settle. */
function loadWithTimeout(path: string, signal: AbortSignal, timeoutMs: number | undefined): Promise<ServerExport> {
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
  return Promise.race([loadServerExport(path), ended]).finally(stop);
}
