import { negotiate } from "../../era/negotiate/negotiate.js";
import type { Negotiation, NegotiationResult } from "../../era/negotiate/negotiation.js";
import { ProbeLost } from "../../era/negotiate/refusal.js";
import { McpError } from "../../protocol/error.js";
import type { Receiver, Transport } from "../../transport/transport.js";

/** The way to reach a server. */
export interface ServerRoute {
  /** Returns a new transport that is not open yet. */
  make(): Transport;
  /** True if a lost connection may be reopened with `make`. */
  readonly repeatable: boolean;
  /**
   * False if the owner of the connection replaces a lost connection, so that the connection must not reopen itself.
   * Default: true.
   */
  readonly reopens?: boolean;
  /** Identifies the server in caches: its full URL, or its command. Without it nothing about the server is cached. */
  readonly key?: string;
  /** True to begin with the handshake, without a `server/discover` request before it. */
  readonly skipProbe?: boolean;
  /** Returns another route to try after this one failed with `error`, for example an older transport. */
  readonly fallback?: (error: unknown) => ServerRoute | undefined;
}

/** Options of `openRoute`. */
export interface OpenRouteOptions {
  route: ServerRoute;
  receiver(transport: Transport): Receiver;
  negotiation(transport: Transport): Omit<Negotiation, "skipProbe">;
  /** Called before a transport is opened. The transport is the current one from then on. */
  using(transport: Transport): void;
  /** Aborts the attempt. No further route is tried. */
  signal: AbortSignal;
}

/** An open connection after its handshake. */
export interface OpenedRoute {
  transport: Transport;
  established: NegotiationResult;
  /** The route to use for reopening. */
  route: ServerRoute;
}

/**
 * Maximum number of routes tried in one attempt: the given one and an older transport, each with and without a probe.
 */
const MAX_TRIES = 4;

/** Opens the first route over which a handshake succeeds. Rejects with the most informative error. */
export async function openRoute(options: OpenRouteOptions): Promise<OpenedRoute> {
  let { route } = options;
  // The route for reopening. It includes the probe even if this attempt skips the probe because the process ended on
  // it.
  let lasting = route;
  let first: unknown;
  for (let tries = 1; ; tries++) {
    const transport = route.make();
    options.using(transport);
    try {
      await transport.open(options.receiver(transport));
      const skipProbe = route.skipProbe === true;
      const established = await negotiate({ ...options.negotiation(transport), skipProbe });
      return { transport, established, route: lasting };
    } catch (error) {
      await transport.close();
      const next = options.signal.aborted || tries === MAX_TRIES ? undefined : nextRoute(route, error);
      if (next === undefined)
        throw first === undefined ? unwrapped(error) : bothFailed(first, unwrapped(error), transport);
      if (!(error instanceof ProbeLost)) {
        first = error;
        lasting = next;
      }
      route = next;
    }
  }
}

function nextRoute(route: ServerRoute, error: unknown): ServerRoute | undefined {
  // The probe may have ended the process. Start a new process and begin with the handshake, without a probe.
  if (error instanceof ProbeLost) return route.repeatable ? { ...route, skipProbe: true } : undefined;
  return route.fallback?.(error);
}

function unwrapped(error: unknown): unknown {
  return error instanceof ProbeLost ? error.cause : error;
}

function bothFailed(first: unknown, second: unknown, { target }: Transport): McpError {
  const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
  // A wrong path fails with both transports. Do not repeat the same error.
  const statusOf = (error: unknown) => (error as { data?: { status?: unknown } } | undefined)?.data?.status;
  const both = statusOf(first) !== undefined && statusOf(first) === statusOf(second);
  return new McpError(
    "connect_failed",
    `${target} could not be reached: ${messageOf(first)}; ${
      both
        ? "the older HTTP+SSE transport fails in the same way"
        : `the older HTTP+SSE transport failed too: ${messageOf(second)}`
    }`,
    {
      cause: first,
      fix: "Check the path of the address; MCP servers often listen at `/mcp`.",
    },
  );
}
