import { notificationText, subscriptionNotification } from "../../era/notification.js";
import type { Id } from "../../jsonrpc/message.js";

/** The lists whose changes the server announces. Resource templates count as resources. */
export type ListName = "tools" | "prompts" | "resources";

export const CHANGING_LISTS: readonly ListName[] = ["tools", "prompts", "resources"];

/** The notification of a list's changes, and the member of a listen filter that requests it. */
export function listNotice(list: ListName): { filter: string; method: string } {
  return { filter: `${list}ListChanged`, method: `notifications/${list}/list_changed` };
}

/** The filters of lists. Peers with one stream for all notifications receive these without subscribing. */
export const LIST_FILTERS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  CHANGING_LISTS.map((list) => listNotice(list).filter),
);

/** A change, addressed to the subscribers of one topic. */
export interface PublishedChange {
  /**
   * The member of a listen filter that requests the change, for example `toolsListChanged` or `resourceSubscriptions`.
   */
  readonly filter: string;
  /** The value in the filter's list, for example a URI. Absent if the member of the filter is not a list. */
  readonly value?: string;
  /** The method of the notification. */
  readonly method: string;
  /** The params of the notification. */
  readonly params?: object;
}

/** A change as text. Serialised once for all subscribers. */
export class Notice {
  readonly change: PublishedChange;
  #plain: string | undefined;
  #tagged: ((subscription: Id) => string) | undefined;

  constructor(change: PublishedChange) {
    this.change = change;
  }

  /** The text for a peer with one stream for all notifications. */
  get plain(): string {
    this.#plain ??= notificationText(this.change.method, this.change.params);
    return this.#plain;
  }

  /** Returns the text for one listen request, with the request's id. */
  tagged(subscription: Id): string {
    this.#tagged ??= subscriptionNotification(this.change.method, this.change.params);
    return this.#tagged(subscription);
  }
}
