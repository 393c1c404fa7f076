import { platform } from "#platform";
import { McpError } from "../../protocol/error.js";
import type { ServerInfo, ServerOptions } from "../../server/contract/options.js";
import { Server } from "../../server/server.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import type { Servable } from "../../transport/serve-handle.js";
import { BoundEndpoint } from "./bound-endpoint.js";
import { jointServer } from "./joint-server.js";
import { type HttpHandler, RegistryHttp, type RegistryHttpOptions } from "./registry-http.js";
import type { Binding, RegistryEvent } from "./server-registry.js";

/**
 * A directory of the servers in this process, by name. Implement it to use your own registry in place of
 * `ServerRegistry`, which implements it too.
 */
export interface ServerDirectory {
  /** Returns the server that has this name now. */
  find(name: string): Servable | undefined;
  /** Lists the names of all current servers. */
  list(): readonly { readonly name: string }[];
  /** Calls `listener` after each change of a name. Returns a function that removes the listener. */
  on(listener: (event: RegistryEvent) => void): () => void;
}

const METHODS = ["find", "list", "on"] as const;

function checkDirectory(directory: ServerDirectory): void {
  const missing = METHODS.filter((method) => typeof directory?.[method] !== "function");
  if (missing.length === 0) return;
  throw new McpError("invalid_definition", `the server directory has no function ${missing.join(", ")}`, {
    fix: "Pass a `ServerRegistry`, or an object with the functions `find`, `list` and `on`.",
  });
}

/**
 * Binds a name of a directory, so that it can be served like a server; see `bind` of `ServerRegistry`. Throws
 * `invalid_definition` if no server has the name.
 *
 * @example
 * ```ts
 * import { serveStdio } from "@parley/mcp/node";
 * import { bindServer, type ServerDirectory } from "@parley/mcp/registry";
 *
 * async function serve(directory: ServerDirectory) {
 *   await serveStdio(bindServer(directory, "notes"));
 * }
 * ```
 */
export function bindServer(directory: ServerDirectory, name: string): Binding {
  checkDirectory(directory);
  const bound = new BoundEndpoint(name, foundIn(directory, name));
  const stop = directory.on((event) => {
    if (event.name === bound.name) void bound.switchTo(bound.name, directory.find(bound.name));
  });
  const unbind = () => {
    stop();
    void bound.switchTo(bound.name, undefined);
  };
  const binding: Omit<Binding, "types"> = {
    get name() {
      return bound.name;
    },
    endpoint: () => bound,
    rebind: async (next) => void (await bound.switchTo(next, foundIn(directory, next))),
    unbind,
    [Symbol.dispose]: unbind,
  };
  // `types` exists only for the compiler.
  return binding as Binding;
}

/**
 * Creates one HTTP handler for all servers of a directory; see `handler` of `ServerRegistry`.
 *
 * @example
 * ```ts
 * import { fetchHandler } from "@parley/mcp";
 * import { directoryHandler, type ServerDirectory } from "@parley/mcp/registry";
 *
 * const handlerOf = (directory: ServerDirectory) => directoryHandler(directory, fetchHandler);
 * ```
 */
export function directoryHandler<H extends HttpHandler>(
  directory: ServerDirectory,
  make: (servable: Servable, options?: HttpServerOptions) => H,
  options: RegistryHttpOptions = {},
): H {
  checkDirectory(directory);
  const bound = {
    find: (name: string) => directory.find(name),
    list: () => directory.list(),
    bind: (name: string) => bindServer(directory, name),
    on: (listener: (event: RegistryEvent) => void) => directory.on(listener),
  };
  return new RegistryHttp(bound, (text) => platform.warn(text), make, options).handler;
}

/**
 * Creates one server that offers everything that the servers of a directory offer; see `asServer` of `ServerRegistry`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/registry.md | Servers by name}
 */
export function directoryServer(directory: ServerDirectory, info: ServerInfo, options?: ServerOptions): Server {
  checkDirectory(directory);
  return jointServer(directory, (text) => platform.warn(text), new Server(info, options));
}

function foundIn(directory: ServerDirectory, name: string): Servable {
  const server = directory.find(name);
  if (server !== undefined) return server;
  throw new McpError("invalid_definition", `the directory has no server "${String(name).slice(0, 100)}"`, {
    fix: "Use a name that `list` of the directory returns.",
  });
}
