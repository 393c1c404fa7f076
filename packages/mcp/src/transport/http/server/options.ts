import type { Platform } from "../../../platform/platform.js";
import { checkOptions } from "../../../protocol/check-options.js";
import { McpError } from "../../../protocol/error.js";
import type { AuthorizationOptions } from "../../authentication.js";
import type { CorsOptions } from "./cors.js";
import { corsOrigins, isLoopbackName, type OriginGuard, originGuard } from "./origin.js";
import type { RequestLogEntry } from "./request-log.js";

/** Limits on the resources that clients can use. */
export interface HttpLimits {
  /** Bytes of one request body; default 4 MiB. */
  maxMessageBytes?: number | undefined;
  /** Bytes of all request bodies that are being received; default 256 MiB. More are rejected with 503. */
  maxUnfinishedBytes?: number | undefined;
  /** Messages in one array, in revisions that have arrays; default 100. More are rejected with 400. */
  maxBatchItems?: number | undefined;
  /**
   * Requests whose handlers run, each of an array counted, and beside them requests that are being identified or received;
   * default 4,096 of each. More are rejected with 503. A handler counts until it ends, even if its client has left, but
   * not while its reply is an open stream.
   */
  maxInFlight?: number | undefined;
  /** Of these, handlers that run for one authenticated principal; default 1,024. More are rejected with 503. */
  maxInFlightPerPrincipal?: number | undefined;
  /** Open event streams; default 16,384. More are rejected with 503. */
  maxStreams?: number | undefined;
  /** Open event streams of one authenticated principal; default 1,024. */
  maxStreamsPerPrincipal?: number | undefined;
  /** Bytes queued for a client that does not read its stream, before the connection is closed. Default 1 MiB. */
  maxQueuedBytes?: number | undefined;
  /**
   * Bytes of complete replies that clients have not read, all together, where the runtime reports them (Node); default
   * 128 MiB. Beyond it the connection that has waited longest is closed.
   */
  maxUnsentBytes?: number | undefined;
  /**
   * Sessions in the memory of one node; default 10,000. A new one replaces one that was idle for 5 minutes, or the longest idle
   * one of the principal with the most sessions; if there is none, it is rejected with 503. The replaced session ends, unless
   * another node on the same `storage` uses it: then only this node forgets it.
   */
  maxSessions?: number | undefined;
  /**
   * Sessions of one authenticated principal on one node; default 1,024. A new one replaces the longest idle one in the same way;
   * if all are busy, it is rejected with 503.
   */
  maxSessionsPerPrincipal?: number | undefined;
  /** GET streams of one session; default 8. More are rejected with 409. */
  maxStreamsPerSession?: number | undefined;
  /** Concurrent requests of one session; default 256. */
  maxInFlightPerSession?: number | undefined;
}

/** Durations of an HTTP server. */
export interface HttpTimes {
  /** A reply becomes an event stream if there is no answer after this time; default 1 s. */
  streamAfterMs?: number | undefined;
  /** Idle time of a stream before a comment is sent; default 15 s, below the idle timeouts of common proxies. */
  keepAliveMs?: number | undefined;
  /** Idle time before a session expires; default 30 min. An open stream counts as activity. */
  sessionIdleMs?: number | undefined;
  /** Time for a client to complete the handshake with `notifications/initialized`; default 30 s. */
  handshakeMs?: number | undefined;
  /** How long a client may take to resume a stream; default 5 min. */
  eventAgeMs?: number | undefined;
  /**
   * How long a process that shares a `storage` may be silent before others take it for gone, and end its calls for clients that
   * resume them; default 10 s.
   */
  nodeLostMs?: number | undefined;
}

/**
 * How much is kept for clients that resume a stream. Beyond these limits a client that reads gets its messages all the same; one that
 * resumes is told that some are gone. What waits for clients that do not read is kept apart and cannot fill the storage.
 */
export interface EventLogLimits {
  /** Events of one stream; default 1,000. */
  maxEvents?: number | undefined;
  /** Bytes of one stream; default 4 MiB. */
  maxBytes?: number | undefined;
  /** Bytes that one process stores for one session; default 16 MiB. The ended streams of the session are dropped first. */
  maxBytesPerSession?: number | undefined;
  /**
   * Bytes that one process stores for all sessions of one authenticated principal; default 64 MiB. Their ended streams are dropped
   * first, so that a principal with many sessions cannot fill the storage of others.
   */
  maxBytesPerPrincipal?: number | undefined;
  /** Ended streams of one session that are kept; default 32, the oldest are dropped first. */
  maxEndedStreams?: number | undefined;
  /**
   * Characters of messages that belong to no request, kept for a session whose client has not opened a GET stream yet;
   * default 65,536, the oldest are dropped first.
   */
  maxUnreadLength?: number | undefined;
  /** The same for all such sessions of one authenticated principal in one process; default 16 Mi. */
  maxUnreadLengthPerPrincipal?: number | undefined;
  /**
   * Characters of answers to questions of another process, kept for it in a shared `storage`, for each session; default
   * 4 Mi, the oldest are dropped first.
   */
  maxAnswersLength?: number | undefined;
  /**
   * The same for all sessions of one authenticated principal, as far as one process has stored them; default 16 Mi. Beyond it an
   * answer is only sent to the process that waits for it.
   */
  maxAnswersLengthPerPrincipal?: number | undefined;
}

/**
 * The two paths of the transport of 2024-11-05.
 *
 * @deprecated The protocol deprecates this transport; clients that know a newer revision need no option.
 */
