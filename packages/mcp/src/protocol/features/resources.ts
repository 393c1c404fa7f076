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
  /** The URI for `resources/read`. */
  uri: string;
  /** The programmatic name. Shown to users if there is no `title`. */
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  /** A description of the resource, for the model. */
  description?: string;
  /** The MIME type, if known. */
  mimeType?: string;
  /** Size in bytes before encoding, if known. */
  size?: number;
  /** Hints for the client. */
  annotations?: Annotations;
  /** Icons for user interfaces. From 2025-11-25 on. */
  icons?: Icon[];
  /** Metadata of the resource. */
  _meta?: MetaObject;
}

/** A set of resources described by a URI template (RFC 6570). */
export interface ResourceTemplate {
  /** The URI template (RFC 6570). Its expansions are URIs for `resources/read`. */
  uriTemplate: string;
  /** The programmatic name. Shown to users if there is no `title`. */
  name: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  /** A description of the matching resources, for the model. */
  description?: string;
  /** The MIME type, if all matching resources have the same one. */
  mimeType?: string;
  /** Hints for the client. */
  annotations?: Annotations;
  /** Icons for user interfaces. From 2025-11-25 on. */
  icons?: Icon[];
  /** Metadata of the template. */
  _meta?: MetaObject;
}

/** Parameters of `resources/list`. */
export interface ListResourcesRequestParams extends PaginatedRequestParams {}

/** Result of `resources/list`. */
export interface ListResourcesResult extends PaginatedResult, CacheHints {
  /** The resources of this page. */
  resources: Resource[];
}

/** Parameters of `resources/templates/list`. */
export interface ListResourceTemplatesRequestParams extends PaginatedRequestParams {}

/** Result of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PaginatedResult, CacheHints {
  /** The templates of this page. */
  resourceTemplates: ResourceTemplate[];
}

/** Parameters of `resources/read`. */
export interface ReadResourceRequestParams extends InputResponseRequestParams {
  /** The URI of the resource. */
  uri: string;
}

/** Result of `resources/read`. It has several entries if the URI refers to several resources, such as a folder. */
export interface ReadResourceResult extends CacheableResult {
  /** The contents, each with its own URI. */
  contents: ResourceContents[];
}

/** Parameters of `resources/subscribe`. 2024-11-05 to 2025-11-25. */
export interface SubscribeRequestParams extends RequestParams {
  /** The URI of the resource to watch. */
  uri: string;
}

/** Parameters of `resources/unsubscribe`. 2024-11-05 to 2025-11-25. */
export interface UnsubscribeRequestParams extends RequestParams {
  /** The URI of an earlier subscription. */
  uri: string;
}

/** Parameters of `notifications/resources/updated`. */
export interface ResourceUpdatedNotificationParams extends NotificationParams {
  /** The URI of the changed resource, which may be a sub-resource of the subscribed one. */
  uri: string;
}

/** Parameters of `notifications/resources/list_changed`. */
export interface ResourceListChangedNotificationParams extends NotificationParams {}
