import { checkOptions } from "../protocol/check-options.js";
import type { ServerInfo, ServerOptions } from "../server/contract/options.js";
import { internalsOf, type Server } from "../server/server.js";
import { startHost } from "./host.js";
import { checkedEntry, type HostEntry, type HostOptions } from "./options.js";

/** Options of `remoteServer`. All are optional. */
export interface RemoteServerOptions
  extends Omit<HostOptions, "servers" | "names" | "forwardQuestions" | "locks" | "onDrift"> {
  /** The name and version that clients see. Default: those of the remote server. */
  info?: ServerInfo | undefined;
  /** Options of the server that clients see. */
  server?: ServerOptions | undefined;
}

const NAME = "remote";

/**
 * Connects to a server and returns it as a `Server` of this process. Its tools, prompts and resources keep their names.
 * The returned server can be mounted in another server, or served on any transport in every revision. Forwards calls,
 * progress, cancellation, tasks, changes, and questions of the server (elicitation, sampling, roots). The connection is
 * supervised like that of a host. `close` of the returned server ends the connection. Rejects if the server does not
 * start.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/gateway.md | The gateway: servers behind one server}
 */
export async function remoteServer(
  target: string | URL | HostEntry,
  options: RemoteServerOptions = {},
): Promise<Server> {
  const names =
    "client auth defaults startWaitMs waitMs restarts health circuit transform catalogue onEvent platform info server";
  checkOptions("`remoteServer`", options, names);
  const { info, server: served, ...rest } = options;
  const given = typeof target === "string" || target instanceof URL ? { url: String(target) } : target;
  const entry = { ...checkedEntry(NAME, given), prefix: false as const, required: true };
  const host = await startHost({ ...rest, servers: { [NAME]: entry }, forwardQuestions: true });
  const itself = host.client(NAME)?.serverInfo;
  const server = host.asServer({
    ...(info === undefined && itself !== undefined ? { info: itself } : { info }),
    ...(served === undefined ? {} : { server: served }),
  });
  internalsOf(server).layers.add({ name: "host", stage: "served", close: () => host.close() });
  return server;
}
