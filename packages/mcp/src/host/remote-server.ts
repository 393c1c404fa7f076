import { checkOptions } from "../protocol/check-options.js";
import type { ServerInfo, ServerOptions } from "../server/contract/options.js";
import { internalsOf, type Server } from "../server/server.js";
import { startHost } from "./host.js";
import { checkedEntry, type HostEntry, type HostOptions } from "./options.js";

/** Options of `remoteServer`. All are optional. */
export interface RemoteServerOptions
  extends Omit<HostOptions, "servers" | "names" | "forwardQuestions" | "locks" | "onDrift"> {
  /** The name and version that clients see. Default: those of the server itself. */
  info?: ServerInfo | undefined;
  /** Options of the server that clients see. */
  server?: ServerOptions | undefined;
}

const NAME = "remote";

/**
 * A server elsewhere as a `Server` of this process, under its own names: to be mounted in another one, or served on any transport
 * in every revision. Calls, progress, cancellation, questions, tasks and changes pass through. It is supervised like a server of a
 * host, and ended by `close`. Rejects if it does not start.
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
