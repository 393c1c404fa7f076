import { notificationText } from "../../era/notification.js";
import { type Id, isObject } from "../../jsonrpc/message.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { META } from "../../protocol/meta.js";
import { CORE_METHODS } from "../../protocol/methods.js";
import type { Exchange } from "../../transport/transport.js";
import { CHANGING_LISTS, listNotice, type Notice } from "./change.js";
import type { Hub, Subscriber } from "./hub.js";
import { RESOURCE_FILTER } from "./peer-subscriber.js";

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

/** Members of a filter with what they ask for: everything of a kind, or the named ones. */
export type ListenFilter = Map<string, true | readonly string[]>;

/** The capability under which each member of a filter is served. */
const CAPABILITIES: ReadonlyMap<string, string> = new Map([
  ...CHANGING_LISTS.map(listNotice).map(({ filter, method }) => [filter, capabilityOf(method)] as const),
  [RESOURCE_FILTER, capabilityOf("notifications/resources/updated")],
]);

function capabilityOf(method: string): string {
  return CORE_METHODS.find((row) => row.method === method)?.capability ?? "";
}

/** The members of a filter that a server with these capabilities and extensions serves. */
export function servedFilters(capabilities: ServerCapabilities, extensions: readonly string[]): Set<string> {
  const served = [...CAPABILITIES].filter(([, capability]) => hasCapability(capabilities, capability));
  return new Set([...served.map(([filter]) => filter), ...extensions]);
}

/** Reads the wanted members that are served; others are left out, which is how the client learns of it. */
export function readFilter(value: unknown, served: ReadonlySet<string>): ListenFilter {
  if (!isObject(value)) throw new McpError("invalid_params", "`params.notifications` must be an object");
  const filter: ListenFilter = new Map();
  for (const [member, wanted] of Object.entries(value)) {
    if (member === RESOURCE_FILTER ? !isStrings(wanted) : CAPABILITIES.has(member) && typeof wanted !== "boolean") {
      const form = member === RESOURCE_FILTER ? "an array of strings" : "a boolean";
      throw new McpError("invalid_params", `\`params.notifications.${member}\` must be ${form}`);
    }
    if (!served.has(member)) continue;
    if (wanted === true) filter.set(member, true);
    else if (isStrings(wanted)) filter.set(member, [...new Set(wanted)]);
  }
  return filter;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
