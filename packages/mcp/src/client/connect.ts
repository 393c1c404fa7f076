import { McpError } from "../protocol/error.js";
import type { CommandTarget } from "../transport/runtime-transports.js";
import type { Endpoint, Transport } from "../transport/transport.js";
import type { Client, LoosePrompts, LooseTools } from "./client.js";
import type { ClientOptions } from "./contract/options.js";

/** A server in the same process, such as a `Server`. */
export interface LocalServer {
  /** The types of the server's tools and prompts, for typed clients. Exists only in the type system. */
  readonly types: { tools: unknown; prompts: unknown };
  /** Returns the endpoint that processes the messages of this connection. */
  endpoint(): Endpoint;
}

/** The members of `T` as one object type, or `Loose` if `T` has no members. */
type TypesOr<T, Loose> = [keyof T] extends [never] ? Loose : { [N in keyof T]: T[N] };

/** The type of a client of this server: `ClientOf<typeof server>`. */
export type ClientOf<S extends LocalServer> = Client<
  TypesOr<S["types"]["tools"], LooseTools>,
  TypesOr<S["types"]["prompts"], LoosePrompts>
>;

/** The location of a server: a URL, a program to start, or a custom transport. */
export type Target = string | URL | HttpTarget | CommandTarget | Transport | TransportMaker;

/** A URL with a fixed transport. For a plain URL the client tries Streamable HTTP first, then HTTP with SSE. */
export interface HttpTarget {
  /** The address of the server's MCP endpoint. */
  readonly url: string | URL;
  /** `http` for Streamable HTTP, `sse` for its predecessor HTTP with SSE. */
  readonly transport: "http" | "sse";
}

/**
 * A factory of transports to the same server. The client calls it for every attempt, so the client can reopen a lost
 * connection.
 */
export interface TransportMaker {
  /** Returns a transport that is not open yet. */
  makeTransport(): Transport;
}

/**
 * Connects to a server over any transport, in any protocol revision. Resolves when the handshake is done and calls can
 * be sent.
 *
 * `connect(server)`, with a `Server` of this process, and `connect<typeof server>(url)` return a client that knows the names,
 * arguments and results of the server's tools. Rejects with an `McpError` that says which step failed and what to change.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/clients.md | Clients}
 */
export function connect<S extends LocalServer>(
  target: Target | S,
  options?: ClientOptions,
  // Written out instead of `ClientOf<S>`: editors then show the tools of the client rather than the type of the server.
): Promise<Client<TypesOr<S["types"]["tools"], LooseTools>, TypesOr<S["types"]["prompts"], LoosePrompts>>>;
export async function connect(target: Target | LocalServer, options: ClientOptions = {}): Promise<Client<unknown>> {
  const caller = new Error();
  try {
    // Loaded on first use, so that a program with servers only does not load the client.
    const { openClient } = await import("./open-client.js");
    return await openClient(target, options);
  } catch (error) {
    throw withCaller(error, caller);
  }
}

/**
 * Appends the stack frames of the caller of `connect`. Most failures occur later, so their own stack does not have
 * these frames.
 */
function withCaller(error: unknown, { stack = "" }: Error): unknown {
  if (!McpError.is(error)) return error;
  // Skips the frame of `connect` itself. In engines with another stack format, the error remains unchanged.
  const frames = stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(1);
  const [nearest] = frames;
  if (nearest === undefined || error.stack?.includes(nearest.trim()) === true) return error;
  error.stack = [error.stack ?? `${error.name}: ${error.message}`, ...frames].join("\n");
  return error;
}
