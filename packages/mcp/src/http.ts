/// <reference lib="esnext.disposable" preserve="true" />

export type { Authentication, AuthenticationRefusal, AuthenticationRequest, Principal } from "./http/authentication.js";
export type { HttpRequestInfo } from "./http/http.js";
export type { AuthenticationOptions } from "./transport/authentication.js";
export { type FetchHandler, fetchHandler } from "./transport/http/fetch-handler.js";
export type { CorsOptions } from "./transport/http/server/cors.js";
export type {
  EventLogLimits,
  HttpLimits,
  HttpServerOptions,
  HttpTimes,
  LegacySseOptions,
} from "./transport/http/server/options.js";
export type { RequestLogEntry } from "./transport/http/server/request-log.js";
export type { ListeningHandle, ServeHandle } from "./transport/serve-handle.js";
