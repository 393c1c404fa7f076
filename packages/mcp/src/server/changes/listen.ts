import { notificationText } from "../../era/notification.js";
import { type Id, isObject } from "../../jsonrpc/message.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { META } from "../../protocol/meta.js";
import { CORE_METHODS } from "../../protocol/methods.js";
import { checkSend } from "../../transport/check-send.js";
import type { Exchange } from "../../transport/transport.js";
import { CHANGING_LISTS, listNotice, type Notice } from "./change.js";
import type { Hub, Subscriber } from "./hub.js";
import { RESOURCE_FILTER } from "./peer-subscriber.js";

/**
 * One open `subscriptions/listen` request, until the client or the server ends it.
 *
 * Spec: Subscriptions, https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
export class ListenRequest implements Subscriber {
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

  /**
   * Acknowledges the accepted filter, then subscribes: the acknowledgment must be the first message of the
   * subscription.
   *
   * Spec: Subscriptions, "Acknowledgment",
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#acknowledgment
   */
  begin(): void {
    checkSend("Exchange", this.exchange);
    this.exchange.send(
      notificationText("notifications/subscriptions/acknowledged", {
        _meta: { [META.subscriptionId]: this.#id },
        notifications: Object.fromEntries(this.#filter),
      }),
    );
    this.#each((filter, value) => this.#hub.subscribe(this, filter, value));
  }

  receive(notice: Notice): void {
    this.exchange.send(notice.tagged(this.#id));
  }

  /** Unsubscribes and answers the request. */
  end(): void {
    this.#each((filter, value) => this.#hub.unsubscribe(this, filter, value));
    this.#ended({ _meta: { [META.subscriptionId]: this.#id } });
  }

  /**
   * The notification that tells a client on a pipe, in addition to the result, that the server ended the subscription.
   *
   * Spec: Cancellation, https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
   */
  get cancelledNotice(): string {
    return notificationText("notifications/cancelled", {
      requestId: this.#id,
      reason: "the server ended the subscription",
    });
  }

  #each(act: (filter: string, value: string | undefined) => void): void {
    for (const [filter, values] of this.#filter) {
      if (values === true) act(filter, undefined);
      else for (const value of values) act(filter, value);
    }
  }
}

/** The accepted members of a filter: true, or the requested URIs or names if the member is a list. */
export type ListenFilter = Map<string, true | readonly string[]>;

/** The capability that the server must declare for each member of a filter. */
const CAPABILITIES: ReadonlyMap<string, string> = new Map([
  ...CHANGING_LISTS.map(listNotice).map(({ filter, method }) => [filter, capabilityOf(method)] as const),
  [RESOURCE_FILTER, capabilityOf("notifications/resources/updated")],
]);

function capabilityOf(method: string): string {
  return CORE_METHODS.find((row) => row.method === method)?.capability ?? "";
}

/** Returns the members of a filter that a server with these capabilities and extensions serves. */
export function servedFilters(capabilities: ServerCapabilities, extensions: readonly string[]): Set<string> {
  const served = [...CAPABILITIES].filter(([, capability]) => hasCapability(capabilities, capability));
  return new Set([...served.map(([filter]) => filter), ...extensions]);
}

/**
 * Reads the served members of a filter. The acknowledgment lists only these members, so the client learns which members
 * are not served.
 *
 * Spec: Subscriptions, "Notification Filter",
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#notification-filter
 */
export function readFilter(value: unknown, served: ReadonlySet<string>): ListenFilter {
  if (!isObject(value)) throw new McpError("invalid_params", "`params.notifications` must be an object");
  const filter: ListenFilter = new Map();
  for (const [member, asked] of Object.entries(value)) {
    if (member === RESOURCE_FILTER ? !isStrings(asked) : CAPABILITIES.has(member) && typeof asked !== "boolean") {
      const form = member === RESOURCE_FILTER ? "an array of strings" : "a boolean";
      throw new McpError("invalid_params", `\`params.notifications.${member}\` must be ${form}`);
    }
    if (!served.has(member)) continue;
    if (asked === true) filter.set(member, true);
    else if (isStrings(asked)) filter.set(member, [...new Set(asked)]);
    else if (asked !== false) {
      const form = "a boolean or an array of strings";
      throw new McpError("invalid_params", `\`params.notifications.${member}\` must be ${form}`);
    }
  }
  return filter;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
