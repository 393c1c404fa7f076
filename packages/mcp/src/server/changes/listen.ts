import { notificationText } from "../../era/notification.js";
import type { Id } from "../../jsonrpc/message.js";
import { META } from "../../protocol/meta.js";
import type { Exchange } from "../../transport/transport.js";
import type { Notice } from "./change.js";
import type { Hub, Subscriber } from "./hub.js";
import type { ListenFilter } from "./listen-filter.js";

/** One open `subscriptions/listen`: it lasts until the client or the server ends it. */
export class Listen implements Subscriber {
  readonly exchange: Exchange;
  readonly #id: Id;
  readonly #filter: ListenFilter;
  readonly #hub: Hub;
  readonly #ended: (result: object) => void;

  constructor(hub: Hub, exchange: Exchange, id: Id, filter: ListenFilter, ended: (result: object) => void) {
    this.#hub = hub;
    this.exchange = exchange;
    this.#id = id;
    this.#filter = filter;
    this.#ended = ended;
  }

  /** Says what is accepted; the first word on the stream. From here on the client hears of it. */
  begin(): void {
    this.exchange.say(
      notificationText("notifications/subscriptions/acknowledged", {
        _meta: { [META.subscriptionId]: this.#id },
        notifications: Object.fromEntries(this.#filter),
      }),
    );
    this.#each((filter, value) => this.#hub.subscribe(this, filter, value));
  }

  hear(notice: Notice): void {
    this.exchange.say(notice.tagged(this.#id));
  }

  /** Ends it; the request is answered with its one result. */
  end(): void {
    this.#each((filter, value) => this.#hub.unsubscribe(this, filter, value));
    this.#ended({ _meta: { [META.subscriptionId]: this.#id } });
  }

  /** What tells the client of a pipe, beside the result, that the server ended it. */
  get farewell(): string {
    return notificationText("notifications/cancelled", {
      requestId: this.#id,
      reason: "the server ended the subscription",
    });
  }

  #each(act: (filter: string, value: string | undefined) => void): void {
    for (const [filter, wanted] of this.#filter) {
      if (wanted === true) act(filter, undefined);
      else for (const value of wanted) act(filter, value);
    }
  }
}
