import type { NotificationParams, RequestId, RequestParams, Result, ResultMetaObject } from "../message.js";

/** The notifications that a client subscribes to. Absent members are not subscribed. From 2026-07-28 on. */
export interface SubscriptionFilter {
  /** True to receive `notifications/tools/list_changed`. */
  toolsListChanged?: boolean;
  /** True to receive `notifications/prompts/list_changed`. */
  promptsListChanged?: boolean;
  /** True to receive `notifications/resources/list_changed`. */
  resourcesListChanged?: boolean;
  /** URIs of resources whose updates the client wants. */
  resourceSubscriptions?: string[];
  /** Ids of tasks whose updates the client wants. Requires the tasks extension. */
  taskIds?: string[];
}

/** Parameters of `subscriptions/listen`. From 2026-07-28 on. */
export interface SubscriptionsListenRequestParams extends RequestParams {
  /** The notifications that the stream should carry. */
  notifications: SubscriptionFilter;
}

/** The `_meta` of a listen result. From 2026-07-28 on. */
export interface SubscriptionsListenResultMetaObject extends ResultMetaObject {
  /** The id of the listen request that has ended. */
  "io.modelcontextprotocol/subscriptionId": RequestId;
}

/** Result of `subscriptions/listen`, sent only if the server ends the stream gracefully. From 2026-07-28 on. */
export interface SubscriptionsListenResult extends Result {
  /** Metadata with the id of the listen request. */
  _meta: SubscriptionsListenResultMetaObject;
}

/**
 * Parameters of `notifications/subscriptions/acknowledged`, the first message of a listen stream. From 2026-07-28 on.
 */
export interface SubscriptionsAcknowledgedNotificationParams extends NotificationParams {
  /** The part of the filter that the server accepted. */
  notifications: SubscriptionFilter;
}
