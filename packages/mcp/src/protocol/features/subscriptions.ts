import type { NotificationParams, RequestId, RequestParams, Result, ResultMetaObject } from "../message.js";

/** What a client wants to hear of. From 2026-07-28 on. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** Addresses of resources. */
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

/** Result of `subscriptions/listen`, sent only when the server ends the stream in good order. From 2026-07-28 on. */
export interface SubscriptionsListenResult extends Result {
  _meta: SubscriptionsListenResultMetaObject;
}

/** Parameters of `notifications/subscriptions/acknowledged`, the first word on a listen stream. From 2026-07-28 on. */
export interface SubscriptionsAcknowledgedNotificationParams extends NotificationParams {
  /** The part of the filter that the server will serve. */
  notifications: SubscriptionFilter;
}
