/// <reference lib="esnext.disposable" preserve="true" />
export type { HttpFacts, HttpRequest } from "./http/http.js";
export type { CorsOptions } from "./transport/http/server/cors.js";
export { type FetchHandler, fetchHandler } from "./transport/http/server/fetch-handler.js";
export type {
  Authentication,
  AuthenticationRefusal,
  EventLogLimits,
  HttpLimits,
  HttpServerOptions,
  HttpTimes,
  LegacySseOptions,
} from "./transport/http/server/options.js";
export type { RequestLogEntry } from "./transport/http/server/request-log.js";
export type { Principal } from "./transport/transport.js";
