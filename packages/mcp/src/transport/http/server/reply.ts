import type { MaybePromise } from "../../../encoding/maybe-promise.js";
import type { Principal } from "../../../http/authentication.js";
import type { Id } from "../../../jsonrpc/message.js";
import { callHook } from "../../../platform/call-hook.js";
import type { Answer } from "../../transport.js";
import type { BodyLimits, HeaderList, Incoming } from "./incoming.js";
import { challengeHeaders, type Refusal, refusal } from "./refusal.js";
import { requestLogEntry } from "./request-log.js";
import { SseConnection } from "./sse-connection.js";
import type { ServerState } from "./state.js";

const JSON_REPLY: HeaderList = ["content-type", "application/json"];
const EMPTY: HeaderList = [];
const SSE_REPLY: HeaderList = [
  "content-type",
  "text/event-stream",
  // `no-transform` keeps proxies from compressing, and so delaying, events.
  "cache-control",
  "no-cache, no-transform",
  "x-accel-buffering",
  "no",
];

/**
 * The reply to one HTTP request, complete at once or an event stream, and what the request takes up of its server until then.
 * It is counted as arriving until it may run or a reply is sent, then as in flight until its handler ends: a handler whose
 * client has left still works. An open stream is counted by `maxStreams` instead.
 */
export class HttpReply implements BodyLimits {
  readonly state: ServerState;
  readonly http: Incoming;
  readonly maxBytes: number;
  bodyBytes = 0;
  principal: Principal | undefined;
  /** True until all of the request is here, or nobody waits for the rest. */
  arriving: boolean;
  /** True while its handler works. */
  working = false;
  /** True while it is counted as in flight. */
  counted = false;
  /** The reply of the batch that this request is part of; itself otherwise. */
  readonly #shared: HttpReply;
  #unfinished: boolean;
  #complete = false;
  #streaming = false;
  /** Headers that CORS adds to the reply. */
  corsHeaders: HeaderList | undefined;
  readonly #startedAt: number;
  #streamLimit: string | undefined;
  /** Frees the place of its stream, where the server limits them. */
  #freePlace: (() => void) | undefined;

  constructor(state: ServerState, incoming: Incoming, outer?: HttpReply) {
    this.state = state;
    this.http = incoming;
    this.maxBytes = state.limits.maxMessageBytes;
    this.#shared = outer ?? this;
    this.principal = outer?.principal;
    this.arriving = this.#unfinished = outer === undefined;
    if (outer === undefined) {
      state.arriving += 1;
      state.unfinished += 1;
    }
    this.#startedAt = state.options.onRequest === undefined ? 0 : state.platform.monotonic();
  }

  /** The request may run, with `more` requests in all; or the name of the limit that forbids it. */
  admit(more: number): string | undefined {
    const { state, principal } = this;
    if (state.inFlight + more > state.limits.maxInFlight) return "maxInFlight";
    const limit = principal === undefined ? undefined : state.fullFor(principal.key, more);
    if (limit === undefined) this.#arrived();
    return limit;
  }

  /** Counts the request as in flight, or no longer, after its handler or the stream of its reply has begun or ended. */
  recount(): void {
    const { state, principal } = this;
    const counts = this.working && !this.#shared.#streaming;
    if (counts === this.counted) return;
    this.counted = counts;
    state.inFlight += counts ? 1 : -1;
    if (principal !== undefined) state.inFlightOf.change(principal.key, counts ? 1 : -1);
  }

  /** The reply is complete, or its client has left. What a storage still holds of a stream is written before it ends. */
  finished(): void {
    this.#arrived();
    this.#complete = true;
    if (this.counted) this.recount();
    this.#settle();
  }

