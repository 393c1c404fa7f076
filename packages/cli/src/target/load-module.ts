import type { Server } from "@parley/mcp";
import { type Exports, ModuleGraph } from "../modules/module-graph.js";
import { UsageError } from "../terminal/usage-error.js";

/** The server that a module exports. It may come from another copy of the library. */
export type ServedModule = Pick<Server, "endpoint" | "types" | "close">;

/** A server, and the export of a module that has it. */
export interface ServerExport {
  readonly name: string;
  readonly server: ServedModule;
}

/** Loads a module like `loadServerExport`, and returns only its server. */
export async function loadServerModule(path: string, graph = new ModuleGraph(path)): Promise<ServedModule> {
  return (await loadServerExport(path, graph)).server;
}

/**
 * Loads a JavaScript or TypeScript module and returns its server: the export `default`, the export `server`, or the
 * only export that is a server. An exported function that returns a server, or a promise of one, is called. Without
 * `graph`, every call evaluates the module and its imports again. Throws a `UsageError` if the module exports no server
 * or several, and an `McpError` with file and line if the module fails to load.
 */
export async function loadServerExport(path: string, graph = new ModuleGraph(path)): Promise<ServerExport> {
  const exported = await graph.load();
  for (const name of ["default", "server"]) {
    const found = await serverOf(exported[name], graph);
    if (found !== undefined) return { name, server: found };
  }
  const servers = Object.entries(exported).filter(([, value]) => isServer(value));
  const [only, ...others] = servers;
  if (only !== undefined && others.length === 0) return { name: only[0], server: only[1] as ServedModule };
  if (only !== undefined) throw ambiguousServers(path, servers);
  return serverFromFactory(path, exported, graph);
}

/**
 * Calls the only exported function whose name contains "server". Throws a `UsageError` if there are several such
 * functions, or if the call returns no server.
 */
async function serverFromFactory(path: string, exported: Exports, graph: ModuleGraph): Promise<ServerExport> {
  const makers = Object.entries(exported).filter(([name, value]) => /server/i.test(name) && isFunction(value));
  if (makers.length > 1) throw ambiguousServers(path, makers);
  const [name = "", maker] = makers[0] ?? [];
  const server = await serverOf(maker, graph);
  if (server !== undefined) return { name, server };
  throw new UsageError(
    `${path} exports no server`,
    "Add `export const server = new Server(…)`, or export the server as default.",
  );
}

function ambiguousServers(path: string, named: readonly (readonly [string, unknown])[]): UsageError {
  const names = named.map(([name]) => name).slice(0, 10);
  return new UsageError(
    `${path} exports several servers: ${names.join(", ")}`,
    "Export one of them as default, or as `server`.",
  );
}

async function serverOf(value: unknown, graph: ModuleGraph): Promise<ServedModule | undefined> {
  const given: unknown = isFunction(value) ? await graph.locate(() => value()) : await value;
  return isServer(given) ? given : undefined;
}

/** True for a function that is not a class. A class cannot be called without `new`. */
function isFunction(value: unknown): value is () => unknown {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}

function isServer(value: unknown): value is ServedModule {
  if (typeof value !== "object" || value === null) return false;
  return "endpoint" in value && typeof value.endpoint === "function";
}
