import { pathToFileURL } from "node:url";
import type { Server } from "@parley/mcp";
import { createJiti } from "jiti";
import { UsageError } from "../terminal/usage-error.js";

/** What a module of the user exports: a server, by whichever copy of the library it was made. */
export type ServedModule = Pick<Server, "endpoint" | "types" | "close">;

/**
 * Loads a module, TypeScript too, and gives the server that it exports: as `default`, as `server`, or as its only export that is
 * one. Every call evaluates the module and the files that it imports anew. Throws a `UsageError` where there is no server.
 */
export async function loadServerModule(path: string): Promise<ServedModule> {
  // Each loader has a cache of its own, so a changed file is read again. Packages keep Node's own cache.
  const jiti = createJiti(pathToFileURL(path).href, { moduleCache: false, fsCache: false, interopDefault: false });
  const exported = await jiti.import<Record<string, unknown>>(path);
  const found = [exported["default"], exported["server"], ...Object.values(exported)].find(isServer);
  if (found !== undefined) return found;
  throw new UsageError(
    `${path} exports no server`,
    "Export it: `export const server = new Server(…)`, or as the default.",
  );
}

function isServer(value: unknown): value is ServedModule {
  if (typeof value !== "object" || value === null) return false;
  return "endpoint" in value && typeof value.endpoint === "function";
}
