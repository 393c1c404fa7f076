import type { Id, NotificationMessage } from "../../jsonrpc/message.js";
import type { SubscriptionFilter } from "../../protocol/features/subscriptions.js";
import type { CallOptions } from "../contract/options.js";

/** How one era learns of changes. */
export interface ChangeSource {
  /** Makes sure that the changes in `all` are announced; returns the part that the server accepted. */
  widen(all: SubscriptionFilter, options: CallOptions | undefined): Promise<SubscriptionFilter>;
  /** A subscription was closed; `all` is what the others still want. */
  narrow(all: SubscriptionFilter): Promise<void>;
  /** The connection is a new one: everything is asked for again, as a part of the recovery. */
  restore(all: SubscriptionFilter): Promise<void>;
  /** False for a notification that belongs to nothing that was asked for. */
  admits(message: NotificationMessage, about: Id | undefined): boolean;
}
