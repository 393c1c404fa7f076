import type { Principal } from "../../../http/authentication.js";
import type { Id } from "../../../jsonrpc/message.js";
import { callHook } from "../../../platform/call-hook.js";
import type { Answer } from "../../transport.js";
import type { HeaderList, Incoming } from "./incoming.js";
import { Place } from "./place.js";
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

/** The reply to one HTTP request: complete at once, or an event stream. */
export class HttpReply {
  readonly state: ServerState;
  readonly http: Incoming;
  /** What the request takes up of the server. */
  readonly place: Place;
  principal: Principal | undefined;
  /** Headers that CORS adds to the reply. */
  corsHeaders: HeaderList | undefined;
  readonly #startedAt: number;
  #streamLimit: string | undefined;

  constructor(state: ServerState, incoming: Incoming, outer?: HttpReply) {
    this.state = state;
    this.http = incoming;
    this.place = new Place(state, outer?.place);
    this.principal = outer?.principal;
    this.#startedAt = state.options.onRequest === undefined ? 0 : state.platform.monotonic();
  }

  /** Replies with one answer, with its status and challenge. */
  reply(answer: Answer, extra?: HeaderList): void {
    if (answer.scopes === undefined) return this.json(answer.status ?? 200, answer.text, extra);
    const { platform, options } = this.state;
    const challenge = challengeHeaders(platform, options, answer.scopes);
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
    this.place.finished();
    return this.openStream(extra);
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
    this.place.stream(isOpen);
  }

  #headers(base: HeaderList, extra?: HeaderList): HeaderList {
    // The common reply allocates nothing.
    if (extra === undefined && this.corsHeaders === undefined) return base;
    return [...base, ...(extra ?? EMPTY), ...(this.corsHeaders ?? EMPTY)];
  }

  #send(status: number, headers: HeaderList, body: string | undefined): void {
    this.http.send(status, headers, body);
    this.place.finished();
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