export interface LegacySseOptions {
  /** The end of the path of the event stream; default `/sse`. */
  path?: string | undefined;
  /** The end of the path for clients' messages; default `/messages`. */
  messagesPath?: string | undefined;
}

/** Options for serving over HTTP, in every runtime. */
export interface HttpServerOptions extends AuthorizationOptions {
  /** The URL that clients use, for example `https://example.com/mcp`; it determines the allowed Host and Origin. */
  publicUrl?: string | undefined;
  /** Further values of `Host`: `"example.com"`, `"example.com:8080"`, `"*.example.com"`, or `"*"` to turn the check off. */
  allowedHosts?: readonly string[] | undefined;
  /** Further values of `Origin`, or `"*"` to turn the check off. */
  allowedOrigins?: readonly string[] | undefined;
  /** Which pages of other origins may call this server from a browser. Default: none. */
  cors?: CorsOptions | undefined;
  /** Headers for a caller that lacks scopes; default a Bearer challenge that lists them. */
  challenge?: ((scopes: readonly string[]) => Readonly<Record<string, string>>) | undefined;
  /**
   * False: no sessions for clients of the stateful era, every POST is independent, and there is no GET. `"auto"`: no session is
   * opened while every tool has `mode: "stateless"` and nothing else needs one. Default true.
   */
  sessions?: boolean | "auto" | undefined;
  /**
   * Also serves the HTTP+SSE transport of 2024-11-05. Off by default.
   *
   * @deprecated The protocol deprecates this transport; set it only for clients that know nothing newer.
   */
  legacySse?: LegacySseOptions | undefined;
  /** Limits on what clients can use; each has its own default. */
  limits?: HttpLimits | undefined;
  /** Durations, in milliseconds; each has its own default. */
  times?: HttpTimes | undefined;
  /** How much a stream keeps for clients that resume it; each limit has its own default. */
  eventLog?: EventLogLimits | undefined;
  /** Answers 200 to GET as long as the process serves, for any Host and without authentication. Default `/healthz`. */
  livePath?: string | false | undefined;
  /**
   * Answers 200 to GET while requests are accepted, and 503 while the server drains, while `isHealthy` says no or while its
   * storage does not answer within a second; for any Host and without authentication. Default `/readyz`.
   */
  readyPath?: string | false | undefined;
  /** Called for each such check; any result except true, or an error, means 503. Default: always healthy. */
  isHealthy?: (() => boolean | Promise<boolean>) | undefined;
  /** Called for each finished request, without credentials. */
  onRequest?: ((entry: RequestLogEntry) => void) | undefined;
  /** Replaces the runtime's clock, timers and network, for example in a test. Default: the runtime's own. */
  platform?: Platform | undefined;
}

/** The names of the options for serving over HTTP. */
export const HTTP_OPTIONS =
  "auth authenticate authenticateMs allowUnauthenticated publicUrl allowedHosts allowedOrigins cors challenge sessions legacySse limits times eventLog livePath readyPath isHealthy onRequest platform";

/** Throws for options that do not exist, in the options for serving over HTTP that are objects themselves. */
export function checkHttpParts({ cors, legacySse, limits, times, eventLog }: HttpServerOptions): void {
  checkOptions("`cors`", cors, "origins credentials headers maxAgeMs");
  checkOptions("`legacySse`", legacySse, "path messagesPath");
  checkOptions(
    "`limits`",
    limits,
    "maxMessageBytes maxUnfinishedBytes maxBatchItems maxInFlight maxInFlightPerPrincipal maxStreams maxStreamsPerPrincipal maxQueuedBytes maxUnsentBytes maxSessions maxSessionsPerPrincipal maxStreamsPerSession maxInFlightPerSession",
  );
  checkOptions("`times`", times, "streamAfterMs keepAliveMs sessionIdleMs handshakeMs eventAgeMs nodeLostMs");
  checkOptions(
    "`eventLog`",
    eventLog,
    "maxEvents maxBytes maxBytesPerSession maxBytesPerPrincipal maxEndedStreams maxUnreadLength maxUnreadLengthPerPrincipal maxAnswersLength maxAnswersLengthPerPrincipal",
  );
}

/** Builds the checks on Host and Origin. Throws for options that would serve other machines without an explicit decision. */
export function checkAccess(options: HttpServerOptions): OriginGuard {
  const { cors } = options;
  checkHttpParts(options);
  const origins = cors === undefined ? [] : corsOrigins(cors);
  if (cors?.credentials === true && origins === "*") {
    throw new McpError("invalid_definition", "`cors` allows `credentials` for every origin", {
      fix: "List the origins that may send credentials.",
    });
  }
  const guard = originGuard({
    publicUrl: options.publicUrl ?? options.auth?.resource,
    allowedHosts: options.allowedHosts,
    allowedOrigins: options.allowedOrigins,
    corsOrigins: origins,
  });
  if (guard.beyondLoopback) requireAuthentication(options, "an allowed host beyond loopback");
  return guard;
}

/** Throws unless the options state who may call a server that other machines can reach. Every transport calls it. */
export function requireAuthentication(
  options: {
    readonly auth?: unknown;
    readonly authenticate?: unknown;
    readonly allowUnauthenticated?: boolean | undefined;
  },
  because: string,
): void {
  if (options.auth !== undefined || options.authenticate !== undefined || options.allowUnauthenticated === true) return;
  throw new McpError("invalid_definition", `The server has ${because}, but no \`authenticate\` option.`, {
    fix: "Set `authenticate`, or `allowUnauthenticated: true` if every client that can reach it may use every tool.",
  });
}

/** True for addresses that only this machine can reach. */
export function isLoopbackAddress(address: string): boolean {
  return address === "::1" || isLoopbackName(address);
}
