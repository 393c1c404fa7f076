import type { ClientCapabilities } from "../protocol/capabilities.js";
import type { LoggingLevel } from "../protocol/features/logging.js";
import type { Implementation } from "../protocol/implementation.js";
import type { Revision } from "../protocol/revisions.js";

/**
 * What a stateful server remembers of one peer. Plain JSON, so that a shared storage can hold it and any node can go on
 * with it; whoever changes it calls `Peer.sessionChanged`.
 */
export interface Session {
  revision: Revision;
  clientInfo?: Implementation;
  clientCapabilities: ClientCapabilities;
  /** True after `notifications/initialized`. */
  initialized: boolean;
  logLevel?: LoggingLevel;
  /** URIs that the peer subscribed to. */
  subscriptions: string[];
}
