import { platform as runtimePlatform } from "#platform";
import { transports } from "#transports";
import { fetchSender } from "../http/fetch-sender.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import { channelTransport } from "../transport/channel-client.js";
import { serveChannel } from "../transport/channel-server.js";
import { httpTransport } from "../transport/http/client.js";
import { channelPair } from "../transport/in-memory.js";
import type { CommandTarget } from "../transport/runtime-transports.js";
import type { Endpoint, Transport } from "../transport/transport.js";
import { Caller } from "./caller.js";
import { Client, type LooseTools } from "./client.js";
import { Link, type Route } from "./link.js";
import type { ClientOptions } from "./options.js";

/** A server in the same process, as `connect` sees it; `types` carries what a typed client knows. */
export interface LocalServer<T = unknown> {
  readonly types: T;
  endpoint(): Endpoint;
}

/** A server by its types alone: any server type, or the default that knows no names. */
export interface KnownServer {
  readonly types: unknown;
}

/** Where a server is: a URL, a program to start, or a transport of one's own. */
export type Target = string | URL | CommandTarget | Transport;

/**
 * Connects to a server, whatever the transport and the revision; resolves when the first call can be made.
 *
 * A `Server` of this process and `connect<typeof server>(…)` give a client that knows names, arguments and results.
 * Rejects with an `McpError` that says how far it came and what to change.
 */
export function connect<T>(server: LocalServer<T>, options?: ClientOptions): Promise<Client<T>>;
export function connect<S extends KnownServer = { readonly types: LooseTools }>(
  target: Target,
  options?: ClientOptions,
): Promise<Client<S["types"]>>;
export async function connect(target: Target | LocalServer, options: ClientOptions = {}): Promise<Client<unknown>> {
  const platform: Platform = { ...runtimePlatform, ...options.platform };
  const route = routeTo(target, options, platform);
  let caller: Caller | undefined;
  const link = new Link(route, options, platform, {
    notification: (message) => {
      if (message.method === "notifications/progress") caller?.progress(message.params);
    },
    fault: () => {},
    state: () => {},
  });
  caller = new Caller(link);
  await link.connect();
  return new Client<unknown>(link, caller);
}

function routeTo(target: Target | LocalServer, options: ClientOptions, platform: Platform): Route {
  if (typeof target === "string" || target instanceof URL) return httpRoute(String(target), options, platform);
  if ("endpoint" in target) return { make: () => inProcess(target.endpoint()), repeatable: true };
  if ("command" in target) return { make: () => transports.command(target, platform), repeatable: true };
  if ("request" in target) return { make: () => target, repeatable: false };
  throw new McpError("connect_failed", "there is nothing to connect to", {
    fix: "Pass a URL, `{ command, args }`, a Server or a transport.",
  });
}

function inProcess(endpoint: Endpoint): Transport {
  const [here, there] = channelPair();
  serveChannel(endpoint, there);
  return channelTransport(here, "the server in this process");
}

function httpRoute(url: string, options: ClientOptions, platform: Platform): Route {
  const sender = options.fetch === undefined ? transports.sender(platform) : fetchSender(options.fetch);
  const headers = options.headers === undefined ? {} : { headers: options.headers };
  return { make: () => httpTransport(url, { sender, platform, ...headers }), repeatable: true };
}
