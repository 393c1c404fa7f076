export { nearestName } from "./encoding/nearest-name.js";
export { printable, printableLine } from "./encoding/printable.js";
export type { MiddlewareNotification, NotificationMiddleware } from "./era/notification-middleware.js";
export type {
  ErrorMessage,
  ErrorObject,
  NotificationMessage,
  RequestMessage,
  ResultMessage,
} from "./jsonrpc/message.js";
export {
  type ClientCapabilities,
  type ClientCapabilityPath,
  hasCapability,
  type ServerCapabilities,
} from "./protocol/capabilities.js";
export {
  ERROR_KINDS,
  type ErrorKind,
  HEADER_MISMATCH,
  McpError,
  type McpErrorOptions,
  MISSING_CAPABILITY,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_VERSION,
  URL_ELICITATION_REQUIRED,
  USER_REJECTED,
} from "./protocol/error.js";
export type { Extension } from "./protocol/extension.js";
export {
  type CompleteRequestParams,
  type CompleteResult,
  type Completion,
  type CompletionReference,
  MAX_COMPLETION_VALUES,
  type PromptReference,
  type ResourceTemplateReference,
} from "./protocol/features/completion.js";
export {
  type Annotations,
  type AudioContent,
  type BlobResourceContents,
  type BlockContent,
  blockContent,
  type ContentBlock,
  type ContentType,
  type EmbeddedResource,
  type ImageContent,
  isContentBlock,
  isResourceContents,
  type ResourceContents,
  type ResourceLink,
  type Role,
  type TextContent,
  type TextResourceContents,
} from "./protocol/features/content.js";
export {
  type BooleanSchema,
  type ElicitAction,
  type ElicitationCompleteNotificationParams,
  type ElicitRequestedSchema,
  type ElicitRequestFormParams,
  type ElicitRequestParams,
  type ElicitRequestURLParams,
  type ElicitResult,
  type ElicitValue,
  type EnumSchema,
  isElicitValue,
  type LegacyTitledEnumSchema,
  type MultiSelectEnumSchema,
  type NumberSchema,
  type PrimitiveSchemaDefinition,
  type SingleSelectEnumSchema,
  type StringSchema,
  type TitledEnumOption,
  type TitledMultiSelectEnumSchema,
  type TitledSingleSelectEnumSchema,
  type UntitledMultiSelectEnumSchema,
  type UntitledSingleSelectEnumSchema,
  type URLElicitationRequiredErrorData,
} from "./protocol/features/elicitation.js";
export type {
  CreateMessageInputRequest,
  ElicitInputRequest,
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponse,
  InputResponseRequestParams,
  InputResponses,
  ListRootsInputRequest,
} from "./protocol/features/input.js";
export type {
  NotificationMethod,
  Notifications,
  ParamsOf,
  RequestMethod,
  Requests,
  ResultOf,
} from "./protocol/features/method-types.js";
export { OFFER_KINDS, type OfferKind } from "./protocol/features/offer-kinds.js";
export type {
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsRequestParams,
  ListPromptsResult,
  Prompt,
  PromptArgument,
  PromptListChangedNotificationParams,
  PromptMessage,
} from "./protocol/features/prompts.js";
export type {
  ListResourcesRequestParams,
  ListResourcesResult,
  ListResourceTemplatesRequestParams,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  Resource,
  ResourceListChangedNotificationParams,
  ResourceTemplate,
  ResourceUpdatedNotificationParams,
  SubscribeRequestParams,
  UnsubscribeRequestParams,
} from "./protocol/features/resources.js";
export type {
  ListRootsRequestParams,
  ListRootsResult,
  Root,
  RootsListChangedNotificationParams,
} from "./protocol/features/roots.js";
export {
  type CreateMessageRequestParams,
  type CreateMessageResult,
  isSamplingContent,
  type ModelHint,
  type ModelPreferences,
  type SamplingMessage,
  type SamplingMessageContentBlock,
  type StopReason,
  type ToolChoice,
  type ToolResultContent,
  type ToolUseContent,
} from "./protocol/features/sampling.js";
export type {
  SubscriptionFilter,
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
  SubscriptionsListenResultMetaObject,
} from "./protocol/features/subscriptions.js";
export type {
  CancelledTask,
  CancelTaskRequestParams,
  CancelTaskResult,
  CompletedTask,
  CreateTaskResult,
  DetailedTask,
  FailedTask,
  GetTaskPayloadRequestParams,
  GetTaskPayloadResult,
  GetTaskRequestParams,
  GetTaskResult,
  InputRequiredTask,
  LegacyCreateTaskResult,
  LegacyTask,
  LegacyTaskResult,
  ListTasksRequestParams,
  ListTasksResult,
  RelatedTaskMetadata,
  Task,
  TaskMetadata,
  TaskNotificationParams,
  TaskStatus,
  TaskStatusNotificationParams,
  UpdateTaskRequestParams,
  UpdateTaskResult,
  WorkingTask,
} from "./protocol/features/tasks.js";
export type {
  CallToolRequestParams,
  CallToolResult,
  ListToolsRequestParams,
  ListToolsResult,
  Tool,
  ToolAnnotations,
  ToolExecution,
  ToolInputSchema,
  ToolListChangedNotificationParams,
} from "./protocol/features/tools.js";
export type { Icon, Implementation } from "./protocol/implementation.js";
export type { JSONArray, JSONObject, JSONSchemaObject, JSONValue, MetaObject } from "./protocol/json.js";
export type {
  CancelledNotificationParams,
  DiscoverRequestParams,
  DiscoverResult,
  InitializedNotificationParams,
  InitializeRequestParams,
  InitializeResult,
  MissingRequiredClientCapabilityErrorData,
  PingRequestParams,
  ProgressNotificationParams,
  UnsupportedProtocolVersionErrorData,
} from "./protocol/lifecycle.js";
export {
  isLoggingLevel,
  LOG_LEVELS,
  type LoggingLevel,
  type LoggingMessageNotificationParams,
  passesLevel,
  type SetLevelRequestParams,
} from "./protocol/logging.js";
export type {
  CacheableResult,
  CacheHints,
  CacheScope,
  Cursor,
  EmptyResult,
  NotificationMetaObject,
  NotificationParams,
  PaginatedRequestParams,
  PaginatedResult,
  ProgressToken,
  RequestId,
  RequestMetaObject,
  RequestParams,
  Result,
  ResultMetaObject,
  ResultType,
} from "./protocol/message.js";
export { checkMetaKey, META } from "./protocol/meta.js";
export { CORE_METHODS, type MethodRow } from "./protocol/methods.js";
export { type EraName, isRevision, REVISIONS, type Revision, shownRevision } from "./protocol/revisions.js";
export { TOOL_MODE, type ToolMode, toolMode } from "./protocol/tool-mode.js";
export type { TraceContext } from "./protocol/trace-context.js";
export { expandUriTemplate, type TemplateValue } from "./uri-template/expand.js";
export { parseUriTemplate, type TemplatePart, UriTemplateError } from "./uri-template/parse.js";
