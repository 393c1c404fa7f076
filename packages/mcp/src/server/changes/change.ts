import { notificationText, subscriptionNotification } from "../../era/notification.js";
import type { Id } from "../../jsonrpc/message.js";

/** The lists whose changes are announced. Templates belong to resources. */
export type ListName = "tools" | "prompts" | "resources";

export const CHANGING_LISTS: readonly ListName[] = ["tools", "prompts", "resources"];

/** What is announced when a list changed: the member of a listen filter that asks for it, and the notification. */
export function listNotice(list: ListName): { filter: string; method: string } {
  return { filter: `${list}ListChanged`, method: `notifications/${list}/list_changed` };
}

/** Something that happened, for whoever asked to hear of it. */
export interface PublishedChange {
  /** The member of a listen filter that asks for it, for example `toolsListChanged` or `resourceSubscriptions`. */
  readonly filter: string;
  /** Where the filter's member is a list: the one value in it that is meant. */
  readonly value?: string;
  readonly method: string;
  readonly params?: object;
}

/** A change as text: serialised once, however many subscribers there are. */
export class Notice {
  readonly change: PublishedChange;
  #plain: string | undefined;
  #tagged: ((subscription: Id) => string) | undefined;

  constructor(change: PublishedChange) {
    this.change = change;
  }

  /** For a peer with one stream for all notifications. */
  get plain(): string {
    this.#plain ??= notificationText(this.change.method, this.change.params);
    return this.#plain;
  }

  /** For one of several subscriptions. */
  tagged(subscription: Id): string {
    this.#tagged ??= subscriptionNotification(this.change.method, this.change.params);
    return this.#tagged(subscription);
  }
}
