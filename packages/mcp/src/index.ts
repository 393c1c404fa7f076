/// <reference lib="esnext.disposable" preserve="true" />
export { ResponseCache } from "./client/call/cache.js";
export type { Change } from "./client/changes/change-queue.js";
export type { ClientEvents, Recovered, StateChange, Unlisten } from "./client/changes/notifications.js";
export type { SubscriptionTarget } from "./client/changes/subscription-filter.js";
export type { Subscription } from "./client/changes/subscriptions.js";
export type { CallArguments, Client, KnownTool, LooseTools, ManyOptions } from "./client/client.js";
export {
  type Callable,
  connect,
  type KnownServer,
  type LocalServer,
  type Target,
  type TransportMaker,
} from "./client/connect.js";
export type { ConnectionState } from "./client/connection/connection-state.js";
export type { CompletionTarget } from "./client/features/completion.js";
export { bytesOf, textOf } from "./client/features/content.js";
export type { ClientCall, ClientMiddleware } from "./client/middleware.js";
export type {
  CacheSettings,
  CallOptions,
  ClientOptions,
  QuestionContext,
  ResendPolicy,
  Timeouts,
} from "./client/options.js";
export type { Prior } from "./era/negotiate/prior.js";
export type { HttpFacts, HttpRequest } from "./http/http.js";
export type { Channel, ChannelReceiver } from "./jsonrpc/channel.js";
export type { Fetch, Platform } from "./platform/platform.js";
export { type ErrorKind, McpError, type McpErrorOptions } from "./protocol/error.js";
export type { Extension } from "./protocol/extension.js";
export type { Revision } from "./protocol/revisions.js";
export type { TraceContext } from "./protocol/trace-context.js";
export type { JsonSchemaObject } from "./schema/json-schema.js";
export type { AnySchema, InferInput, InferOutput, JsonSchemaAdapter } from "./schema/standard.js";
export { type ConsentHooks, consent, deny, type GuardedCall, type Verdict } from "./server/consent.js";
export type {
  ClientFacts,
  ElicitReply,
  HandlerContext,
  HttpContext,
  ProgressOptions,
  QuestionOptions,
  RequestContext,
  SampleRequest,
  UrlQuestionOptions,
} from "./server/context.js";
export type { ServerHandler, ServerHandlerClass } from "./server/handler/server-handler.js";
export type { CacheOptions } from "./server/lists/cache-hints.js";
export type { VisibilityCaller, VisibleTo } from "./server/lists/catalogue.js";
export type { Completer, Completions } from "./server/lists/completion.js";
export type { CapabilityReason } from "./server/lists/explain-capabilities.js";
export type { Offer } from "./server/lists/features.js";
export type { Middleware, MiddlewareCall } from "./server/middleware.js";
export type { CallEnded, CallRefused, CallStarted, Observer } from "./server/observer.js";
export type { ServerInfo, ServerLimits, ServerOptions } from "./server/options.js";
export {
  assistant,
  type LooseMessage,
  type PromptArgumentDefinition,
  type PromptDefinition,
  type PromptHandler,
  type PromptOffer,
  type PromptReturn,
  prompt,
  user,
} from "./server/prompts/prompt.js";
export { type PromptTemplate, promptTemplate } from "./server/prompts/template.js";
export { isInputRequired } from "./server/questions/interruption.js";
export { type PageToVisit, urlRequired } from "./server/questions/url-required.js";
export {
  type ListedResource,
  type ReadContents,
  type ReadHandler,
  type ReadReturn,
  type ResourceDefinition,
  type ResourceOffer,
  type ResourceTemplateDefinition,
  type ResourceTemplateOffer,
  resourceTemplate,
  staticResource,
  type TemplateReadHandler,
  type Unwatch,
  type Watch,
} from "./server/resources/resource.js";
export { type Mounted, Server } from "./server/server.js";
export { audio, type Block, image, link, resource, result, type ToolResult, text } from "./server/tools/content.js";
export {
  type ToolArguments,
  type ToolDefinition,
  ToolError,
  type ToolHandler,
  type ToolOffer,
  type ToolTypes,
  tool,
} from "./server/tools/tool.js";
export type { ToolPolicy } from "./server/tools/tool-policy.js";
export { channelTransport } from "./transport/channel/client.js";
export { type MessagePortOptions, messagePortChannel, type PortLike } from "./transport/channel/message-port.js";
export type { QueueLimits } from "./transport/channel/outbox.js";
export { type ServeChannelOptions, type ServedChannel, serveChannel } from "./transport/channel/server.js";
export {
  type OpenWebSocket,
  type WebSocketTransportOptions,
  webSocketTransport,
} from "./transport/channel/websocket-client.js";
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
export type { CommandTarget } from "./transport/runtime-transports.js";
export type { Servable } from "./transport/servable.js";
export type { Endpoint, Principal, Transport } from "./transport/transport.js";
