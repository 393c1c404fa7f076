import type { Id, NotificationMessage } from "../../jsonrpc/message.js";
import type { SubscriptionFilter } from "../../protocol/features/subscriptions.js";
import type { CallOptions } from "../options.js";

/** How one era learns of changes. */
export interface ChangeSource {
  /** Makes sure that the changes in `all` are told; gives the part that the server agreed to. */
  widen(all: SubscriptionFilter, options: CallOptions | undefined): Promise<SubscriptionFilter>;
  /** Somebody left; `all` is what is still wanted. */
  narrow(all: SubscriptionFilter): Promise<void>;
  /** The connection is a new one: everything is asked for again, as a part of the recovery. */
  restore(all: SubscriptionFilter): Promise<void>;
  /** False for a notification that belongs to nothing that was asked for. */
  admits(message: NotificationMessage, about: Id | undefined): boolean;
}
