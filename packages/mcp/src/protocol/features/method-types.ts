import type {
  CancelledNotificationParams,
  DiscoverRequestParams,
  DiscoverResult,
  InitializedNotificationParams,
  InitializeRequestParams,
  InitializeResult,
  PingRequestParams,
  ProgressNotificationParams,
} from "../lifecycle.js";
import type { LoggingMessageNotificationParams, SetLevelRequestParams } from "../logging.js";
import type { EmptyResult } from "../message.js";
import type { CompleteRequestParams, CompleteResult } from "./completion.js";
import type { ElicitationCompleteNotificationParams, ElicitRequestParams, ElicitResult } from "./elicitation.js";
import type {
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsRequestParams,
  ListPromptsResult,
  PromptListChangedNotificationParams,
} from "./prompts.js";
import type {
  ListResourcesRequestParams,
  ListResourcesResult,
  ListResourceTemplatesRequestParams,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  ResourceListChangedNotificationParams,
  ResourceUpdatedNotificationParams,
  SubscribeRequestParams,
  UnsubscribeRequestParams,
} from "./resources.js";
import type { ListRootsRequestParams, ListRootsResult, RootsListChangedNotificationParams } from "./roots.js";
import type { CreateMessageRequestParams, CreateMessageResult } from "./sampling.js";
import type {
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
} from "./subscriptions.js";
import type {
  CancelTaskRequestParams,
  CancelTaskResult,
  GetTaskPayloadRequestParams,
  GetTaskPayloadResult,
  GetTaskRequestParams,
  GetTaskResult,
  LegacyTaskResult,
  ListTasksRequestParams,
  ListTasksResult,
  TaskNotificationParams,
  TaskStatusNotificationParams,
  UpdateTaskRequestParams,
  UpdateTaskResult,
} from "./tasks.js";
import type {
  CallToolRequestParams,
  CallToolResult,
  ListToolsRequestParams,
  ListToolsResult,
  ToolListChangedNotificationParams,
} from "./tools.js";

/**
 * Parameters and final result of every request of every revision, by method. Interim results (questions, tasks) are
 * resolved before a result reaches a caller, a handler or middleware.
 */
export interface Requests {
  initialize: { params: InitializeRequestParams; result: InitializeResult };
  ping: { params: PingRequestParams; result: EmptyResult };
  "server/discover": { params: DiscoverRequestParams; result: DiscoverResult };
  "tools/list": { params: ListToolsRequestParams; result: ListToolsResult };
  "tools/call": { params: CallToolRequestParams; result: CallToolResult };
  "resources/list": { params: ListResourcesRequestParams; result: ListResourcesResult };
  "resources/templates/list": { params: ListResourceTemplatesRequestParams; result: ListResourceTemplatesResult };
  "resources/read": { params: ReadResourceRequestParams; result: ReadResourceResult };
  "resources/subscribe": { params: SubscribeRequestParams; result: EmptyResult };
  "resources/unsubscribe": { params: UnsubscribeRequestParams; result: EmptyResult };
  "subscriptions/listen": { params: SubscriptionsListenRequestParams; result: SubscriptionsListenResult };
  "prompts/list": { params: ListPromptsRequestParams; result: ListPromptsResult };
  "prompts/get": { params: GetPromptRequestParams; result: GetPromptResult };
  "completion/complete": { params: CompleteRequestParams; result: CompleteResult };
  "logging/setLevel": { params: SetLevelRequestParams; result: EmptyResult };
  "sampling/createMessage": { params: CreateMessageRequestParams; result: CreateMessageResult };
  "roots/list": { params: ListRootsRequestParams; result: ListRootsResult };
  "elicitation/create": { params: ElicitRequestParams; result: ElicitResult };
  "tasks/get": { params: GetTaskRequestParams; result: GetTaskResult | LegacyTaskResult };
  "tasks/result": { params: GetTaskPayloadRequestParams; result: GetTaskPayloadResult };
  "tasks/list": { params: ListTasksRequestParams; result: ListTasksResult };
  "tasks/cancel": { params: CancelTaskRequestParams; result: CancelTaskResult | LegacyTaskResult };
  "tasks/update": { params: UpdateTaskRequestParams; result: UpdateTaskResult };
}

/** Parameters of every notification of every revision, by method. */
export interface Notifications {
  "notifications/initialized": InitializedNotificationParams;
  "notifications/cancelled": CancelledNotificationParams;
  "notifications/progress": ProgressNotificationParams;
  "notifications/message": LoggingMessageNotificationParams;
  "notifications/tools/list_changed": ToolListChangedNotificationParams;
  "notifications/prompts/list_changed": PromptListChangedNotificationParams;
  "notifications/resources/list_changed": ResourceListChangedNotificationParams;
  "notifications/resources/updated": ResourceUpdatedNotificationParams;
  "notifications/roots/list_changed": RootsListChangedNotificationParams;
  "notifications/elicitation/complete": ElicitationCompleteNotificationParams;
  "notifications/subscriptions/acknowledged": SubscriptionsAcknowledgedNotificationParams;
  "notifications/tasks": TaskNotificationParams;
  "notifications/tasks/status": TaskStatusNotificationParams;
}

/** The name of a request that some revision defines. */
export type RequestMethod = keyof Requests;

/** The name of a notification that some revision defines. */
export type NotificationMethod = keyof Notifications;

/** Parameters of a request by its method. */
export type ParamsOf<M extends RequestMethod> = Requests[M]["params"];

/** Final result of a request by its method. */
export type ResultOf<M extends RequestMethod> = Requests[M]["result"];
