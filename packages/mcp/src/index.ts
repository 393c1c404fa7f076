/// <reference lib="esnext.disposable" preserve="true" />
/** Builds prompt messages of the user and of the assistant. */
import * as message from "./server/prompts/message.js";
/** Builds content blocks and complete tool results. */
import * as content from "./server/tools/content.js";

export type { Tried } from "./client/call/read-result.js";
export type { Change } from "./client/changes/change-queue.js";
export type { Subscription } from "./client/changes/subscriptions.js";
export type { Client } from "./client/client.js";
export { type ClientOf, connect, type Target } from "./client/connect.js";
export { ResponseCache } from "./client/contract/cache.js";
export type { ClientEvents } from "./client/contract/events.js";
export type { ClientMiddleware } from "./client/contract/middleware.js";
export type { CallOptions, ClientOptions, QuestionContext } from "./client/contract/options.js";
export { bytesOf, textOf } from "./client/features/content.js";
export type { Prior } from "./era/negotiate/negotiation.js";
export type { Principal } from "./http/authentication.js";
export { type ErrorKind, McpError } from "./protocol/error.js";
export type { Block, ToolResult } from "./protocol/features/block.js";
export type { OfferKind } from "./protocol/features/offer-kinds.js";
export type { Revision } from "./protocol/revisions.js";
export type { AnySchema, InferInput, InferOutput } from "./schema/standard.js";
export { type ConsentHooks, consent } from "./server/call/consent.js";
export { isInputRequired } from "./server/call/input-required.js";
export type { Middleware } from "./server/call/middleware.js";
export { urlRequired } from "./server/call/url-required.js";
export type { ElicitReply, HandlerContext, RequestContext, SampleRequest } from "./server/contract/context.js";
export type { Observer } from "./server/contract/observer.js";
export type { Completer } from "./server/contract/offer-options.js";
export type { ServerInfo, ServerOptions } from "./server/contract/options.js";
export { type PromptDefinition, type PromptHandler, type PromptOffer, prompt } from "./server/contract/prompt.js";
export {
  type ReadHandler,
  type ResourceDefinition,
  type ResourceOffer,
  type ResourceTemplateDefinition,
  type ResourceTemplateOffer,
  resource,
  resourceTemplate,
  type TemplateReadHandler,
} from "./server/contract/resource.js";
export type {
  FoundOffer,
  Offer,
  OfferItems,
  OfferList,
  OfferPage,
  Source,
  SourceCall,
} from "./server/contract/source.js";
export {
  type ToolDefinition,
  ToolError,
  type ToolHandler,
  type ToolOffer,
  type ToolTypes,
  tool,
} from "./server/contract/tool.js";
export type { ServerHandler } from "./server/handler/server-handler.js";
export { promptTemplate } from "./server/prompts/template.js";
export { Server } from "./server/server.js";
export { fetchHandler } from "./transport/http/fetch-handler.js";
export { content, message };
