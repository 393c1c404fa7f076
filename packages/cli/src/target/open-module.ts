import { Console } from "node:console";
import { type Client, type ClientOptions, connect, McpError, type Observer, type Server } from "@parley/mcp";
import type { Io } from "../terminal/io.js";
import { loadServerModule, type ServedModule } from "./load-module.js";

/** How a module is opened. */
interface OpenModuleOptions {
  readonly client: ClientOptions;
  readonly debug: boolean;
  /** Follows the calls of the server. */
  readonly tracer?: Observer | undefined;
  /** How long loading may take; without end unless given. */
  readonly timeoutMs: number | undefined;
}

/**
 * Loads a module of the user and connects to its server within this process. Until the client is closed, what the module prints
 * by `console` goes to stderr, and errors of its tools are reported by their place alone unless `debug` is set.
 */
export async function openModule(path: string, io: Io, options: OpenModuleOptions): Promise<Client> {
  const restoreConsole = redirectConsole(io);
  const { stackTraceLimit } = Error;
  const restore = () => {
    restoreConsole();
    Error.stackTraceLimit = stackTraceLimit;
  };
  try {
    const server = await loadWithTimeout(path, io.signal, options.timeoutMs);
    // The module may have a copy of the library that is older than this program's.
    if (options.tracer !== undefined) (server as Partial<Server>).observe?.(options.tracer);
    // Set after loading, which finds the place of a failure by its whole stack.
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

/** Sends what is printed to stderr: stdout has the answer. Returns what undoes it. */
function redirectConsole({ stderr }: Io): () => void {
  const own = globalThis.console;
  const before = Object.fromEntries(STDOUT_METHODS.map((name) => [name, own[name]]));
  const other = new Console(stderr);
  Object.assign(own, Object.fromEntries(STDOUT_METHODS.map((name) => [name, other[name].bind(other)])));
  return () => void Object.assign(own, before);
}

/** A module can wait at its top level for something that never comes. */
function loadWithTimeout(path: string, signal: AbortSignal, timeoutMs: number | undefined): Promise<ServedModule> {
  let stop = () => {};
  const ended = new Promise<never>((_, reject) => {
    const late = new McpError("timeout", `${path} was not loaded within ${timeoutMs} ms`, {
      fix: "Raise --timeout, or look at what the module waits for at its top level.",
    });
    const interrupt = () => reject(signal.reason);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => reject(late), timeoutMs);
    signal.addEventListener("abort", interrupt, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", interrupt);
    };
  });
  return Promise.race([loadServerModule(path), ended]).finally(stop);
}