  #arrived(): void {
    if (!this.arriving) return;
    this.arriving = false;
    this.state.arriving -= 1;
    this.state.unfinishedBytes -= this.bodyBytes;
    this.bodyBytes = 0;
  }

  #settle(): void {
    if (!this.#complete || this.#streaming || !this.#unfinished) return;
    this.#unfinished = false;
    this.state.unfinished -= 1;
    if (this.state.draining) this.state.noteIdle();
  }

  /** Replies with one answer, with its status and challenge. */
  reply(answer: Answer, extra?: HeaderList): void {
    if (answer.retryAfterMs !== undefined) {
      // In whole seconds, and never too soon.
      const headers = [...(extra ?? EMPTY), "retry-after", String(Math.ceil(answer.retryAfterMs / 1000))];
      return this.json(answer.status ?? 200, answer.text, headers);
    }
    if (answer.scopes === undefined) return this.json(answer.status ?? 200, answer.text, extra);
    const { platform, options } = this.state;
    const challenge = challengeHeaders(platform, options, answer.scopes, this.principal);
    this.json(403, answer.text, [...(extra ?? EMPTY), ...challenge]);
  }

  json(status: number, text: string, extra?: HeaderList): void {
    this.#send(status, this.#headers(JSON_REPLY, extra), text);
  }

  empty(status: number, extra?: HeaderList): void {
    this.#send(status, this.#headers(EMPTY, extra), undefined);
  }

  refuse({ status, headers, text }: Refusal): void {
    this.#send(status, this.#headers(headers), text);
  }

  /** Refuses because the server has reached a limit. */
  busy(limit: string, id?: Id): void {
    const message = `the server has reached its limit \`${limit}\`; try again later`;
    this.refuse(refusal(503, message, { id, headers: ["retry-after", "1"], data: { limit } }));
  }

  /** Replies to a request that failed inside the server. Only the operator sees the cause. */
  broken(error: unknown): void {
    this.state.platform.warn(`an HTTP request failed inside the server: ${String(error)}`);
    this.refuse(refusal(500, "the request failed inside the server"));
  }

  /** Replies with an event stream that belongs to no request. Returns undefined, and sends nothing, if a limit forbids it. */
  openEvents(extra?: HeaderList): SseConnection | undefined {
    this.finished();
    return this.openStream(extra);
  }

  /** Opens a stream that belongs to no request by `open`, if its caller may have one more. */
  openCounted(open: () => MaybePromise<void>): MaybePromise<void> {
    return this.state.endpoint.takeStream === undefined ? open() : this.#openCounted(open);
  }

  async #openCounted(open: () => MaybePromise<void>): Promise<void> {
    const place = await this.state.endpoint.takeStream?.(this);
    if (typeof place === "object") return this.reply(place);
    this.#freePlace = place;
    try {
      await open();
    } finally {
      if (!this.#streaming) place?.();
    }
  }

  /** The limit that forbade the last stream. */
  get streamLimit(): string {
    return this.#streamLimit ?? "maxStreams";
  }

  /** Begins an event stream as the reply. */
  protected openStream(extra?: HeaderList): SseConnection | undefined {
    const key = this.principal?.key;
    this.#streamLimit = this.state.takeStream(key);
    if (this.#streamLimit !== undefined) return undefined;
    const out = this.http.stream(200, this.#headers(SSE_REPLY, extra));
    const connection = new SseConnection(this.state, out, this.principal, () => {
      this.state.returnStream(key);
      this.#freePlace?.();
      this.streams(false);
      this.#log(200);
    });
    this.streams(true);
    // From now on the stream decides what a disconnect means.
    this.http.onLeave(() => connection.lose());
    return connection;
  }

  /** The stream of the reply is open or has ended. Its own limit counts it, so that its requests are not counted meanwhile. */
  protected streams(isOpen: boolean): void {
    this.#streaming = isOpen;
    this.recount();
    if (!isOpen) this.#settle();
  }

  #headers(base: HeaderList, extra?: HeaderList): HeaderList {
    // The common reply allocates nothing.
    if (extra === undefined && this.corsHeaders === undefined) return base;
    return [...base, ...(extra ?? EMPTY), ...(this.corsHeaders ?? EMPTY)];
  }

  #send(status: number, headers: HeaderList, body: string | undefined): void {
    this.http.send(status, headers, body);
    if (!this.#complete) this.finished();
    if (this.state.options.onRequest !== undefined) this.#log(status);
  }

  #log(status: number): void {
    const { options, platform } = this.state;
    const durationMs = platform.monotonic() - this.#startedAt;
    callHook(platform, "onRequest", () =>
      options.onRequest?.(requestLogEntry(this.http, this.principal, status, durationMs)),
    );
  }
}
