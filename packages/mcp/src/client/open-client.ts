import { platform as runtimePlatform } from "#platform";
import { transports } from "#transports";
import { mayBeLegacySse } from "../era/negotiate/refusal.js";
import { fetchSender, guardedSender } from "../http/fetch-sender.js";
import { callHook } from "../platform/call-hook.js";
import { type Platform, replacedPlatform } from "../platform/platform.js";
import { McpError, markConnectionError } from "../protocol/error.js";
import { channelPair } from "../transport/channel/channel-pair.js";
import { channelTransport } from "../transport/channel/client.js";
import { serveChannel } from "../transport/channel/server.js";
import { checkCommand } from "../transport/check-command.js";
import { httpAddress, httpClientTransport } from "../transport/http/client/client.js";
import { legacySseTransport } from "../transport/http/client/legacy-sse.js";
import type { Endpoint, Transport } from "../transport/transport.js";
import { type WireMessage, watchedTransport } from "../transport/watched-transport.js";
import type { QuestionForwarder } from "./answers/answerer.js";
import { assemble, type ClientCore } from "./assemble.js";
import { Client } from "./client.js";
import type { HttpTarget, LocalServer, Target } from "./connect.js";
import { RevisionCache } from "./connection/current-connection.js";
import type { ServerRoute } from "./connection/route.js";
import { type ClientOptions, checkClientOptions } from "./contract/options.js";
import { checkLogLevel, restoreLogLevel } from "./features/log-level.js";

/** The revision last used with each server, shared by all clients of this process. */
const revisions = new RevisionCache();

/** Opens a connection. `connect` loads this module on demand and then calls this function. */
export async function openClient(target: Target | LocalServer, options: ClientOptions = {}): Promise<Client<unknown>> {
  try {
    return new Client<unknown>(await openClientCore(target, options, {}));
  } catch (error) {
    // Mark the error: if a handler of a server called `connect`, the callers of that handler must not see the addresses
    // and commands in the error.
    throw markConnectionError(error);
  }
}

/** Settings that the owner of several connections, such as a host, chooses for one of them. */
export interface ConnectionOwner {
  /** Answers the server's questions instead of the handlers in the application's options. */
  readonly forwarder?: QuestionForwarder;
  /** True if the connection reopens itself when lost. Default: true. */
  readonly reopens?: boolean;
}

/** Opens a connection and returns its components, for parts of the library that need more than `Client` offers. */
export async function openClientCore(
  target: Target | LocalServer,
  options: ClientOptions,
  { forwarder, reopens = true }: ConnectionOwner,
): Promise<ClientCore> {
  checkClientOptions(options);
  checkLogLevel(options.logLevel);
  const platform = replacedPlatform(runtimePlatform, options.platform);
  const route = watchedRoute(routeTo(target, options, platform), options, platform);
  const core = assemble(reopens ? route : { ...route, reopens: false }, options, platform, revisions, forwarder);
  await core.connection.connect();
  await restoreLogLevel(core.connection, core.caller);
  return core;
}

function routeTo(target: Target | LocalServer, options: ClientOptions, platform: Platform): ServerRoute {
  if (typeof target === "string" || target instanceof URL) return httpRoute(String(target), options, platform);
  if (typeof target !== "object" || target === null) throw noTarget();
  if ("endpoint" in target) return { make: () => inProcess(target.endpoint(), platform), repeatable: true };
  if ("command" in target) {
    checkCommand(target);
    const { command, args = [], cwd } = target;
    const key = JSON.stringify([command, args, cwd]);
    const { maxMessageBytes } = options;
    const limited = maxMessageBytes === undefined ? target : { maxMessageBytes, ...target };
    return { make: () => transports.command(limited, platform), repeatable: true, key };
  }
  if ("makeTransport" in target) return { make: () => target.makeTransport(), repeatable: true };
  if ("request" in target) return { make: () => target, repeatable: false };
  if ("url" in target) return httpRoute(String(target.url), options, platform, target.transport);
  throw noTarget();
}

/** Passes the messages of every transport of the route to `onMessage`. */
function watchedRoute(route: ServerRoute, options: ClientOptions, platform: Platform): ServerRoute {
  const { onMessage } = options;
  if (onMessage === undefined) return route;
  const { fallback } = route;
  const watch = (message: WireMessage) => callHook(platform, "onMessage", () => onMessage(message));
  const next = (error: unknown) => {
    const other = fallback?.(error);
    return other === undefined ? undefined : watchedRoute(other, options, platform);
  };
  return {
    ...route,
    make: () => watchedTransport(route.make(), watch),
    ...(fallback === undefined ? {} : { fallback: next }),
  };
}

function noTarget(): McpError {
  return new McpError("connect_failed", "there is nothing to connect to", {
    fix: "Pass a URL, `{ command, args }`, a Server or a transport.",
  });
}

function inProcess(endpoint: Endpoint, platform: Platform): Transport {
  const [here, there] = channelPair(platform);
  serveChannel(endpoint, there);
  return channelTransport(here, "the server in this process");
}

function httpRoute(
  address: string,
  options: ClientOptions,
  platform: Platform,
  transport?: HttpTarget["transport"],
): ServerRoute {
  const url = httpAddress(address);
  const { fetch, sender: own, auth } = options;
  const standard = fetch === undefined ? transports.sender : () => fetchSender(fetch);
  const plain = own === undefined ? standard(platform) : guardedSender(own);
  const sender = auth === undefined ? plain : guardedSender(auth.authorize(plain, { url, platform }));
  const headers = options.headers === undefined ? {} : { headers: options.headers };
  const limit = options.maxMessageBytes === undefined ? {} : { maxMessageBytes: options.maxMessageBytes };
  const given = { sender, platform, ...headers, ...limit };
  const legacy: ServerRoute = { make: () => legacySseTransport(url, given), repeatable: true, skipProbe: true };
  if (transport === "sse") return legacy;
  const known = transport === "http";
  return {
    make: () => httpClientTransport(url, given),
    repeatable: true,
    key: url,
    fallback: (error) => (!known && mayBeLegacySse(error, options.revisions) ? legacy : undefined),
  };
}
