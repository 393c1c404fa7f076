import type { Icon } from "../implementation.js";
import type { MetaObject } from "../json.js";
import type {
  CacheableResult,
  CacheHints,
  NotificationParams,
  PaginatedRequestParams,
  PaginatedResult,
  RequestParams,
} from "../message.js";
import type { Annotations, ResourceContents } from "./content.js";
import type { InputResponseRequestParams } from "./input.js";

/** A resource that the server can read. */
export interface Resource {
  uri: string;
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  description?: string;
  mimeType?: string;
  /** Size in bytes, before encoding. */
  size?: number;
  annotations?: Annotations;
  /** From 2025-11-25 on. */
  icons?: Icon[];
  _meta?: MetaObject;
}

/** A set of resources described by a URI template (RFC 6570). */
export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  description?: string;
  /** Present only if all matching resources have this type. */
  mimeType?: string;
  annotations?: Annotations;
  /** From 2025-11-25 on. */
  icons?: Icon[];
  _meta?: MetaObject;
}

/** Parameters of `resources/list`. */
export interface ListResourcesRequestParams extends PaginatedRequestParams {}

/** Result of `resources/list`. */
export interface ListResourcesResult extends PaginatedResult, CacheHints {
  resources: Resource[];
}

/** Parameters of `resources/templates/list`. */
export interface ListResourceTemplatesRequestParams extends PaginatedRequestParams {}

/** Result of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PaginatedResult, CacheHints {
  resourceTemplates: ResourceTemplate[];
}

/** Parameters of `resources/read`. */
export interface ReadResourceRequestParams extends InputResponseRequestParams {
  uri: string;
}

/** Result of `resources/read`; several entries if the URI names several resources, such as a folder. */
export interface ReadResourceResult extends CacheableResult {
  contents: ResourceContents[];
}

/** Parameters of `resources/subscribe`. 2024-11-05 to 2025-11-25. */
export interface SubscribeRequestParams extends RequestParams {
  uri: string;
}

/** Parameters of `resources/unsubscribe`. 2024-11-05 to 2025-11-25. */
export interface UnsubscribeRequestParams extends RequestParams {
  uri: string;
}

/** Parameters of `notifications/resources/updated`. */
export interface ResourceUpdatedNotificationParams extends NotificationParams {
  /** The changed resource; it may be a sub-resource of the one subscribed to. */
  uri: string;
}

/** Parameters of `notifications/resources/list_changed`. */
export interface ResourceListChangedNotificationParams extends NotificationParams {}
