import type { Platform } from "../../../platform/platform.js";
import { checkOptions } from "../../../protocol/check-options.js";
import { McpError } from "../../../protocol/error.js";
import type { AuthorizationOptions } from "../../authentication.js";
import type { CorsOptions } from "./cors.js";
import { corsOrigins, isLoopbackName, type OriginGuard, originGuard } from "./origin.js";
import type { RequestLogEntry } from "./request-log.js";

/** Limits on the resources that clients can use. */
export interface HttpLimits {
  /** Largest request body, in bytes. Default 4 MiB. The server rejects longer bodies with 413. */
  maxMessageBytes?: number | undefined;
  /**
   * Maximum number of bytes of all request bodies that are being received. Default 256 MiB. The server rejects a
   * request that would exceed it with 503.
   */
  maxUnfinishedBytes?: number | undefined;
  /**
   * Maximum number of messages in one batch, in revisions that have batches. Default 100. The server rejects larger
   * batches with 400.
   */
  maxBatchItems?: number | undefined;
  /**
   * Maximum number of requests whose handlers run, where each request of a batch counts. The same limit applies
   * separately to requests that are being authenticated or received. Default 4,096 of each. The server rejects further
   * requests with 503.
   *
   * A request counts until its handler ends, even if the client has disconnected, but not while its reply is an open
   * stream.
   */
  maxInFlight?: number | undefined;
  /**
   * Maximum number of requests in flight of one authenticated principal, as part of `maxInFlight`. Default 1,024. The
   * server rejects further requests with 503.
   */
  maxInFlightPerPrincipal?: number | undefined;
  /** Maximum number of open event streams. Default 16,384. The server rejects further streams with 503. */
  maxStreams?: number | undefined;
  /**
   * Maximum number of open event streams of one authenticated principal. Default 1,024. The server rejects further
   * streams with 503.
   */
  maxStreamsPerPrincipal?: number | undefined;
  /**
   * Maximum number of bytes queued for a client that does not read its stream. Beyond it the server closes the
   * connection. Default 1 MiB.
   */
  maxQueuedBytes?: number | undefined;
  /**
   * Maximum total size of complete replies that clients have not read yet, in bytes, over all connections. Default 128
   * MiB. Beyond it the server closes the connection that has waited longest. Applies only in runtimes that report
   * unread bytes (Node).
   */
  maxUnsentBytes?: number | undefined;
  /**
   * Maximum number of sessions in the memory of one node. Default 10,000. At the limit, a new session replaces one that
   * was idle for 5 minutes, or the longest idle session of the principal with the most sessions. If there is none, the
   * server rejects the new session with 503. The replaced session ends, unless another node on the same `storage` uses
   * it. In that case only this node forgets it.
   */
  maxSessions?: number | undefined;
  /**
   * Maximum number of sessions of one authenticated principal on one node. Default 1,024. At the limit, a new session
   * replaces the longest idle one. If all are busy, the server rejects the new session with 503.
   */
  maxSessionsPerPrincipal?: number | undefined;
  /** Maximum number of open GET streams of one session. Default 8. The server rejects further streams with 409. */
  maxStreamsPerSession?: number | undefined;
  /**
   * Maximum number of concurrent requests of one session. Default 256. The server rejects further requests with 503.
   */
  maxInFlightPerSession?: number | undefined;
}

/** Durations of an HTTP server, in milliseconds. */
export interface HttpTimes {
  /** Time without an answer after which the reply becomes an event stream. Default 1 s. */
  streamAfterMs?: number | undefined;
  /**
   * Idle time of a stream before the server sends a keep-alive comment. Default 15 s, below the idle timeouts of common
   * proxies.
   */
  keepAliveMs?: number | undefined;
  /** Idle time after which a session expires. Default 30 min. An open stream counts as activity. */
  sessionIdleMs?: number | undefined;
  /**
   * Time for a client to complete the handshake with `notifications/initialized`. After that the session expires.
   * Default 30 s.
   */
  handshakeMs?: number | undefined;
  /** Time for which events are stored, so that a client can resume a stream. Default 5 min. */
  eventAgeMs?: number | undefined;
  /**
   * Time after which a process that no longer renews its lease in the shared `storage` counts as lost. Other processes
   * then end its calls for clients that resume them. Default 10 s.
   */
  nodeLostMs?: number | undefined;
}

/**
 * Limits on the events that the server stores for clients that resume a stream. Beyond these limits a connected client
 * still receives its messages. A client that resumes learns that some messages are gone. Messages for clients that
 * never read have their own limits, so they cannot fill the storage.
 */
