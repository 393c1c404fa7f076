import type { IncomingMessage, Server as NodeServer, ServerResponse } from "node:http";
import type { TlsOptions } from "node:tls";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { METRICS_TYPES, type MetricsSource } from "../../http/http.js";
import { atMost } from "../../platform/pause.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { authenticationOf, isPrincipal, readAuthentication } from "../../transport/authentication.js";
import {
  HTTP_OPTIONS,
  type HttpServerOptions,
  isLoopbackAddress,
  requireAuthentication,
} from "../../transport/http/server/options.js";
import { originGuard } from "../../transport/http/server/origin.js";
import type { HttpCore } from "../../transport/http/server.js";
import { disposable, endpointOf, type ListeningHandle, type Servable } from "../../transport/serve-handle.js";
import { builtin } from "../builtin.js";
import { endedOnSignals } from "../end-on-signals.js";
import { watchEventLoop } from "../event-loop-delay.js";
import { platform } from "../platform.js";
import { bind, withBoundHost } from "./bind.js";
import { authenticationRequest, handlerAndCore, listenerOf, type NodeHandler } from "./handler.js";

/** Options for `serveHttp`. */
export interface ServeHttpOptions extends HttpServerOptions {
  /** Port to listen on. 0 picks a free port. Default: 3000. */
  port?: number | undefined;
  /** Address to listen on. Default: loopback, in both address families if available. */
  host?: string | undefined;
  /** Path of the MCP endpoint. Default: `/mcp`. */
  path?: string | undefined;
  /** Older path of the readiness check, with the same status as `readyPath`. False disables it. Default: `/health`. */
  healthPath?: string | false | undefined;
  /**
   * Serves these metrics at `metricsPath` to callers that `authenticate` accepts. Without `authenticate`, serves them
   * only to programs on this machine. Adds gauges for open streams, running requests and the event loop delay. Default:
   * no metrics.
   */
  metrics?: MetricsSource | undefined;
  /** Path of the metrics. Default: `/metrics`. */
  metricsPath?: string | undefined;
  /**
   * Time in milliseconds during which `drain` still accepts requests while `readyPath` answers 503. Gives a load
   * balancer time to stop sending requests; choose more than two of its check intervals. Counts towards the time of
   * `drain`. Default: 0.
   */
  drainDelayMs?: number | undefined;
  /** Maximum number of open connections. Default: 16,384. */
  maxConnections?: number | undefined;
  /** Maximum time for receiving all headers of a request, in milliseconds. Default: 15 s. */
  headersTimeoutMs?: number | undefined;
  /** Maximum time for receiving a whole request with its body, in milliseconds. Default: 30 s. */
  requestTimeoutMs?: number | undefined;
  /**
   * Time after which an idle connection is closed, in milliseconds. Default: 65 s, longer than common load balancers
   * wait, so that the load balancer closes the connection first.
   */
  keepAliveTimeoutMs?: number | undefined;
  /**
   * Certificate and key, as for `node:https`. Serves HTTPS if set. With `requestCert` and `ca`, clients need a
   * certificate, which `authenticate` can read from `native.socket`. Default: HTTP, for use behind a proxy that
   * terminates TLS.
   */
  tls?: TlsOptions | undefined;
}

/**
 * Serves a server over HTTP, for clients of every revision. Resolves when the server accepts connections. Rejects if
 * the address is not available, or if other machines could call the server and the options do not state who may call
 * it. `drain` of the handle takes at most 10 s by default.
 */
