/// <reference lib="esnext.disposable" preserve="true" />
export { ResponseCache } from "./client/cache.js";
export type { Change } from "./client/change-queue.js";
export type { CallArguments, Client, KnownTool, LooseTools, ManyOptions } from "./client/client.js";
export type { CompletionTarget } from "./client/completion.js";
export {
  type Callable,
  connect,
  type KnownServer,
  type LocalServer,
  type Target,
  type TransportMaker,
} from "./client/connect.js";
export { bytesOf, textOf } from "./client/content.js";
export type { ClientCall, ClientMiddleware } from "./client/middleware.js";
export type { ClientEvents, Recovered, StateChange, Unlisten } from "./client/notifications.js";
export type {
  CacheSettings,
  CallOptions,
  ClientOptions,
  Prior,
  QuestionContext,
  Replay,
  Timeouts,
} from "./client/options.js";
export type { ConnectionState } from "./client/state-machine.js";
export type { Subscription } from "./client/subscriptions.js";
export type { SubscriptionTarget } from "./client/wants.js";
export type { HttpFacts, HttpRequest } from "./http/http.js";
export type { Channel, ChannelReceiver } from "./jsonrpc/channel.js";
export type { Fetch, Platform } from "./platform/platform.js";
export { type ErrorKind, McpError, type McpErrorOptions } from "./protocol/error.js";
export type { Extension } from "./protocol/extension.js";
export type { Revision } from "./protocol/revisions.js";
export type { TraceContext } from "./protocol/trace-context.js";
export type { JsonSchemaObject } from "./schema/json-schema.js";
export type { AnySchema, InferInput, InferOutput, JsonSchemaAdapter } from "./schema/standard.js";
export type { CacheOptions } from "./server/cache-hints.js";
export type { Caller, Enabled } from "./server/catalogue.js";
export type { Completer, Completions } from "./server/completion.js";
export { type ConsentHooks, consent, deny, type GuardedCall, type Verdict } from "./server/consent.js";
export { audio, type Block, image, link, resource, result, type ToolResult, text } from "./server/content.js";
export type {
  AskingContext,
  ClientFacts,
  Context,
  ElicitReply,
  HttpContext,
  QuestionOptions,
  SampleRequest,
  UrlQuestionOptions,
} from "./server/context.js";
export type { CapabilityReason } from "./server/explain-capabilities.js";
export type { Offer } from "./server/features.js";
export { isInputRequired } from "./server/input-required.js";
export type { Middleware, MiddlewareCall } from "./server/middleware.js";
export type { CallEnded, CallRefused, CallStarted, Observer } from "./server/observer.js";
export type { ServerInfo, ServerLimits, ServerOptions } from "./server/options.js";
export type { ProgressOptions } from "./server/progress.js";
export {
  assistant,
  type LooseMessage,
  type Prompt,
  type PromptArgumentDefinition,
  type PromptDefinition,
  type PromptHandler,
  type PromptReturn,
  prompt,
  user,
} from "./server/prompt.js";
export { type PromptTemplate, promptTemplate } from "./server/prompt-template.js";
export {
  type ListedResource,
  type ReadContents,
  type ReadHandler,
  type ReadReturn,
  type ResourceDefinition,
  type ResourceTemplate,
  type ResourceTemplateDefinition,
  resourceTemplate,
  type StaticResource,
  staticResource,
  type TemplateReadHandler,
  type Unwatch,
  type Watch,
} from "./server/resource.js";
export { type Mounted, Server } from "./server/server.js";
export type { ServerHandler, ServerHandlerClass } from "./server/server-handler.js";
export {
  type Tool,
  type ToolArguments,
  type ToolDefinition,
  ToolError,
  type ToolHandler,
  type ToolPolicy,
  type ToolTypes,
  tool,
} from "./server/tool.js";
export { urlRequired, type Visit } from "./server/url-required.js";
export { channelTransport } from "./transport/channel-client.js";
export { type ServeChannelOptions, type ServedChannel, serveChannel } from "./transport/channel-server.js";
export type { CorsOptions } from "./transport/http/cors.js";
export { type FetchHandler, fetchHandler } from "./transport/http/fetch-handler.js";
export type { RequestLogEntry } from "./transport/http/request-log.js";
export type {
  Authentication,
  AuthenticationRefusal,
  EventLogLimits,
  HttpLimits,
  HttpServerOptions,
  HttpTimes,
  LegacySseOptions,
} from "./transport/http/server-options.js";
export { type MessagePortOptions, messagePortChannel, type PortLike } from "./transport/message-port.js";
export type { QueueLimits } from "./transport/outbox.js";
export type { CommandTarget } from "./transport/runtime-transports.js";
export type { Servable } from "./transport/servable.js";
export type { Endpoint, Principal, Transport } from "./transport/transport.js";
export {
  type OpenWebSocket,
  type WebSocketTransportOptions,
  webSocketTransport,
} from "./transport/websocket-client.js";
