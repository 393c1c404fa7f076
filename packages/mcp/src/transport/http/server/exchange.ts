import { isThenable } from "../../../encoding/maybe-promise.js";
import type { Accepted } from "../../../era/era.js";
import { LazyAbort } from "../../../jsonrpc/lazy-abort.js";
import type { Id } from "../../../jsonrpc/message.js";
import { callHook } from "../../../platform/call-hook.js";
import type { Answer, Exchange, Principal } from "../../transport.js";
import type { HeaderList, Incoming } from "./incoming.js";
import { challengeHeaders, failedAnswer, type Refusal, refusal } from "./refusal.js";
import { ALONE, type ReplyRules, type ReplySession, type ReplyStream } from "./reply-rules.js";
import { requestLogEntry } from "./request-log.js";
import { SseConnection } from "./sse-connection.js";
import type { RunningRequest, ServerState } from "./state.js";

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
 * One HTTP request and its reply: JSON if the answer is all there is to send, otherwise an event stream. Each request of a
 * batch has an exchange of its own and shares the reply of the `outer` one.
 * Spec: Streamable HTTP, "Receiving Messages", https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
 */
export class HttpExchange implements Exchange, RunningRequest {
  readonly state: ServerState;
  readonly http: Incoming;
  readonly batched: boolean;
  principal: Principal | undefined;
  /** Headers that CORS adds to the reply. */
  corsHeaders: HeaderList | undefined;
  id: Id = "";
  endless = false;
  settled = false;
  peer: ReplySession | undefined;
  ask?: NonNullable<Exchange["ask"]>;
  pause?: NonNullable<Exchange["pause"]>;
  /** The exchange that replies for this one; itself, unless it is part of a batch. */
  readonly #outer: HttpExchange;
  #rules: ReplyRules = ALONE;
  /** How many answers the reply still waits for. */
  #expected = 1;
  /** Texts of answers that wait for the rest of their batch. */
  #batch: string[] | undefined;
  /** Requests that have outlived the turn in which they arrived; only these can be cancelled by a disconnect. */
  #waiting: HttpExchange[] | undefined;
  #stream: ReplyStream | undefined;
  #done = false;
  #running = false;
  #abort: LazyAbort | undefined;
  readonly #startedAt: number;

  constructor(state: ServerState, incoming: Incoming, outer?: HttpExchange) {
    this.state = state;
    this.http = incoming;
    this.batched = outer !== undefined;
    this.principal = outer?.principal;
    this.#outer = outer ?? this;
    this.#startedAt = state.options.onRequest === undefined ? 0 : state.platform.monotonic();
  }

  get signal(): AbortSignal {
    return this.#lazyAbort().signal;
  }

  /** Runs the one request of this POST. */
  run(accepted: Accepted, rules: ReplyRules): void {
    this.#rules = rules;
    this.state.inFlight += 1;
    this.#run(accepted, rules.session);
  }

  /** Begins the reply to a batch that needs `size` answers. */
  beginBatch(size: number, rules: ReplyRules): void {
    this.#rules = rules;
    this.state.inFlight += 1;
    this.#batch = [];
    this.#expected = size;
  }

  /** Runs one request of the batch, unless `begin` returns an answer that refuses it. */
  runInBatch(accepted: Accepted, begin?: (exchange: HttpExchange) => string | undefined): void {
    const inner = new HttpExchange(this.state, this.http, this);
    const refused = begin?.(inner);
    if (refused === undefined) inner.#run(accepted, this.#rules.session);
    else this.answered({ text: refused });
  }

  say(text: string): void {
    if (!this.settled) this.#outer.#write(text);
  }

