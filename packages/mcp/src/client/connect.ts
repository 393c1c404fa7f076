import { McpError } from "../protocol/error.js";
import type { CommandTarget } from "../transport/runtime-transports.js";
import type { Endpoint, Transport } from "../transport/transport.js";
import type { Client, LoosePrompts, LooseTools } from "./client.js";
import type { ClientOptions } from "./contract/options.js";

/** A server in the same process, as `connect` sees it; `types` carries what a typed client knows. */
export interface LocalServer {
  readonly types: { tools: unknown; prompts: unknown };
  endpoint(): Endpoint;
}

/** What a client may use by types: all that the server's type names, as one object, or anything where it names nothing. */
type Known<T, Loose> = [keyof T] extends [never] ? Loose : { [N in keyof T]: T[N] };

/** The client of a server, by the server's type: `ClientOf<typeof server>`. */
export type ClientOf<S extends LocalServer> = Client<
  Known<S["types"]["tools"], LooseTools>,
  Known<S["types"]["prompts"], LoosePrompts>
>;

/** Where a server is: a URL, a program to start, or a transport of one's own. */
export type Target = string | URL | HttpTarget | CommandTarget | Transport | TransportMaker;

/** A URL whose transport is known; otherwise the second is tried where the server does not know the first. */
export interface HttpTarget {
  readonly url: string | URL;
  /** `http` for Streamable HTTP, `sse` for the HTTP with SSE that came before it. */
  readonly transport: "http" | "sse";
}

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
export function connect<S extends LocalServer>(
  target: Target | S,
  options?: ClientOptions,
  // `ClientOf<S>` written out, because editors then show what the client knows, and not the server's type inside its name.
): Promise<Client<Known<S["types"]["tools"], LooseTools>, Known<S["types"]["prompts"], LoosePrompts>>>;
export async function connect(target: Target | LocalServer, options: ClientOptions = {}): Promise<Client<unknown>> {
  const caller = new Error();
  try {
    // Loaded on first use: a program that only serves starts without the client.
    const { openClient } = await import("./open-client.js");
    return await openClient(target, options);
  } catch (error) {
    throw withCaller(error, caller);
  }
}

/** The error with the frames of the one who called `connect`, which most failures come too late to have. */
function withCaller(error: unknown, { stack = "" }: Error): unknown {
  if (!McpError.is(error)) return error;
  // The first frame is that of `connect` itself. Engines that write stacks in other ways keep what they have.
  const frames = stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(1);
  const [nearest] = frames;
  if (nearest === undefined || error.stack?.includes(nearest.trim()) === true) return error;
  error.stack = [error.stack ?? `${error.name}: ${error.message}`, ...frames].join("\n");
  return error;
}
