import { isTransient } from "../../era/negotiate/refusal.js";
import { type Id, isObject, type NotificationMessage } from "../../jsonrpc/message.js";
import { pause } from "../../platform/pause.js";
import { McpError } from "../../protocol/error.js";
import type { SubscriptionFilter } from "../../protocol/features/subscriptions.js";
import { META } from "../../protocol/meta.js";
import { ReconnectPacer } from "../../transport/reconnect.js";
import type { CallExtras, Requester } from "../call/requester.js";
import { bounded, WaitHolds } from "../connection/bounded.js";
import type { ClientConnection } from "../connection/connection.js";
import type { CallOptions } from "../contract/options.js";
import type { ChangeSource } from "./session-subscriptions.js";
import { covers, intersectionOf, isEmpty } from "./subscription-filter.js";

/** Told about what happens to the stream by itself. */
export interface ListenEvents {
  /** The server ended it in good order, or it cannot be opened again. */
  ended(error: Error | undefined): void;
  /** It broke and stands again. */
  missed(): void;
  /** What is to be told about now. */
  wanted(): SubscriptionFilter;
}

/** One `subscriptions/listen` request. */
interface Listening {
  filter: SubscriptionFilter;
  accepted: SubscriptionFilter | undefined;
  id: Id | undefined;
  acknowledge(accepted: SubscriptionFilter): void;
  /** Ends it, here and at the server. */
  readonly over: AbortController;
}

/** Attempts in a row to open a stream again that broke alone. */
const MAX_ATTEMPTS = 8;

/**
 * Changes by `subscriptions/listen`: one stream for all subscriptions, which is replaced when more is subscribed to.
 *
 * Spec: Subscriptions, "Opening a Stream", https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions#opening-a-stream
 */
export class ListenStream implements ChangeSource {
  readonly #connection: ClientConnection;
  readonly #caller: Requester;
  readonly #events: ListenEvents;
  readonly #pacer: ReconnectPacer;
  /** The stream in use, and for a moment beside it the one that takes its place. */
  readonly #open = new Set<Listening>();
  #current: Listening | undefined;

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
    // What is told beyond that is left unread; a new stream only to hear less would cost more.
    if (isEmpty(all)) this.#stop(this.#current);
  }

  async restore(all: SubscriptionFilter): Promise<void> {
    if (isEmpty(all)) return;
    try {
      await this.#replace(all, undefined, { recovering: true });
    } catch (error) {
      // What may pass is for the recovery to try again.
      if (isTransient(error)) throw error;
      this.#events.ended(McpError.from(error));
    }
  }

  admits({ method, params }: NotificationMessage, about: Id | undefined): boolean {
    const meta = params?.["_meta"];
    const id = (isObject(meta) ? meta[META.subscriptionId] : undefined) ?? about;
    for (const listening of this.#open) {
      if (listening.id === undefined || (id !== listening.id && params?.["requestId"] !== listening.id)) continue;
      this.#pacer.progressed();
      if (method === "notifications/subscriptions/acknowledged") {
        // An open object: members of a wrong type count as refused.
        listening.acknowledge(isObject(params?.["notifications"]) ? params["notifications"] : {});
      } else if (method === "notifications/cancelled") this.#finish(listening, undefined);
      else return listening === this.#current || this.#current === undefined;
    }
    return false;
  }

  /** Opens a new stream, and ends the old one when the new one stands. */
  async #replace(
    filter: SubscriptionFilter,
    options: CallOptions | undefined,
    extras: CallExtras,
  ): Promise<SubscriptionFilter> {
    const before = this.#current;
    const holds = new WaitHolds();
    const { listening, accepted } = this.#listen(filter, { ...extras, onUserWait: () => holds.hold() });
    const { platform, timeouts } = this.#connection;
    const late = () =>
      new McpError("timeout", `the server did not acknowledge the subscription within ${timeouts.idleMs} ms`, {
        data: { deadline: "idle", ms: timeouts.idleMs },
        fix: "Raise `timeouts.idleMs`, or look at what the server does with `subscriptions/listen`.",
      });
    const given = () => new McpError("cancelled", "the subscription was cancelled by its caller");
    try {
      listening.accepted = await bounded(
        platform,
        [
          { on: timeouts.idleMs, error: late },
          { on: options?.signal, error: given },
        ],
        () => accepted,
        holds,
      );
    } catch (error) {
      this.#stop(listening);
      throw error;
    }
    // The server agreed and ended it at once; the stream that stood before stays in use.
    if (!this.#open.has(listening) && before !== undefined) {
      throw new McpError("connection_closed", "the server ended the subscription as soon as it began", {
        fix: "Subscribe again later; the server may be closing.",
      });
    }
    const standing = this.#current;
    if (standing !== before && standing?.accepted !== undefined && covers(standing.filter, filter)) {
      // Another one that tells at least as much came to stand meanwhile.
      this.#stop(listening);
      return intersectionOf(filter, standing.accepted);
    }
    this.#current = listening;
    this.#stop(standing);
    return intersectionOf(filter, listening.accepted);
  }

  #listen(
    filter: SubscriptionFilter,
    extras: CallExtras,
  ): { listening: Listening; accepted: Promise<SubscriptionFilter> } {
    const over = new AbortController();
    const listening: Listening = { filter, accepted: undefined, id: undefined, acknowledge: () => {}, over };
    this.#open.add(listening);
    const accepted = new Promise<SubscriptionFilter>((resolve, reject) => {
      listening.acknowledge = resolve;
      this.#caller
        .call(
          "subscriptions/listen",
          { notifications: filter },
          // Sent again behind its back, the stream would hide what was missed while it was broken.
          { signal: over.signal, resend: "never" },
          {
            ...extras,
            onSent: (id) => {
              listening.id = id;
            },
          },
        )
        .then(
          () => {
            // Ended before it began: nothing was agreed to.
            resolve({});
            this.#finish(listening, undefined);
          },
          (error: McpError) => {
            reject(error);
            this.#broke(listening, error);
          },
        );
    });
    // If the caller gave up before the stream began, its rejection is handled only here.
    accepted.catch(() => {});
    return { listening, accepted };
  }

  #stop(listening: Listening | undefined): void {
    if (listening === undefined || !this.#open.delete(listening)) return;
    if (this.#current === listening) this.#current = undefined;
    listening.over.abort();
  }

  /** The server ended a stream; only the end of the one in use matters. */
  #finish(listening: Listening, error: Error | undefined): void {
    const mattered = this.#current === listening;
    this.#stop(listening);
    if (mattered) this.#events.ended(error);
  }

  #broke(listening: Listening, error: McpError): void {
    const mattered = this.#current === listening && this.#open.delete(listening);
    if (!mattered) return;
    this.#current = undefined;
    // With the connection itself gone, its recovery brings the stream back.
    if (
      this.#connection.state === "recovering" ||
      (this.#connection.state === "disconnected" && this.#connection.mayReturn)
    )
      return;
    if (this.#connection.state !== "ready" || !isTransient(error)) this.#events.ended(error);
    else void this.#reopen(error);
  }

  /** Opens a stream again that broke while requests still work, as happens over HTTP. */
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
        return this.#events.missed();
      } catch (error) {
        if (!isTransient(error)) return this.#events.ended(McpError.from(error));
      }
    }
  }
}
