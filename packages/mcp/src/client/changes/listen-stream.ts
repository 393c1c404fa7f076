import { isTransient } from "../../era/negotiate/refusal.js";
import { type Id, isObject, type NotificationMessage } from "../../jsonrpc/message.js";
import { pause } from "../../platform/pause.js";
import { McpError } from "../../protocol/error.js";
import type { SubscriptionFilter } from "../../protocol/features/subscriptions.js";
import { META } from "../../protocol/meta.js";
import { ReconnectPacer } from "../../transport/reconnect.js";
import type { CallExtras, Requester } from "../call/requester.js";
import type { ClientConnection } from "../connection/connection.js";
import { settleWithin, WaitHolds } from "../connection/wait-bounds.js";
import type { CallOptions } from "../contract/options.js";
import type { ChangeSource } from "./session-subscriptions.js";
import { covers, intersectionOf, isEmpty } from "./subscription-filter.js";

/** Receives the events of the stream. */
export interface ListenEvents {
  /** The server ended the stream, or a broken stream cannot be reopened. */
  ended(error: Error | undefined): void;
  /** The stream broke and was reopened. Changes may have been missed. */
  reopened(): void;
  /** Returns the union of all current subscriptions. */
  wanted(): SubscriptionFilter;
}

/** One `subscriptions/listen` request. */
interface ListenRequest {
  filter: SubscriptionFilter;
  accepted: SubscriptionFilter | undefined;
  id: Id | undefined;
  acknowledge(accepted: SubscriptionFilter): void;
  /** Ends the request, here and at the server. */
  readonly controller: AbortController;
}

/**
 * Maximum number of consecutive attempts to reopen a stream that broke while the connection is ready. After that, the
 * subscriptions end.
 */
const MAX_ATTEMPTS = 8;

/**
 * Receives changes through `subscriptions/listen`. One stream serves all subscriptions. A stream with a wider filter
 * replaces it when needed.
 *
 * Spec: Subscriptions, "Opening a Stream", https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#opening-a-stream
 */
export class ListenStream implements ChangeSource {
  readonly #connection: ClientConnection;
  readonly #caller: Requester;
  readonly #events: ListenEvents;
  readonly #pacer: ReconnectPacer;
  /** The current stream, and briefly also its replacement. */
  readonly #open = new Set<ListenRequest>();
  #current: ListenRequest | undefined;

  constructor(connection: ClientConnection, caller: Requester, events: ListenEvents) {
    this.#connection = connection;
    this.#caller = caller;
    this.#events = events;
    this.#pacer = new ReconnectPacer(connection.platform, MAX_ATTEMPTS);
  }

  async widen(all: SubscriptionFilter, options: CallOptions | undefined): Promise<SubscriptionFilter> {
    const { accepted } = this.#current ?? {};
    if (this.#current !== undefined && accepted !== undefined && covers(this.#current.filter, all)) return accepted;
    return this.#replace(all, options, {});
  }

  async narrow(all: SubscriptionFilter): Promise<void> {
    // Keeps the wider stream unless no subscription is left. Ignoring extra notifications costs less than reopening the
    // stream.
    if (isEmpty(all)) this.#stop(this.#current);
  }

  async restore(all: SubscriptionFilter): Promise<void> {
    if (isEmpty(all)) return;
    try {
      await this.#replace(all, undefined, { recovering: true });
    } catch (error) {
      // The recovery of the connection retries after a transient error.
      if (isTransient(error)) throw error;
      this.#events.ended(McpError.from(error));
    }
  }

  admits({ method, params }: NotificationMessage, about: Id | undefined): boolean {
    const meta = params?.["_meta"];
    const id = (isObject(meta) ? meta[META.subscriptionId] : undefined) ?? about;
    for (const stream of this.#open) {
      if (stream.id === undefined || (id !== stream.id && params?.["requestId"] !== stream.id)) continue;
      this.#pacer.progressed();
      if (method === "notifications/subscriptions/acknowledged") {
        // The content is not validated here: unknown members are allowed, and a flag of the wrong type counts as
        // refused.
        stream.acknowledge(isObject(params?.["notifications"]) ? params["notifications"] : {});
      } else if (method === "notifications/cancelled") this.#finish(stream, undefined);
      else return stream === this.#current || this.#current === undefined;
    }
    return false;
  }

  /** Opens a new stream, and ends the old one once the server has acknowledged the new one. */
  async #replace(
    filter: SubscriptionFilter,
    options: CallOptions | undefined,
    extras: CallExtras,
  ): Promise<SubscriptionFilter> {
    const before = this.#current;
    const holds = new WaitHolds();
    const { stream, accepted } = this.#listen(filter, { ...extras, onUserWait: () => holds.hold() });
    const { platform, timeouts } = this.#connection;
    const late = () =>
      new McpError("timeout", `the server did not acknowledge the subscription within ${timeouts.idleMs} ms`, {
        data: { deadline: "idle", ms: timeouts.idleMs },
        fix: "Raise `timeouts.idleMs`, or check how the server handles `subscriptions/listen`.",
      });
    const aborted = () => new McpError("cancelled", "the subscription was cancelled by its caller");
    try {
      stream.accepted = await settleWithin(
        platform,
        [
          { on: timeouts.idleMs, error: late },
          { on: options?.signal, error: aborted },
        ],
        () => accepted,
        holds,
      );
    } catch (error) {
      this.#stop(stream);
      throw error;
    }
    // The server acknowledged the stream and ended it at once. The previous stream stays in use.
    if (!this.#open.has(stream) && before !== undefined) {
      throw new McpError("connection_closed", "the server ended the subscription as soon as it began", {
        fix: "Subscribe again later; the server may be closing.",
      });
    }
    const latest = this.#current;
    if (latest !== before && latest?.accepted !== undefined && covers(latest.filter, filter)) {
      // Another stream that covers the filter was opened meanwhile.
      this.#stop(stream);
      return intersectionOf(filter, latest.accepted);
    }
    this.#current = stream;
    this.#stop(latest);
    return intersectionOf(filter, stream.accepted);
  }

