export type {
  AnswerEnded,
  AnswerFollower,
  AnswerStarted,
  ClientObserver,
  ConnectionChange,
  RequestEnded,
  RequestFollower,
  RequestStarted,
} from "./client/contract/observer.js";
export type { MetricsFormat, MetricsSource } from "./http/http.js";
export type {
  CallEnded,
  CallFollower,
  CallLayer,
  CallRefused,
  CallStarted,
  Observer,
  QuestionEnded,
  QuestionFollower,
  QuestionStarted,
  SenderRefused,
  SessionClosed,
} from "./server/contract/observer.js";
export { type CallLine, type CallLogger, type LogCallsOptions, logCalls } from "./telemetry/log-calls.js";
export type { OpenTelemetryApi } from "./telemetry/open-telemetry-api.js";
export { type Metrics, prometheusMetrics } from "./telemetry/prometheus-metrics.js";
export { type Telemetry, type TelemetryOptions, telemetry } from "./telemetry/telemetry.js";
export { type CallTracer, type TraceCallsOptions, traceCalls } from "./telemetry/trace-calls.js";
export type { TraceLayer, TraceSpan } from "./telemetry/trace-span.js";
export { formatTrace } from "./telemetry/trace-span.js";
