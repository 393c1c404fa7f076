import type { CommandTarget } from "../transport/runtime-transports.js";
import type { Endpoint, Transport } from "../transport/transport.js";
import type { Client, LooseTools } from "./client.js";
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

/** What a client may call by types: all that the server's type names, or anything where it names nothing. */
export type Callable<T> = [keyof T] extends [never] ? LooseTools : T;

/** Where a server is: a URL, a program to start, or a transport of one's own. */
export type Target = string | URL | CommandTarget | Transport | TransportMaker;

/** Makes a new transport to the same server for every attempt, so that a lost connection can be opened again. */
export interface TransportMaker {
  makeTransport(): Transport;
}

/**
 * Connects to a server, whatever the transport and the revision; resolves when the first call can be made.
 *
 * A `Server` of this process and `connect<typeof server>(…)` give a client that knows names, arguments and results.
 * Rejects with an `McpError` that says how far it came and what to change.
 */
export function connect<T>(server: LocalServer<T>, options?: ClientOptions): Promise<Client<Callable<T>>>;
export function connect<S extends KnownServer = { readonly types: LooseTools }>(
  target: Target,
  options?: ClientOptions,
): Promise<Client<Callable<S["types"]>>>;
export async function connect(target: Target | LocalServer, options: ClientOptions = {}): Promise<Client<unknown>> {
  // Loaded on first use: a program that only serves starts without the client.
  const { openClient } = await import("./connection/open-client.js");
  return openClient(target, options);
}