  #listen(
    filter: SubscriptionFilter,
    extras: CallExtras,
  ): { stream: ListenRequest; accepted: Promise<SubscriptionFilter> } {
    const controller = new AbortController();
    const stream: ListenRequest = { filter, accepted: undefined, id: undefined, acknowledge: () => {}, controller };
    this.#open.add(stream);
    const accepted = new Promise<SubscriptionFilter>((resolve, reject) => {
      stream.acknowledge = resolve;
      this.#caller
        .call(
          "subscriptions/listen",
          { notifications: filter },
          // The call must not send the request again by itself: subscribers would not learn that changes may have been
          // missed while the stream was broken.
          { signal: controller.signal, resend: "never" },
          {
            ...extras,
            onSent: (id) => {
              stream.id = id;
            },
          },
        )
        .then(
          () => {
            // Ended before the acknowledgement: the server accepted nothing.
            resolve({});
            this.#finish(stream, undefined);
          },
          (error: McpError) => {
            reject(error);
            this.#broke(stream, error);
          },
        );
    });
    // If the caller has stopped waiting, no other code handles the rejection.
    accepted.catch(() => {});
    return { stream, accepted };
  }

  #stop(stream: ListenRequest | undefined): void {
    if (stream === undefined || !this.#open.delete(stream)) return;
    if (this.#current === stream) this.#current = undefined;
    stream.controller.abort();
  }

  /** Handles a stream that the server ended. Only the end of the current stream ends the subscriptions. */
  #finish(stream: ListenRequest, error: Error | undefined): void {
    const mattered = this.#current === stream;
    this.#stop(stream);
    if (mattered) this.#events.ended(error);
  }

  #broke(stream: ListenRequest, error: McpError): void {
    const mattered = this.#current === stream && this.#open.delete(stream);
    if (!mattered) return;
    this.#current = undefined;
    // The recovery of a lost connection reopens the stream.
    if (
      this.#connection.state === "recovering" ||
      (this.#connection.state === "disconnected" && this.#connection.canReopen)
    )
      return;
    if (this.#connection.state !== "ready" || !isTransient(error)) this.#events.ended(error);
    else void this.#reopen(error);
  }

  /** Reopens a stream that broke while the connection is ready, as happens over HTTP. */
  async #reopen(broken: McpError): Promise<void> {
    for (;;) {
      const wait = this.#pacer.ended(false);
      if (wait === undefined) return this.#events.ended(broken);
      await pause(this.#connection.platform, wait, this.#connection.closing.signal, false);
      const wanted = this.#events.wanted();
      if (this.#connection.state !== "ready" || this.#current !== undefined || isEmpty(wanted)) return;
      this.#pacer.begun();
      try {
        await this.#replace(wanted, undefined, {});
        return this.#events.reopened();
      } catch (error) {
        if (!isTransient(error)) return this.#events.ended(McpError.from(error));
      }
    }
  }
}
