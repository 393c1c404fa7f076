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
  capabilities: ClientCapabilities;
  clientInfo: Implementation;
}

/** Result of `initialize`. 2024-11-05 to 2025-11-25. */
export interface InitializeResult extends Result {
  /** The revision that the server chose. */
  protocolVersion: string;
  capabilities: ServerCapabilities;
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
  supportedVersions: string[];
  capabilities: ServerCapabilities;
  /** Instructions for using the server, for a system prompt. */
  instructions?: string;
}

/** Parameters of `notifications/cancelled`. */
export interface CancelledNotificationParams extends NotificationParams {
  /** The request to cancel; optional only in 2025-11-25, for a task. */
  requestId?: RequestId;
  reason?: string;
}

/** Parameters of `notifications/progress`. */
export interface ProgressNotificationParams extends NotificationParams {
  progressToken: ProgressToken;
  /** Increases with every notification, even if the total is unknown. */
  progress: number;
  total?: number;
  /** From 2025-03-26 on. */
  message?: string;
}

/** The `data` of error -32022. From 2026-07-28 on. */
export interface UnsupportedProtocolVersionErrorData {
  supported: string[];
  requested: string;
}

/** The `data` of error -32021. From 2026-07-28 on. */
export interface MissingRequiredClientCapabilityErrorData {
  requiredCapabilities: ClientCapabilities;
}
