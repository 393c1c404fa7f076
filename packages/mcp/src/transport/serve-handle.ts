import { McpError } from "../protocol/error.js";
import type { Endpoint } from "./transport.js";

/**
 * The handle of a running server, for every transport. `await using` closes it at the end of its block.
 *
 * `drain` and `close` may be called in any order and more than once.
 */
export interface ServeHandle extends AsyncDisposable {
  /** The address for clients. Absent if the handle does not listen itself. */
  readonly url?: string;
  /** Resolves once, when everything is closed. Never rejects. */
  readonly closed: Promise<void>;
  /** Refuses new requests, waits up to `graceMs` milliseconds for running ones, then closes. */
  drain(graceMs?: number): Promise<void>;
  /** Closes all connections and streams at once, and aborts running requests. */
  close(): Promise<void>;
}

/** A handle that listens on a port. */
export interface ListeningHandle extends ServeHandle {
  /** The address for clients, with the actual port. */
  readonly url: string;
  /** The port that the server listens on. If the option was 0, the system chose the port. */
  readonly port: number;
}

/** Makes a handle disposable: disposing closes it. */
export function disposable<H extends { close(): Promise<void> }>(handle: H): H & AsyncDisposable {
  return Object.assign(handle, { [Symbol.asyncDispose]: () => handle.close() });
}

/**
 * Creates a handle from `drain`, which refuses new requests and waits for running ones, and `close`, which is called at
 * most once.
 */
export function serveHandle(actions: {
  drain(graceMs?: number): Promise<void>;
  close(): void | Promise<void>;
}): ServeHandle {
  let ended: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let closing: Promise<void> | undefined;
  const end = async () => {
    await actions.close();
    ended();
  };
  const close = () => {
    closing ??= end();
    return closing;
  };
  const drain = async (graceMs?: number) => {
    if (closing === undefined) await actions.drain(graceMs);
    await close();
  };
  return disposable({ closed, drain, close });
}

/** Something that can be served: a server, or an endpoint. */
export type Servable =
  | Endpoint
  | {
      /** Returns the endpoint of the server. */
      endpoint(): Endpoint;
    };

/** Returns the endpoint of a server, or the endpoint that was passed. Throws for anything else. */
export function endpointOf(servable: Servable): Endpoint {
  // Programs without types may pass anything.
  const given: Partial<Endpoint & { endpoint(): Endpoint }> | undefined | null = servable;
  if (typeof given?.endpoint === "function") return given.endpoint();
  if (typeof given?.request === "function") return given as Endpoint;
  throw new McpError(
    "invalid_definition",
    `${given === undefined ? "undefined" : `a value of type ${typeof given}`} was passed instead of a server`,
    {
      fix: "Pass a `Server` first, then the options.",
    },
  );
}
