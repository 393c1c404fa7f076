import { McpError } from "../protocol/error.js";
import type { Endpoint } from "./transport.js";

/**
 * Something that serves, whatever the transport. `await using` closes it at the end of its block.
 *
 * `drain` and `close` may be called in any order and more than once.
 */
export interface ServeHandle extends AsyncDisposable {
  /** Where clients connect, for a handle that listens by itself. */
  readonly url?: string;
  /** Resolves once, when nothing is served any more. Never rejects. */
  readonly closed: Promise<void>;
  /** Takes nothing new, lets running requests end for up to `graceMs`, then closes. */
  drain(graceMs?: number): Promise<void>;
  /** Ends all connections and streams at once; requests in flight are aborted. */
  close(): Promise<void>;
}

/** A handle that listens on a port. */
export interface ListeningHandle extends ServeHandle {
  /** Where clients connect, with the port that was picked. */
  readonly url: string;
  readonly port: number;
}

/** Makes a handle disposable: disposing closes it. */
export function disposable<H extends { close(): Promise<void> }>(handle: H): H & AsyncDisposable {
  return Object.assign(handle, { [Symbol.asyncDispose]: () => handle.close() });
}

/** The handle of what refuses and finishes by `drain`, and ends by `close`; each is called at most once. */
export function serveHandle(parts: {
  drain(graceMs?: number): Promise<void>;
  close(): void | Promise<void>;
}): ServeHandle {
  let ended: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let closing: Promise<void> | undefined;
  const end = async () => {
    await parts.close();
    ended();
  };
  const close = () => {
    closing ??= end();
    return closing;
  };
  const drain = async (graceMs?: number) => {
    if (closing === undefined) await parts.drain(graceMs);
    await close();
  };
  return disposable({ closed, drain, close });
}

/** What can be served: a server, or an endpoint itself. */
export type Servable = Endpoint | { endpoint(): Endpoint };

/** The endpoint of a server, whichever of the two was given. Throws for anything else. */
export function endpointOf(servable: Servable): Endpoint {
  // Programs without types may pass anything.
  const given: Partial<Endpoint & { endpoint(): Endpoint }> | undefined | null = servable;
  if (typeof given?.endpoint === "function") return given.endpoint();
  if (typeof given?.request === "function") return given as Endpoint;
  throw new McpError(
    "invalid_definition",
    `${given === undefined ? "nothing" : `a value of type ${typeof given}`} was passed to be served`,
    {
      fix: "Pass a `Server` first, then the options.",
    },
  );
}