export interface EventLogLimits {
  /** Maximum number of events of one stream. Default 1,000. */
  maxEvents?: number | undefined;
  /** Maximum number of bytes of one stream. Default 4 MiB. */
  maxBytes?: number | undefined;
  /**
   * Maximum number of bytes that one process stores for one session. Default 16 MiB. At the limit the process drops the
   * ended streams of the session first.
   */
  maxBytesPerSession?: number | undefined;
  /**
   * Maximum number of bytes that one process stores for all sessions of one authenticated principal. Default 64 MiB. At
   * the limit the process drops the ended streams of these sessions first, so that a principal with many sessions
   * cannot fill the storage of others.
   */
  maxBytesPerPrincipal?: number | undefined;
  /** Maximum number of ended streams that are stored for one session. Default 32. The oldest are dropped first. */
  maxEndedStreams?: number | undefined;
  /**
   * Maximum number of characters of messages outside requests that are stored for a session whose client has not opened
   * a GET stream yet. Default 65,536. The oldest messages are dropped first.
   */
  maxUnreadLength?: number | undefined;
  /**
   * The same limit as `maxUnreadLength`, for all sessions of one authenticated principal in one process. Default 16 Mi.
   */
  maxUnreadLengthPerPrincipal?: number | undefined;
  /**
   * Maximum total length of the stored answers of one session, in characters. A process stores a client's answer if
   * another process on the same `storage` sent the request, for example an elicitation. Default 4 Mi. The oldest
   * answers are dropped first.
   */
  maxAnswersLength?: number | undefined;
  /**
   * The same limit as `maxAnswersLength`, for all sessions of one authenticated principal, counted per process. Default
   * 16 Mi. Beyond it the process sends an answer to the process that waits for it, but does not store it.
   */
  maxAnswersLengthPerPrincipal?: number | undefined;
}

/**
 * The two paths of the HTTP+SSE transport of 2024-11-05.
 *
 * @deprecated The protocol deprecates this transport; clients that know a newer revision need no option.
 */
export interface LegacySseOptions {
  /** End of the path of the event stream. Default `/sse`. */
  path?: string | undefined;
  /** End of the path for messages of the client. Default `/messages`. */
  messagesPath?: string | undefined;
}

/** Options for serving over HTTP, in every runtime. */
export interface HttpServerOptions extends AuthorizationOptions {
  /** The URL that clients use, for example `https://example.com/mcp`. It determines the allowed Host and Origin. */
  publicUrl?: string | undefined;
  /**
   * Further allowed values of `Host`: `"example.com"`, `"example.com:8080"`, `"*.example.com"`, or `"*"` to turn the
   * check off.
   */
  allowedHosts?: readonly string[] | undefined;
  /** Further allowed values of `Origin`, or `"*"` to turn the check off. */
  allowedOrigins?: readonly string[] | undefined;
  /** Pages of other origins that may call this server from a browser. Default: none. */
  cors?: CorsOptions | undefined;
  /** Headers of the reply to a caller that lacks scopes. Default: a Bearer challenge that lists them. */
  challenge?: ((scopes: readonly string[]) => Readonly<Record<string, string>>) | undefined;
  /**
   * False: no sessions for clients of the stateful era. Every POST is independent, and there is no GET. `"auto"`: the
   * server opens no session while every tool has `mode: "stateless"` and nothing else needs one. Default true.
   */
  sessions?: boolean | "auto" | undefined;
  /**
   * Also serves the HTTP+SSE transport of 2024-11-05. Off by default.
   *
   * @deprecated The protocol deprecates this transport; set it only for clients that know nothing newer.
   */
  legacySse?: LegacySseOptions | undefined;
  /** Limits on the resources that clients can use. Each has its own default. */
  limits?: HttpLimits | undefined;
  /** Durations, in milliseconds. Each has its own default. */
  times?: HttpTimes | undefined;
  /** How much the server stores for clients that resume a stream. Each limit has its own default. */
  eventLog?: EventLogLimits | undefined;
  /**
   * Path that answers 200 to GET while the process serves, for any Host and without authentication. False: no such
   * path. Default `/healthz`.
   */
  livePath?: string | false | undefined;
  /**
   * Path that answers 200 to GET while the server accepts requests. It answers 503 while the server drains, while
   * `isHealthy` does not return true, or while the storage does not answer within a second. Works for any Host and
   * without authentication. False: no such path. Default `/readyz`.
   */
  readyPath?: string | false | undefined;
  /** Called for each readiness check. Any result except true, or an error, means 503. Default: always healthy. */
  isHealthy?: (() => boolean | Promise<boolean>) | undefined;
  /**
   * Answers a browser that opens the address of the endpoint with a page: what the server is, and how to add it to
   * applications. The page shows nothing that needs a login. Default: true.
   */
  browserPage?: boolean | undefined;
  /** Called for each finished request. The entry contains no credentials. */
  onRequest?: ((entry: RequestLogEntry) => void) | undefined;
  /** Replaces the runtime's clock, timers and network, for example in a test. Default: the runtime's own. */
  platform?: Platform | undefined;
}

/** Names of the options for serving over HTTP. */
export const HTTP_OPTIONS =
  "auth authenticate authenticateMs allowUnauthenticated publicUrl allowedHosts allowedOrigins cors challenge sessions legacySse limits times eventLog livePath readyPath isHealthy browserPage onRequest platform";

/** Throws for unknown names in the nested option objects. */
export function checkNestedHttpOptions({ cors, legacySse, limits, times, eventLog }: HttpServerOptions): void {
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

/**
 * Builds the checks on Host and Origin. Throws for invalid options, and for options that let other machines call the
 * server without authentication, unless `allowUnauthenticated` is set.
 */
export function checkAccess(options: HttpServerOptions): OriginGuard {
  const { cors } = options;
  checkNestedHttpOptions(options);
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

/**
 * Throws unless the options state who may call a server that other machines can reach. Every network transport calls
 * this function.
 */
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

/** True if only this machine can reach the address. */
export function isLoopbackAddress(address: string): boolean {
  return address === "::1" || isLoopbackName(address);
}
