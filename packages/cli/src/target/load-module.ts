import type { Server } from "@parley/mcp";
import { type Exports, ModuleGraph } from "../modules/module-graph.js";
import { UsageError } from "../terminal/usage-error.js";

/** What a module of the user exports: a server, by whichever copy of the library it was made. */
export type ServedModule = Pick<Server, "endpoint" | "types" | "close">;

/**
 * Loads a module, TypeScript too, and gives the server that it exports: as `default`, as `server`, or as its only export that is
 * one. A function that returns a server, or a promise of one, is called. Every call evaluates the module and the files that it
 * imports anew, unless it is given a graph of its own. Throws a `UsageError` where there is no server, and an `McpError` with file
 * and line where the module cannot be loaded.
 */
export async function loadServerModule(path: string, graph = new ModuleGraph(path)): Promise<ServedModule> {
  const exported = await graph.load();
  for (const name of ["default", "server"]) {
    const found = await serverOf(exported[name], graph);
    if (found !== undefined) return found;
  }
  const servers = Object.entries(exported).filter(([, value]) => isServer(value));
  const [only, ...others] = servers;
  if (only !== undefined && others.length === 0) return only[1] as ServedModule;
  if (only !== undefined) throw ambiguousServers(path, servers);
  return serverFromFactory(path, exported, graph);
}

/** The server of the only function that is named for making one. */
async function serverFromFactory(path: string, exported: Exports, graph: ModuleGraph): Promise<ServedModule> {
  const makers = Object.entries(exported).filter(([name, value]) => /server/i.test(name) && isFunction(value));
  if (makers.length > 1) throw ambiguousServers(path, makers);
  const found = await serverOf(makers[0]?.[1], graph);
  if (found !== undefined) return found;
  throw new UsageError(
    `${path} exports no server`,
    "Export it: `export const server = new Server(…)`, or as the default.",
  );
}

function ambiguousServers(path: string, named: readonly (readonly [string, unknown])[]): UsageError {
  const names = named.map(([name]) => name).slice(0, 10);
  return new UsageError(
    `${path} exports several servers: ${names.join(", ")}`,
    "Export the one that is meant as the default, or under the name `server`.",
  );
}

async function serverOf(value: unknown, graph: ModuleGraph): Promise<ServedModule | undefined> {
  const given: unknown = isFunction(value) ? await graph.locate(() => value()) : await value;
  return isServer(given) ? given : undefined;
}

/** A class is a function too, but must not be called. */
function isFunction(value: unknown): value is () => unknown {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}

function isServer(value: unknown): value is ServedModule {
  if (typeof value !== "object" || value === null) return false;
  return "endpoint" in value && typeof value.endpoint === "function";
}