export async function serveHttp(servable: Servable, options: ServeHttpOptions = {}): Promise<ListeningHandle> {
  checkOptions(
    "serveHttp",
    options,
    `${HTTP_OPTIONS} port host path healthPath metrics metricsPath drainDelayMs maxConnections headersTimeoutMs requestTimeoutMs keepAliveTimeoutMs tls`,
  );
  const { host, port = 3000, path = "/mcp" } = options;
  if (!path.startsWith("/")) {
    throw new McpError("invalid_definition", `\`path\` must begin with a slash: ${JSON.stringify(path)}`, {
      fix: 'Pass the path that clients use, for example "/mcp".',
    });
  }
  if (host !== undefined && !isLoopbackAddress(host)) requireAuthentication(options, `the address ${host}`);
  let draining = false;
  const isHealthy = async () => !draining && ((await options.isHealthy?.()) ?? true) === true;
  const { handler, core } = handlerAndCore(servable, { ...withBoundHost(options), isHealthy });
  const metrics = watchedMetrics(options, core);
  const paths = servedPaths(path, options);
  const listener = listenerOf(handler, core, paths, router(handler, paths, options, core, metrics?.route));
  const bound = await bind(() => configure(makeServer(options, listener), options), host, port);
  const end = async (graceMs = 0) => {
    draining = true;
    metrics?.stop();
    await handler.close();
    await bound.close(graceMs);
  };
  const handle = disposable({
    url: `http${options.tls === undefined ? "" : "s"}://${bound.host}:${bound.port}${path}`,
    port: bound.port,
    closed: bound.closed,
    async drain(graceMs = 10_000) {
      const deadline = platform.monotonic() + graceMs;
      draining = true;
      core.state.closesConnections = true;
      const delayMs = Math.min(options.drainDelayMs ?? 0, graceMs);
      if (delayMs > 0) await atMost(platform, delayMs, bound.closed, true);
      bound.stopListening();
      const drained = handler.drain(Math.max(0, deadline - platform.monotonic()));
      bound.closeIdle();
      await drained;
      await end(Math.max(0, deadline - platform.monotonic()));
    },
    close: () => end(),
  });
  return endedOnSignals(handle, endpointOf(servable), platform);
}

function makeServer(options: ServeHttpOptions, listener: Listener): NodeServer {
  const { tls } = options;
  if (tls === undefined) return builtin("node:http").createServer(serverOptions(options), listener);
  try {
    return builtin("node:https").createServer({ ...serverOptions(options), ...tls }, listener);
  } catch (error) {
    throw new McpError("invalid_definition", `\`tls\` cannot be used: ${thrownMessage(error)}`, {
      cause: error,
      fix: "Pass `cert` and `key` that belong together, as PEM.",
    });
  }
}

function serverOptions(options: ServeHttpOptions) {
  return {
    headersTimeout: options.headersTimeoutMs ?? 15_000,
    requestTimeout: options.requestTimeoutMs ?? 30_000,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 65_000,
    // Interval of the checks for slow requests.
    connectionsCheckingInterval: 2000,
    keepAlive: true,
    // Detects clients that have vanished, unless written data is unacknowledged. See `DeadConnections`.
    keepAliveInitialDelay: 30_000,
    noDelay: true,
  };
}

function configure(server: NodeServer, options: ServeHttpOptions): NodeServer {
  server.maxConnections = options.maxConnections ?? 16_384;
  // Closes connections without traffic, to free replies that a client does not read. Keep-alive comments are traffic,
  // so open streams stay open.
  server.timeout = Math.max(120_000, 2 * (options.times?.keepAliveMs ?? 0));
  return server;
}

