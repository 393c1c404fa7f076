import type { IncomingMessage, ServerResponse } from "node:http";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { METRICS_TYPES, type MetricsSource } from "../../http/metrics-source.js";
import type { Platform } from "../../platform/platform.js";
import { authenticationOf, isPrincipal, readAuthentication } from "../../transport/authentication.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import { originGuard } from "../../transport/http/server/origin.js";
import { authenticationRequest } from "./authentication-request.js";

/** Sends a complete reply. */
type SendText = (response: ServerResponse, status: number, body: string, type?: string) => void;

/**
 * Shows metrics to those who may call the server: whom `authenticate` admits, or without it programs on this machine that do
 * not come through a proxy.
 */
export function metricsRoute(
  source: MetricsSource,
  options: HttpServerOptions,
  platform: Platform,
  reply: SendText,
): (request: IncomingMessage, response: ServerResponse) => void {
  const authenticate = authenticationOf(options, platform);
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (authenticate !== undefined) {
      const identity = readAuthentication(await authenticate(authenticationRequest(request), request));
      if (!isPrincipal(identity)) return reply(response, identity.status, error("the sender is not authorized"));
    } else if (!isLocal(request)) return reply(response, 403, error(ONLY_HERE));
    const format = /application\/openmetrics-text/.test(request.headers.accept ?? "") ? "openmetrics" : "prometheus";
    reply(response, 200, source.text(format), METRICS_TYPES[format]);
  };
  return (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return reply(response, 405, error("use GET"));
    serve(request, response).catch((failure: unknown) => {
      platform.warn(`the metrics could not be shown: ${thrownMessage(failure)}`);
      reply(response, 500, error("the metrics could not be shown"));
    });
  };
}

const ONLY_HERE =
  "metrics are shown to programs on this machine only; set `authenticate`, or serve `metrics.text()` on a port of its own";
const OF_PROXIES = /^(x-forwarded-.*|forwarded|via|x-real-ip)$/;
const LOOPBACK = originGuard({});

/** Pages of other sites that were pointed here by their name servers are no programs of this machine. */
function isLocal({ headers, headersDistinct, httpVersion, socket }: IncomingMessage): boolean {
  // Proxies whose configuration adds no header often speak HTTP/1.0, which programs of today do not.
  const isProxied = httpVersion === "1.0" || Object.keys(headers).some((name) => OF_PROXIES.test(name));
  const isHere = /^::1$|^(::ffff:)?127\./.test(socket.remoteAddress ?? "");
  return isHere && !isProxied && headersDistinct["host"]?.length === 1 && LOOPBACK.host(headers.host ?? "");
}

function error(message: string): string {
  return JSON.stringify({ error: message });
}
