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
 * Parameters and final result of every request of every revision, by method. The library resolves interim results
 * (questions, tasks) before a result reaches a caller, a handler or middleware.
 */
export interface Requests {
  /** Opens a session. 2024-11-05 to 2025-11-25. */
  initialize: { params: Lifecycle.InitializeRequestParams; result: Lifecycle.InitializeResult };
  /** Checks that the other side responds. 2024-11-05 to 2025-11-25. */
  ping: { params: Lifecycle.PingRequestParams; result: Message.EmptyResult };
  /** Asks for the server's revisions and capabilities. From 2026-07-28 on. */
  "server/discover": { params: Lifecycle.DiscoverRequestParams; result: Lifecycle.DiscoverResult };
  /** Lists the tools of the server. */
  "tools/list": { params: Tools.ListToolsRequestParams; result: Tools.ListToolsResult };
  /** Calls a tool. */
  "tools/call": { params: Tools.CallToolRequestParams; result: Tools.CallToolResult };
  /** Lists the resources of the server. */
  "resources/list": { params: Resources.ListResourcesRequestParams; result: Resources.ListResourcesResult };
  /** Lists the resource templates of the server. */
  "resources/templates/list": {
    params: Resources.ListResourceTemplatesRequestParams;
    result: Resources.ListResourceTemplatesResult;
  };
  /** Reads a resource. */
  "resources/read": { params: Resources.ReadResourceRequestParams; result: Resources.ReadResourceResult };
  /** Subscribes to updates of a resource. 2024-11-05 to 2025-11-25. */
  "resources/subscribe": { params: Resources.SubscribeRequestParams; result: Message.EmptyResult };
  /** Ends a subscription to a resource. 2024-11-05 to 2025-11-25. */
  "resources/unsubscribe": { params: Resources.UnsubscribeRequestParams; result: Message.EmptyResult };
  /** Opens a stream of the selected notifications. From 2026-07-28 on. */
  "subscriptions/listen": {
    params: Subscriptions.SubscriptionsListenRequestParams;
    result: Subscriptions.SubscriptionsListenResult;
  };
  /** Lists the prompts of the server. */
  "prompts/list": { params: Prompts.ListPromptsRequestParams; result: Prompts.ListPromptsResult };
  /** Gets the messages of a prompt. */
  "prompts/get": { params: Prompts.GetPromptRequestParams; result: Prompts.GetPromptResult };
  /** Asks for suggestions for an argument of a prompt or resource template. */
  "completion/complete": { params: Completion.CompleteRequestParams; result: Completion.CompleteResult };
  /** Sets the minimum severity of log messages. 2024-11-05 to 2025-11-25. */
  "logging/setLevel": { params: Logging.SetLevelRequestParams; result: Message.EmptyResult };
  /** Asks the client's model for a message. Sent by the server. */
  "sampling/createMessage": { params: Sampling.CreateMessageRequestParams; result: Sampling.CreateMessageResult };
  /** Asks for the client's roots. Sent by the server. */
  "roots/list": { params: Roots.ListRootsRequestParams; result: Roots.ListRootsResult };
  /** Asks the user for input. Sent by the server, from 2025-06-18 on. */
  "elicitation/create": { params: Elicitation.ElicitRequestParams; result: Elicitation.ElicitResult };
  /** Gets the state of a task. From 2025-11-25 on. */
  "tasks/get": { params: Tasks.GetTaskRequestParams; result: Tasks.GetTaskResult | Tasks.LegacyTaskResult };
  /** Waits for the result of a task. 2025-11-25 only. */
  "tasks/result": { params: Tasks.GetTaskPayloadRequestParams; result: Tasks.GetTaskPayloadResult };
  /** Lists tasks. 2025-11-25 only. */
  "tasks/list": { params: Tasks.ListTasksRequestParams; result: Tasks.ListTasksResult };
  /** Cancels a task. From 2025-11-25 on. */
  "tasks/cancel": { params: Tasks.CancelTaskRequestParams; result: Tasks.CancelTaskResult | Tasks.LegacyTaskResult };
  /** Answers the questions of a task. From 2026-07-28 on, in the tasks extension. */
  "tasks/update": { params: Tasks.UpdateTaskRequestParams; result: Tasks.UpdateTaskResult };
}

/** Parameters of every notification of every revision, by method. */
export interface Notifications {
  /** The client has finished the handshake. 2024-11-05 to 2025-11-25. */
  "notifications/initialized": Lifecycle.InitializedNotificationParams;
  /** The sender cancels one of its requests. */
  "notifications/cancelled": Lifecycle.CancelledNotificationParams;
  /** Reports progress of a request. */
  "notifications/progress": Lifecycle.ProgressNotificationParams;
  /** Carries a log message. Sent by the server. */
  "notifications/message": Logging.LoggingMessageNotificationParams;
  /** The list of tools has changed. */
  "notifications/tools/list_changed": Tools.ToolListChangedNotificationParams;
  /** The list of prompts has changed. */
  "notifications/prompts/list_changed": Prompts.PromptListChangedNotificationParams;
  /** The list of resources or resource templates has changed. */
  "notifications/resources/list_changed": Resources.ResourceListChangedNotificationParams;
  /** A subscribed resource has changed. */
  "notifications/resources/updated": Resources.ResourceUpdatedNotificationParams;
  /** The client's roots have changed. 2024-11-05 to 2025-11-25. */
  "notifications/roots/list_changed": Roots.RootsListChangedNotificationParams;
  /** The user has completed an elicitation in URL mode. 2025-11-25 only. */
  "notifications/elicitation/complete": Elicitation.ElicitationCompleteNotificationParams;
  /** The server has opened a listen stream. From 2026-07-28 on. */
  "notifications/subscriptions/acknowledged": Subscriptions.SubscriptionsAcknowledgedNotificationParams;
  /** A task has changed. From 2026-07-28 on, in the tasks extension. */
  "notifications/tasks": Tasks.TaskNotificationParams;
  /** The status of a task has changed. 2025-11-25 only. */
  "notifications/tasks/status": Tasks.TaskStatusNotificationParams;
}

/** A request method of any revision. */
export type RequestMethod = keyof Requests;

/** A notification method of any revision. */
export type NotificationMethod = keyof Notifications;

/** Parameters of a request by its method. */
export type ParamsOf<M extends RequestMethod> = Requests[M]["params"];

/** Final result of a request by its method. */
export type ResultOf<M extends RequestMethod> = Requests[M]["result"];
