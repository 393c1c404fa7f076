import { negotiate } from "../../era/negotiate/negotiate.js";
import type { Negotiation, NegotiationResult } from "../../era/negotiate/negotiation.js";
import { ProbeLost } from "../../era/negotiate/refusal.js";
import { McpError } from "../../protocol/error.js";
import type { Receiver, Transport } from "../../transport/transport.js";

/** How to reach a server, again and again if need be. */
export interface ServerRoute {
  /** Makes a transport that has not been opened. */
  make(): Transport;
  /** True when a lost connection may be opened again by `make`. */
  readonly repeatable: boolean;
  /** False when a lost connection is its owner's to replace. Default: true. */
  readonly lasts?: boolean;
  /** Names the server where what was learnt about it may be remembered: its full URL, or its command. */
  readonly key?: string;
  /** The handshake is made at once, without `server/discover` before it. */
  readonly skipProbe?: boolean;
  /** Another way to try when this one ended in `error`, for example an older transport. */
  readonly fallback?: (error: unknown) => ServerRoute | undefined;
}

/** What opening a route needs of its owner. */
export interface Opening {
  route: ServerRoute;
  receiver(transport: Transport): Receiver;
  negotiation(transport: Transport): Omit<Negotiation, "skipProbe">;
  /** Called before a transport is opened: from now on it is the one in use. */
  using(transport: Transport): void;
  /** Ends the attempt; nothing new is started afterwards. */
  signal: AbortSignal;
}

export interface Opened {
  transport: Transport;
  established: NegotiationResult;
  /** The route that led there; the one to take the next time. */
  route: ServerRoute;
}

/** Routes that one attempt may try: the given one, again after a fatal question, and an older transport. */
const MAX_TRIES = 4;

/** Opens the first way that leads to a handshake. Rejects with the error of the most telling attempt. */
export async function openRoute(opening: Opening): Promise<Opened> {
  let { route } = opening;
  // The way to come back by; a process that is started twice for one question needs that only now.
  let lasting = route;
  let first: unknown;
  for (let tries = 1; ; tries++) {
    const transport = route.make();
    opening.using(transport);
    try {
      await transport.open(opening.receiver(transport));
      const skipProbe = route.skipProbe === true;
      const established = await negotiate({ ...opening.negotiation(transport), skipProbe });
      return { transport, established, route: lasting };
    } catch (error) {
      await transport.close();
      const next = opening.signal.aborted || tries === MAX_TRIES ? undefined : nextRoute(route, error);
      if (next === undefined)
        throw first === undefined ? unwrapped(error) : neither(first, unwrapped(error), transport);
      if (!(error instanceof ProbeLost)) {
        first = error;
        lasting = next;
      }
      route = next;
    }
  }
}

function nextRoute(route: ServerRoute, error: unknown): ServerRoute | undefined {
  // The question alone may have ended the process: a new one begins with the handshake.
  if (error instanceof ProbeLost) return route.repeatable ? { ...route, skipProbe: true } : undefined;
  return route.fallback?.(error);
}

function unwrapped(error: unknown): unknown {
  return error instanceof ProbeLost ? error.cause : error;
}

function neither(first: unknown, second: unknown, { target }: Transport): McpError {
  const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
  // A wrong path is wrong for both transports: the same words twice would not say more.
  const statusOf = (error: unknown) => (error as { data?: { status?: unknown } } | undefined)?.data?.status;
  const both = statusOf(first) !== undefined && statusOf(first) === statusOf(second);
  return new McpError(
    "connect_failed",
    `${target} could not be reached: ${messageOf(first)}; ${
      both ? "the older HTTP+SSE transport gets the same" : `by the older HTTP+SSE transport: ${messageOf(second)}`
    }`,
    {
      cause: first,
      fix: "Check the path of the address; MCP servers often listen at `/mcp`.",
    },
  );
}
