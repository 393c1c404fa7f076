import type { Negotiation, Prior } from "../../era/negotiate/negotiation.js";
import { type Id, isObject, type NotificationMessage, type RequestMessage } from "../../jsonrpc/message.js";
import type { Platform } from "../../platform/platform.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { methodsWith } from "../../protocol/extension.js";
import { type Implementation, implementationIn } from "../../protocol/implementation.js";
import type { MethodTable } from "../../protocol/methods.js";
import { REVISIONS, type Revision } from "../../protocol/revisions.js";
import type { Receiver, Transport } from "../../transport/transport.js";
import type { ConnectionState } from "../contract/events.js";
import type { ClientOptions } from "../contract/options.js";
import type { WaitBound, WaitHolds } from "./bounded.js";
import type { RequestObservers } from "./request-observers.js";
import type { RevisionCache } from "./revision-cache.js";
import type { ServerRoute } from "./route.js";

/** What is told about a connection as it goes. No method may throw. */
export interface ConnectionEvents {
  notification(message: NotificationMessage, about: Id | undefined): void;
  /** A request of the server; gives the text of the answer, or an empty one where none may be sent. */
  request(message: RequestMessage, about: Id | undefined): Promise<string>;
  fault(error: Error): void;
  /** Notifications may have been lost. */
  missed(): void;
  /** The request `about` waits for a user, or a handshake does; the returned function is called when it no longer does. */
  userWait(about: Id | undefined): () => void;
  state(state: ConnectionState, reason: Error | undefined, transport: Transport | undefined): void;
  /** A new handshake stands, and calls wait until this settles: what lived in the old session is set up again. */
  recovered(reason: McpError): Promise<void>;
}

/** What a client connection is made of. */
export interface ConnectionParts {
  route: ServerRoute;
  options: ClientOptions;
  platform: Platform;
  /** What the server may ask this client for. */
  capabilities(revision: Revision): ClientCapabilities;
  revisions: RevisionCache;
  events: ConnectionEvents;
  observers: RequestObservers | undefined;
}

const NAME = "parley";
const VERSION = "0.1.0";

/** The methods that a client with these options knows. */
export function methodsOf({ extensions = [] }: ClientOptions): MethodTable {
  return methodsWith(extensions, "connect");
}

/** The implementation that the client reports. */
function infoOf(options: ClientOptions): Implementation {
  const { name = NAME, version = VERSION, title, description, websiteUrl, icons } = options;
  return {
    name,
    version,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(websiteUrl === undefined ? {} : { websiteUrl }),
    ...(icons === undefined ? {} : { icons }),
  };
}

/** What finding the era needs, from what the application said. */
export function negotiationOf(
  { options, platform, capabilities, observers }: ConnectionParts,
  methods: MethodTable,
  transport: Transport,
  prior: Prior | undefined,
  nextId: () => Id,
): Omit<Negotiation, "skipProbe"> {
  const { revisions = REVISIONS, extensions = [] } = options;
  const info = infoOf(options);
  const headers = transport.kind === "http";
  return {
    transport: observers?.handshake(transport) ?? transport,
    self: (revision) => ({
      info: implementationIn(revision, info),
      capabilities: capabilities(revision),
      headers,
    }),
    methods,
    resultTypes: extensions.flatMap((extension) => extension.resultTypes ?? []),
    revisions,
    prior,
    platform,
    nextId,
  };
}

/** What is known of the server at `key`: what the connection `spoke` counts more than what was remembered before it. */
export function knownPrior(
  { options, revisions }: ConnectionParts,
  key: string | undefined,
  spoke: Revision | undefined,
): Prior | undefined {
  if (spoke !== undefined) return { revision: spoke };
  const remembered = revisions.get(key, options.revisions);
  return options.prior ?? (remembered === undefined ? undefined : { revision: remembered });
}

/** What a transport calls: the events of a connection, with the loss of its session and its end told apart. */
export function receiverOf(
  events: ConnectionEvents,
  holds: WaitHolds,
  sessionLost: (error: McpError) => void,
  closed: (reason: Error | undefined) => void,
): Receiver {
  return {
    request: (message, about) => events.request(message, about),
    notification: (message, about) => events.notification(message, about),
    fault(error) {
      if (!McpError.is(error) || error.kind !== "session_lost") return events.fault(error);
      // A stale one is about a session that was left before.
      if (!isObject(error.data) || error.data["stale"] !== true) sessionLost(error);
    },
    missed: () => events.missed(),
    userWait(about) {
      const releases = [holds.hold(), events.userWait(about)];
      return () => {
        for (const release of releases) release();
      };
    },
    closed,
  };
}

/** What ends an attempt to connect early: its deadline and the caller's signal. */
export function connectBounds(
  connectMs: number,
  target: () => string | undefined,
  signal: AbortSignal | undefined,
): WaitBound[] {
  const tooSlow = () =>
    new McpError(
      "timeout",
      `no handshake with ${target() ?? "the server"} within the connect deadline of ${connectMs} ms`,
      {
        data: { deadline: "connect", ms: connectMs },
        fix: "Raise `timeouts.connectMs`, or look at what the server does when it starts.",
      },
    );
  const cancelled = () => new McpError("cancelled", "connecting was cancelled", { cause: signal?.reason });
  return [
    { on: connectMs, error: tooSlow },
    { on: signal, error: cancelled },
  ];
}

/** The error of a use of a connection that does not stand. */
export function notConnected(state: ConnectionState): McpError {
  return new McpError("connection_closed", `the client is ${state}`, { fix: "Call `connect` again." });
}

/** The error of a connection that the other side ended. */
export function endedByItself(target: string, reason: Error | undefined): McpError {
  return new McpError("connection_closed", `the connection to ${target} ended`, {
    cause: reason,
    fix: "Look at why the server ended; the next call opens the connection again where that is possible.",
  });
}
