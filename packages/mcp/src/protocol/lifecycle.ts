import type { ClientCapabilities, ServerCapabilities } from "./capabilities.js";
import type { Implementation } from "./implementation.js";
import type {
  CacheableResult,
  NotificationParams,
  ProgressToken,
  RequestId,
  RequestParams,
  Result,
} from "./message.js";

/** Parameters of `initialize`. 2024-11-05 to 2025-11-25. */
export interface InitializeRequestParams extends RequestParams {
  /** The newest revision with this handshake that the client supports. */
  protocolVersion: string;
  /** The client's capabilities, for the whole session. */
  capabilities: ClientCapabilities;
  /** The name and version of the client. */
  clientInfo: Implementation;
}

/** Result of `initialize`. 2024-11-05 to 2025-11-25. */
export interface InitializeResult extends Result {
  /** The revision that the server chose. */
  protocolVersion: string;
  /** The server's capabilities in the chosen revision. */
  capabilities: ServerCapabilities;
  /** The name and version of the server. */
  serverInfo: Implementation;
  /** Instructions for using the server, for a system prompt. */
  instructions?: string;
}

/** Parameters of `notifications/initialized`. 2024-11-05 to 2025-11-25. */
export interface InitializedNotificationParams extends NotificationParams {}

/** Parameters of `ping`. 2024-11-05 to 2025-11-25. */
export interface PingRequestParams extends RequestParams {}

/** Parameters of `server/discover`. From 2026-07-28 on. */
export interface DiscoverRequestParams extends RequestParams {}

/** Result of `server/discover`; `_meta` identifies the server. From 2026-07-28 on. */
export interface DiscoverResult extends CacheableResult {
  /** The revisions without a handshake that the server supports. The client chooses one for later requests. */
  supportedVersions: string[];
  /** The server's capabilities. */
  capabilities: ServerCapabilities;
  /** Instructions for using the server, for a system prompt. */
  instructions?: string;
}

/** Parameters of `notifications/cancelled`. */
export interface CancelledNotificationParams extends NotificationParams {
  /** The request to cancel; optional only in 2025-11-25, for a task. */
  requestId?: RequestId;
  /** An explanation for logs or users. */
  reason?: string;
}

/** Parameters of `notifications/progress`. */
export interface ProgressNotificationParams extends NotificationParams {
  /** The token that the request sent in `_meta.progressToken`. */
  progressToken: ProgressToken;
  /** Increases with every notification, even if the total is unknown. */
  progress: number;
  /** The value of `progress` at completion, if known. */
  total?: number;
  /** A human-readable description of the progress. From 2025-03-26 on. */
  message?: string;
}

/** The `data` of error -32022. From 2026-07-28 on. */
export interface UnsupportedProtocolVersionErrorData {
  /** The revisions that the server supports. */
  supported: string[];
  /** The revision of the rejected request. */
  requested: string;
}

/** The `data` of error -32021. From 2026-07-28 on. */
export interface MissingRequiredClientCapabilityErrorData {
  /** The capabilities that the request needs and the client did not declare. */
  requiredCapabilities: ClientCapabilities;
}
