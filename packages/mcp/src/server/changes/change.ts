import { notificationText, subscriptionNotification } from "../../era/notification.js";
import type { Id } from "../../jsonrpc/message.js";

/** The lists whose changes are announced. Templates belong to resources. */
export type ListName = "tools" | "prompts" | "resources";

export const CHANGING_LISTS: readonly ListName[] = ["tools", "prompts", "resources"];

/** The notification of a list's changes, and the member of a listen filter that asks for it. */
export function listNotice(list: ListName): { filter: string; method: string } {
  return { filter: `${list}ListChanged`, method: `notifications/${list}/list_changed` };
}

/** The filters of lists; peers with one stream for all notifications hear of these alone without asking. */
export const LIST_FILTERS: ReadonlySet<string> = /* @__PURE__ */ new Set(
  CHANGING_LISTS.map((list) => listNotice(list).filter),
);

/** A change, addressed to the subscribers of one topic. */
export interface PublishedChange {
  /** The member of a listen filter that asks for it, for example `toolsListChanged` or `resourceSubscriptions`. */
  readonly filter: string;
  /** Set where the filter's member is a list: the value in that list, for example a URI. */
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

  /** The text for a peer with one stream for all notifications. */
  get plain(): string {
    this.#plain ??= notificationText(this.change.method, this.change.params);
    return this.#plain;
  }

  /** The text for one listen request, marked with its id. */
  tagged(subscription: Id): string {
    this.#tagged ??= subscriptionNotification(this.change.method, this.change.params);
    return this.#tagged(subscription);
  }
}