function servedPaths(path: string, options: ServeHttpOptions): ReadonlySet<string> {
  const { legacySse, auth, livePath = "/healthz", readyPath = "/readyz" } = options;
  const legacy = legacySse === undefined ? [] : [legacySse.path ?? "/sse", legacySse.messagesPath ?? "/messages"];
  const probes = [livePath, readyPath].filter((probe) => probe !== false);
  return new Set([path, ...legacy, ...(auth?.paths ?? []), ...probes]);
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Adds gauges of this server to the metrics and creates the route that serves them. */
function watchedMetrics(options: ServeHttpOptions, { state }: HttpCore): { route: Listener; stop(): void } | undefined {
  const { metrics } = options;
  if (metrics === undefined) return undefined;
  watchEventLoop(metrics);
  const streams = metrics.gauge("mcp_http_streams", "Number of open event streams.", () => state.connections.size);
  const running = metrics.gauge(
    "mcp_http_requests_running",
    "Number of HTTP requests in progress.",
    () => state.unfinished,
  );
  const stop = () => {
    streams();
    running();
  };
  return { route: metricsRoute(metrics, options, options.platform ?? platform), stop };
}

/** Serves requests whose URL is not exactly one of `paths`. */
function router(
  handler: NodeHandler,
  paths: ReadonlySet<string>,
  { healthPath = "/health", metricsPath = "/metrics" }: ServeHttpOptions,
  core: HttpCore,
  metrics: Listener | undefined,
): Listener {
  return (request, response) => {
    const target = pathOf(request.url ?? "");
    if (paths.has(target)) return handler(request, response);
    if (healthPath !== false && target === healthPath) {
      void core.isReady().then((ready) => replyHealth(response, ready));
      return;
    }
    if (metrics !== undefined && target === metricsPath) return metrics(request, response);
    reply(response, 404, JSON.stringify({ error: `not found; the MCP endpoint is ${[...paths][0]}` }));
  };
}

function replyHealth(response: ServerResponse, healthy: boolean): void {
  reply(response, healthy ? 200 : 503, JSON.stringify({ status: healthy ? "ok" : "unavailable" }));
}

function pathOf(url: string): string {
  if (!url.startsWith("/")) return URL.canParse(url) ? new URL(url).pathname : url;
  return url.split("?", 1)[0] ?? url;
}

function reply(response: ServerResponse, status: number, body: string, type = "application/json"): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

/**
 * Serves metrics to callers that `authenticate` accepts. Without `authenticate`, serves them to programs on this
 * machine that do not connect through a proxy.
 */
function metricsRoute(source: MetricsSource, options: HttpServerOptions, platform: Platform): Listener {
  const authenticate = authenticationOf(options, platform);
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (authenticate !== undefined) {
      const identity = readAuthentication(await authenticate(authenticationRequest(request), request));
      if (!isPrincipal(identity)) return reply(response, identity.status, error("the sender is not authorized"));
    } else if (!isLocal(request)) return reply(response, 403, error(LOCAL_ONLY));
    const format = /application\/openmetrics-text/.test(request.headers.accept ?? "") ? "openmetrics" : "prometheus";
    reply(response, 200, source.text(format), METRICS_TYPES[format]);
  };
  return (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return reply(response, 405, error("use GET"));
    serve(request, response).catch((failure: unknown) => {
      platform.warn(`the metrics could not be served: ${thrownMessage(failure)}`);
      reply(response, 500, error("the metrics could not be served"));
    });
  };
}

const LOCAL_ONLY =
  "metrics are available only to programs on this machine; set `authenticate`, or serve `metrics.text()` on a separate port";
const PROXY_HEADERS = /^(x-forwarded-.*|forwarded|via|x-real-ip)$/;
const LOOPBACK_GUARD = originGuard({});

/**
 * True if the request comes from a program on this machine. Checks the Host, because a web page with a rebound DNS name
 * also connects from here.
 */
function isLocal({ headers, headersDistinct, httpVersion, socket }: IncomingMessage): boolean {
  // Proxies that add no header often use HTTP/1.0, which current programs do not use.
  const isProxied = httpVersion === "1.0" || Object.keys(headers).some((name) => PROXY_HEADERS.test(name));
  const isHere = /^::1$|^(::ffff:)?127\./.test(socket.remoteAddress ?? "");
  return isHere && !isProxied && headersDistinct["host"]?.length === 1 && LOOPBACK_GUARD.host(headers.host ?? "");
}

function error(message: string): string {
  return JSON.stringify({ error: message });
}
