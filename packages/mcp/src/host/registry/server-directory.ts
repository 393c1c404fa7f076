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
 * Servers of this process by name, whoever keeps them: what a registry of your own must have to take the place of
 * `ServerRegistry`, which has it too.
 */
export interface ServerDirectory {
  /** The server that has this name now. */
  find(name: string): Servable | undefined;
  /** The names that servers have now. */
  list(): readonly { readonly name: string }[];
  /** Calls `listener` after each change of a name. Returns a function that ends it. */
  on(listener: (event: RegistryEvent) => void): () => void;
}

const METHODS = ["find", "list", "on"] as const;

function checkDirectory(directory: ServerDirectory): void {
  const missing = METHODS.filter((method) => typeof directory?.[method] !== "function");
  if (missing.length === 0) return;
  throw new McpError("invalid_definition", `the directory of servers has no function ${missing.join(", ")}`, {
    fix: "Pass a `ServerRegistry`, or an object with the functions `find`, `list` and `on`.",
  });
}

/** A name of a directory as something to serve, like `bind` of a `ServerRegistry`. Throws for a name that no server has. */
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
  // `types` exists for the compiler alone.
  return binding as Binding;
}

/** One HTTP handler for all servers of a directory, like `handler` of a `ServerRegistry`. */
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

/** One server that offers everything of all servers of a directory, like `asServer` of a `ServerRegistry`. */
export function directoryServer(directory: ServerDirectory, info: ServerInfo, options?: ServerOptions): Server {
  checkDirectory(directory);
  return jointServer(directory, (text) => platform.warn(text), new Server(info, options));
}

function foundIn(directory: ServerDirectory, name: string): Servable {
  const server = directory.find(name);
  if (server !== undefined) return server;
  throw new McpError("invalid_definition", `the directory has no server "${String(name).slice(0, 100)}"`, {
    fix: "Use a name that `list` of the directory gives.",
  });
}
