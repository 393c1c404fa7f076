import type * as Lifecycle from "../lifecycle.js";
import type * as Logging from "../logging.js";
import type * as Message from "../message.js";
import type * as Completion from "./completion.js";
import type * as Elicitation from "./elicitation.js";
import type * as Prompts from "./prompts.js";
import type * as Resources from "./resources.js";
import type * as Roots from "./roots.js";
import type * as Sampling from "./sampling.js";
import type * as Subscriptions from "./subscriptions.js";
import type * as Tasks from "./tasks.js";
import type * as Tools from "./tools.js";

/**
 * Parameters and final result of every request of every revision, by method. Interim results (questions, tasks) are
 * resolved before a result reaches a caller, a handler or middleware.
 */
export interface Requests {
  initialize: { params: Lifecycle.InitializeRequestParams; result: Lifecycle.InitializeResult };
  ping: { params: Lifecycle.PingRequestParams; result: Message.EmptyResult };
  "server/discover": { params: Lifecycle.DiscoverRequestParams; result: Lifecycle.DiscoverResult };
  "tools/list": { params: Tools.ListToolsRequestParams; result: Tools.ListToolsResult };
  "tools/call": { params: Tools.CallToolRequestParams; result: Tools.CallToolResult };
  "resources/list": { params: Resources.ListResourcesRequestParams; result: Resources.ListResourcesResult };
  "resources/templates/list": {
    params: Resources.ListResourceTemplatesRequestParams;
    result: Resources.ListResourceTemplatesResult;
  };
  "resources/read": { params: Resources.ReadResourceRequestParams; result: Resources.ReadResourceResult };
  "resources/subscribe": { params: Resources.SubscribeRequestParams; result: Message.EmptyResult };
  "resources/unsubscribe": { params: Resources.UnsubscribeRequestParams; result: Message.EmptyResult };
  "subscriptions/listen": {
    params: Subscriptions.SubscriptionsListenRequestParams;
    result: Subscriptions.SubscriptionsListenResult;
  };
  "prompts/list": { params: Prompts.ListPromptsRequestParams; result: Prompts.ListPromptsResult };
  "prompts/get": { params: Prompts.GetPromptRequestParams; result: Prompts.GetPromptResult };
  "completion/complete": { params: Completion.CompleteRequestParams; result: Completion.CompleteResult };
  "logging/setLevel": { params: Logging.SetLevelRequestParams; result: Message.EmptyResult };
  "sampling/createMessage": { params: Sampling.CreateMessageRequestParams; result: Sampling.CreateMessageResult };
  "roots/list": { params: Roots.ListRootsRequestParams; result: Roots.ListRootsResult };
  "elicitation/create": { params: Elicitation.ElicitRequestParams; result: Elicitation.ElicitResult };
  "tasks/get": { params: Tasks.GetTaskRequestParams; result: Tasks.GetTaskResult | Tasks.LegacyTaskResult };
  "tasks/result": { params: Tasks.GetTaskPayloadRequestParams; result: Tasks.GetTaskPayloadResult };
  "tasks/list": { params: Tasks.ListTasksRequestParams; result: Tasks.ListTasksResult };
  "tasks/cancel": { params: Tasks.CancelTaskRequestParams; result: Tasks.CancelTaskResult | Tasks.LegacyTaskResult };
  "tasks/update": { params: Tasks.UpdateTaskRequestParams; result: Tasks.UpdateTaskResult };
}

/** Parameters of every notification of every revision, by method. */
export interface Notifications {
  "notifications/initialized": Lifecycle.InitializedNotificationParams;
  "notifications/cancelled": Lifecycle.CancelledNotificationParams;
  "notifications/progress": Lifecycle.ProgressNotificationParams;
  "notifications/message": Logging.LoggingMessageNotificationParams;
  "notifications/tools/list_changed": Tools.ToolListChangedNotificationParams;
  "notifications/prompts/list_changed": Prompts.PromptListChangedNotificationParams;
  "notifications/resources/list_changed": Resources.ResourceListChangedNotificationParams;
  "notifications/resources/updated": Resources.ResourceUpdatedNotificationParams;
  "notifications/roots/list_changed": Roots.RootsListChangedNotificationParams;
  "notifications/elicitation/complete": Elicitation.ElicitationCompleteNotificationParams;
  "notifications/subscriptions/acknowledged": Subscriptions.SubscriptionsAcknowledgedNotificationParams;
  "notifications/tasks": Tasks.TaskNotificationParams;
  "notifications/tasks/status": Tasks.TaskStatusNotificationParams;
}

/** The name of a request that some revision defines. */
export type RequestMethod = keyof Requests;

/** The name of a notification that some revision defines. */
export type NotificationMethod = keyof Notifications;

/** Parameters of a request by its method. */
export type ParamsOf<M extends RequestMethod> = Requests[M]["params"];

/** Final result of a request by its method. */
export type ResultOf<M extends RequestMethod> = Requests[M]["result"];