  turnEnded(): void {
    if (this.settled || this.#running) return;
    this.#running = true;
    this.state.started(this);
    this.#outer.#wait(this);
  }

  overdue(): void {
    // If the limit of streams forbids one, the late answer is sent as JSON.
    if (!this.#outer.#done) this.#outer.#toStream();
  }

  stop(reason: Error): void {
    this.#lazyAbort().abort(reason);
  }

  cancel(reason: unknown): void {
    this.#lazyAbort().abort(reason);
    this.#end(undefined);
  }

  settle(answer: Answer): void {
    const saving = this.peer?.saving;
    if (saving === undefined) return this.#end(answer);
    this.turnEnded();
    void saving.then(() => this.#end(answer));
  }

  /** Adds one answer to the reply; undefined for a cancelled request, which gets none. */
  answered(answer: Answer | undefined): void {
    if (this.#done) return;
    this.#expected -= 1;
    const last = this.#expected <= 0;
    if (this.#stream !== undefined) {
      if (last) this.#finish();
      if (last) this.#stream.finish(answer?.text);
      else if (answer !== undefined) this.#stream.message(answer.text);
      return;
    }
    if (answer !== undefined) this.#batch?.push(answer.text);
    if (!last) return;
    this.#finish();
    if (this.#batch === undefined && answer !== undefined) return this.reply(answer);
    if (this.#batch === undefined || this.#batch.length === 0) return this.empty(202);
    this.json(200, `[${this.#batch.join(",")}]`);
  }

  /** Replies with one answer, with its status and challenge. */
  reply(answer: Answer, extra?: HeaderList): void {
    if (answer.scopes === undefined) return this.json(answer.status ?? 200, answer.text, extra);
    const { platform, options } = this.state;
    const challenge = challengeHeaders(platform, options.challenge, answer.scopes);
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

  /** Begins an event stream. Returns undefined, and sends nothing, if a limit forbids it. */
  openEvents(extra?: HeaderList): SseConnection | undefined {
    const key = this.principal?.key;
    if (this.state.takeStream(key) !== undefined) return undefined;
    const out = this.http.stream(200, this.#headers(SSE_REPLY, extra));
    const connection = new SseConnection(this.state, out, this.principal, () => {
      this.state.returnStream(key);
      this.#log(200);
    });
    // From now on the stream decides what a disconnect means.
    this.http.onLeave(() => connection.lose());
    return connection;
  }

  #run(accepted: Accepted, session: ReplySession | undefined): void {
    this.id = accepted.message.id;
    this.endless = accepted.endless;
    if (session !== undefined) {
      this.peer = session;
      this.ask = (request, signal) => session.askOn(request, (text) => this.say(text), signal);
      // In earlier revisions a closed connection is a failure.
      if (session.primes) this.pause = (retryMs) => this.#outer.#interrupt(retryMs);
    }
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.state.endpoint.request(accepted, this);
    } catch (error) {
      answer = failedAnswer(this.state.platform, this.id, error);
    }
    if (!isThenable(answer)) return this.settle(answer);
    this.http.afterTurn(this);
    answer.then(
      (settled) => this.settle(settled),
      (error) => this.settle(failedAnswer(this.state.platform, this.id, error)),
    );
  }

  /** Ends this request. The reply ends with the last of its requests. */
  #end(answer: Answer | undefined): void {
    if (this.settled) return;
    this.settled = true;
    // Only requests that outlived their turn are counted as running.
    if (this.#running) this.state.settled(this);
    const requests = this.peer?.requests;
    // A cancelled id may be in use again by the time its handler settles.
    if (requests?.get(this.id) === this) requests.delete(this.id);
    this.#outer.answered(answer);
  }

  /** Keeps the reply open for a request that has no answer yet. */
  #wait(request: HttpExchange): void {
    if (this.#done) return this.#rules.leavingCancels ? request.cancel(closedByClient()) : undefined;
    if (this.#waiting === undefined) {
      this.#waiting = [];
      if (this.#stream === undefined) this.http.onLeave(() => this.#leave());
    }
    this.#waiting.push(request);
  }

  #write(text: string): void {
    if (this.#done) return;
    if (this.#toStream()) return this.#stream?.message(text);
    this.busy("maxStreams");
    this.#finish();
    // A refused request must not continue, even where a disconnect does not cancel it.
    for (const request of this.#waiting ?? []) request.cancel(new Error("the limit `maxStreams` is reached"));
  }

  #interrupt(retryMs: number): void {
    if (!this.#done && this.#toStream()) this.#stream?.pause?.(retryMs);
  }

  #toStream(): boolean {
    if (this.#stream !== undefined) return true;
    const open = () => this.openEvents();
    const stream = this.#rules.openStream(open, () => this.#leave());
    if (stream === undefined) return false;
    this.#stream = stream;
    this.state.inFlight -= 1;
    for (const text of this.#batch ?? []) stream.message(text);
    return true;
  }

  /** The client has disconnected. */
  #leave(): void {
    if (this.#done) return;
    this.#finish();
    if (this.#rules.leavingCancels) for (const request of this.#waiting ?? []) request.cancel(closedByClient());
  }

  #finish(): void {
    this.#done = true;
    if (this.#stream === undefined) this.state.inFlight -= 1;
  }

  #headers(base: HeaderList, extra?: HeaderList): HeaderList {
    // The common reply allocates nothing.
    if (extra === undefined && this.corsHeaders === undefined) return base;
    return [...base, ...(extra ?? EMPTY), ...(this.corsHeaders ?? EMPTY)];
  }

  #send(status: number, headers: HeaderList, body: string | undefined): void {
    this.http.send(status, headers, body);
    if (this.state.options.onRequest !== undefined) this.#log(status);
  }

  #log(status: number): void {
    const { options, platform } = this.state;
    const durationMs = platform.monotonic() - this.#startedAt;
    callHook(platform.warn, "onRequest", () =>
      options.onRequest?.(requestLogEntry(this.http, this.principal, status, durationMs)),
    );
  }

  #lazyAbort(): LazyAbort {
    this.#abort ??= new LazyAbort();
    return this.#abort;
  }
}

function closedByClient(): Error {
  return new Error("the client closed the connection");
}
