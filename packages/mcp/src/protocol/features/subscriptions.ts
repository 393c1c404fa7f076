import type { NotificationParams, RequestId, RequestParams, Result, ResultMetaObject } from "../message.js";

/** The notifications that a client subscribes to. From 2026-07-28 on. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** URIs of resources. */
  resourceSubscriptions?: string[];
  /** With the tasks extension. */
  taskIds?: string[];
}

/** Parameters of `subscriptions/listen`. From 2026-07-28 on. */
export interface SubscriptionsListenRequestParams extends RequestParams {
  notifications: SubscriptionFilter;
}

/** The `_meta` of a listen result. From 2026-07-28 on. */
export interface SubscriptionsListenResultMetaObject extends ResultMetaObject {
  "io.modelcontextprotocol/subscriptionId": RequestId;
}

/** Result of `subscriptions/listen`, sent only if the server ends the stream gracefully. From 2026-07-28 on. */
export interface SubscriptionsListenResult extends Result {
  _meta: SubscriptionsListenResultMetaObject;
}

/** Parameters of `notifications/subscriptions/acknowledged`, the first message of a listen stream. From 2026-07-28 on. */
export interface SubscriptionsAcknowledgedNotificationParams extends NotificationParams {
  /** The part of the filter that the server supports. */
  notifications: SubscriptionFilter;
}
