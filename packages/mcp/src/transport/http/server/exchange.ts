import { isThenable } from "../../../encoding/maybe-promise.js";
import type { Accepted } from "../../../era/era.js";
import type { Principal } from "../../../http/authentication.js";
import type { Id } from "../../../jsonrpc/message.js";
import { LazyAbort } from "../../../jsonrpc/pending-requests.js";
import type { Answer, Exchange } from "../../transport.js";
import type { BodyLimits, HeaderList, Incoming } from "./incoming.js";
import { answerHead, type EndedError, failedAnswer, JSON_HEADERS, type Refusal, refusal } from "./refusal.js";
import { ALONE, type ReplyRules, type ReplySession, type ReplyStream } from "./reply-rules.js";
import { logRequest } from "./request-log.js";
import { SSE_HEADERS, SseConnection } from "./sse-connection.js";
import type { RunningRequest, ServerState } from "./state.js";

const EMPTY: HeaderList = [];

/**
 * One HTTP request and its reply: JSON if the server sends nothing but the answer, otherwise an event stream. Each
 * request of a batch has its own exchange and shares the reply of the `outer` one.
 *
 * A request counts as arriving until it may run or a reply is sent. Then it counts as in flight until its handler ends,
 * because a handler still works after the client disconnects. An open stream counts towards `maxStreams` instead.
 * Spec: Streamable HTTP, "Receiving Messages", https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
 */
export class HttpExchange implements Exchange, RunningRequest, BodyLimits {
  readonly state: ServerState;
  readonly http: Incoming;
  readonly maxBytes: number;
  bodyBytes = 0;
  principal: Principal | undefined;
  /** True until the request may run, or a reply is sent, or the client has disconnected. */
  arriving: boolean;
  /** True while `authenticate` runs. */
  identifying = false;
  /** True if the client has disconnected. */
  left = false;
  /** True while the handler runs. */
  working = false;
  /** Headers that CORS adds to the reply. */
  corsHeaders: HeaderList | undefined;
  readonly batched: boolean;
  id: Id = "";
  endless = false;
  settled = false;
  whenSettled: (() => void) | undefined;
  peer: ReplySession | undefined;
  ask?: NonNullable<Exchange["ask"]>;
  pause?: NonNullable<Exchange["pause"]>;
  /** The exchange that sends the reply. For a request of a batch, the exchange of the whole batch. */
  readonly #outer: HttpExchange;
  readonly #startedAt: number;
  #rules: ReplyRules = ALONE;
  /** True while the request counts as in flight. */
  #counted = false;
  /** True until the reply is complete. */
  #unfinished: boolean;
  /** True once a reply is sent or begun as a stream, or the client has disconnected. */
  #complete = false;
  /** True while the reply is an open stream. */
  #streaming = false;
  /** The limit that prevented the last stream from opening. */
  streamLimit = "maxStreams";
  /** Frees the place of the stream, if the server limits streams per caller. */
  #freePlace: (() => void) | undefined;
  /** Number of answers that the reply still waits for. */
  #expected = 1;
  /** Answers that wait for the rest of their batch. */
  #batch: string[] | undefined;
  /** The ids of the requests of a batch. */
  #ids: Id[] | undefined;
  /** Requests that have outlived the turn in which they arrived. A disconnect can cancel only these. */
  #waiting: HttpExchange[] | undefined;
  #stream: ReplyStream | undefined;
  #done = false;
  /** True once a handler has returned a promise. */
  #waits = false;
  #running = false;
  #abort: LazyAbort | undefined;

  constructor(state: ServerState, incoming: Incoming, outer?: HttpExchange) {
    this.state = state;
    this.http = incoming;
    this.maxBytes = state.limits.maxMessageBytes;
    this.batched = outer !== undefined;
    this.#outer = outer ?? this;
    this.principal = outer?.principal;
    this.arriving = this.#unfinished = outer === undefined;
    if (outer === undefined) {
      state.arriving += 1;
      state.unfinished += 1;
    }
    this.#startedAt = state.options.onRequest === undefined ? 0 : state.platform.monotonic();
  }

  get signal(): AbortSignal {
    this.#abort ??= new LazyAbort();
    return this.#abort.signal;
  }

  /** Runs the only request of this POST, unless a limit forbids it. */
  runAlone(accepted: Accepted, rules: ReplyRules): void {
    const limit = this.admit(1);
    if (limit === undefined) this.run(accepted, rules);
    else this.busy(limit, accepted.message.id);
  }

  /** Runs the only request of this POST. */
  run(accepted: Accepted, rules: ReplyRules): void {
    this.#rules = rules;
    this.#run(accepted, rules.session);
  }

  /** Begins the reply to a batch that needs `size` answers. */
  beginBatch(size: number, rules: ReplyRules): void {
    this.#rules = rules;
    this.#batch = [];
    this.#ids = [];
    this.#expected = size;
  }

  /** Runs one request of the batch, unless `begin` returns an error answer for it. */
  runInBatch(accepted: Accepted, begin?: (exchange: HttpExchange) => string | undefined): void {
    const inner = new HttpExchange(this.state, this.http, this);
    const refused = begin?.(inner);
    if (refused !== undefined) return this.answered({ text: refused });
    this.#ids?.push(accepted.message.id);
    inner.#run(accepted, this.#rules.session);
  }

  send(text: string): void {
    if (!this.settled) this.#outer.#write(text);
  }

  turnEnded(): void {
    if (this.arriving) return this.http.onLeave(() => this.#disconnected());
    if (this.#waits) this.#outlive();
  }

  overdue(): void {
    // If a limit forbids another stream, the late answer is sent as JSON.
    if (!this.#outer.#done) this.#outer.#toStream();
  }

  stop(reason: unknown): void {
    this.#abort ??= new LazyAbort();
    this.#abort.abort(reason);
  }

  cancel(reason: unknown): void {
    this.stop(reason);
    this.#end(undefined);
  }

  fail(error: EndedError, resumable: boolean): void {
    this.stop(error);
    const isResumable = resumable && this.#outer.#stream !== undefined;
    this.#end(isResumable ? undefined : { text: error.answerTo(this.id) });
  }

  settle(answer: Answer): void {
    const saving = this.peer?.saving;
    if (saving === undefined) return this.#end(answer);
    this.#outlive();
    void saving.then(() => this.#end(answer));
  }

  /** Adds one answer to the reply. A cancelled request passes undefined. */
  answered(answer: Answer | undefined): void {
    if (this.#done) return;
    this.#expected -= 1;
    const last = this.#expected <= 0;
    if (this.#stream !== undefined) {
      if (!last) return answer && this.#stream.message(answer.text);
      this.#finish();
      return this.#stream.finish(answer?.text);
    }
    if (answer !== undefined) this.#batch?.push(answer.text);
    if (!last) return;
    this.#finish();
    if (this.#batch === undefined && answer !== undefined) return this.reply(answer);
    if (this.#batch === undefined || this.#batch.length === 0) return this.empty(202);
    this.json(200, `[${this.#batch.join(",")}]`);
  }

  #run(accepted: Accepted, session: ReplySession | undefined): void {
    this.id = accepted.message.id;
    this.endless = accepted.endless;
    if (session !== undefined) {
      this.peer = session;
      this.ask = (request, signal) => session.askOn(request, (text) => this.send(text), signal);
      // If `primes` is false, the client treats a closed connection as a failure, so its requests cannot pause.
      if (session.primes) this.pause = (retryMs) => this.#outer.#pause(retryMs);
    }
    this.working = true;
    this.recount();
    let answer: Answer | Promise<Answer>;
    try {
      answer = this.state.endpoint.request(accepted, this);
    } catch (error) {
      answer = failedAnswer(this.state.platform, this.id, error);
    }
    if (!isThenable(answer)) return this.#handlerEnded(answer);
    this.#waits = true;
    this.http.afterTurn(this);
    answer.then(
      (settled) => this.#handlerEnded(settled),
      (error) => this.#handlerEnded(failedAnswer(this.state.platform, this.id, error)),
    );
  }

  #handlerEnded(answer: Answer): void {
    this.working = false;
    this.settle(answer);
    // If `settle` has completed the reply, the request is no longer counted.
    if (this.#counted) this.recount();
  }

  /** Ends this request. The reply ends with the last request that it answers. */
  #end(answer: Answer | undefined): void {
    if (this.settled) return;
    this.settled = true;
    // Only requests that outlived their turn count as running.
    if (this.#running) this.state.settled(this);
    const requests = this.peer?.requests;
    // The client may have reused the id of a cancelled request before the handler of that request settles. The entry of
    // the newer request must stay.
    if (requests?.get(this.id) === this) requests.delete(this.id);
    this.#outer.answered(answer);
    this.whenSettled?.();
  }

  /** Registers a request that has outlived the turn in which it arrived. */
  #outlive(): void {
    if (this.settled || this.#running) return;
    this.#running = true;
    this.#outer.#wait(this);
    if (!this.settled) this.state.started(this);
  }

  /**
   * Registers a request without an answer, so that a disconnect can cancel the request. If the client has already
   * disconnected, cancels the request at once, provided that a disconnect cancels requests (`leavingCancels`).
   */
  #wait(request: HttpExchange): void {
    if (this.#done) return this.#rules.leavingCancels ? request.cancel(closedByClient()) : undefined;
    request.recount();
    if (this.#waiting === undefined) {
      this.#waiting = [];
      if (this.#stream === undefined) this.http.onLeave(() => this.#disconnected());
    }
    this.#waiting.push(request);
  }

  #write(text: string): void {
    if (this.#done) return;
    if (this.#toStream()) return this.#stream?.message(text);
    this.busy(this.streamLimit);
    this.#finish();
    // A refused request must not continue, even in revisions where a disconnect does not cancel.
    for (const request of this.#waiting ?? [])
      request.cancel(new Error(`the limit \`${this.streamLimit}\` is reached`));
  }

  #pause(retryMs: number): void {
    if (!this.#done && this.#toStream()) this.#stream?.pause?.(retryMs);
  }

  /** Turns the reply into a stream. Returns false if a limit or the end of the session forbids it. */
  #toStream(): boolean {
    if (this.#stream !== undefined) return true;
    const rules = this.#rules;
    const connection = rules.session?.ended === true ? undefined : this.#openStream();
    if (connection === undefined) return false;
    connection.onLost = () => this.#disconnected();
    this.#stream = rules.openStream?.(connection, this.#ids ?? [this.id]) ?? connection;
    for (const text of this.#batch ?? []) this.#stream.message(text);
    return true;
  }

  /** Handles a disconnect of the client. */
  #disconnected(): void {
    if (this.#done) return;
    // `authenticate` keeps running after a disconnect, so the request counts until `authenticate` settles.
    this.left = true;
    if (this.identifying) return;
    this.#finish();
    if (this.#rules.leavingCancels) for (const request of this.#waiting ?? []) request.cancel(closedByClient());
  }

  #finish(): void {
    this.#done = true;
    this.finished();
  }

  /** Admits `more` requests to run. Returns the name of the limit that forbids it, if any. */
  admit(more: number): string | undefined {
    const { state, principal } = this;
    if (state.inFlight + more > state.limits.maxInFlight) return "maxInFlight";
    const limit = principal === undefined ? undefined : state.fullFor(principal.key, more);
    if (limit === undefined) this.#arrived();
    return limit;
  }

  /** Updates the in-flight count after the handler, or the stream of the reply, has begun or ended. */
  recount(): void {
    const { state, principal } = this;
    const counts = this.working && !this.#outer.#streaming;
    if (counts === this.#counted) return;
    this.#counted = counts;
    state.inFlight += counts ? 1 : -1;
    if (principal !== undefined) state.inFlightOf.change(principal.key, counts ? 1 : -1);
  }

  /**
   * Called when the reply is complete or the client has disconnected. A reply that is an open stream stays unfinished
   * until the stream ends.
   */
  finished(): void {
    this.#arrived();
    this.#complete = true;
    if (this.#counted) this.recount();
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

  /** Replies with one answer, with its status and any `Retry-After` or challenge headers. */
  reply(answer: Answer, extra?: HeaderList): void {
    const { status = 200, text, retryAfterMs, scopes } = answer;
    if (retryAfterMs === undefined && scopes === undefined) return this.json(status, text, extra);
    const head = answerHead(this.state, answer, this.principal);
    this.json(head.status, text, [...(extra ?? EMPTY), ...head.headers]);
  }

  json(status: number, text: string, extra?: HeaderList): void {
    this.#send(status, this.#headers(JSON_HEADERS, extra), text);
  }

  empty(status: number, extra?: HeaderList): void {
    this.#send(status, this.#headers(EMPTY, extra), undefined);
  }

  refuse({ status, headers, text }: Refusal): void {
    this.#send(status, this.#headers(headers), text);
  }

  /** Refuses the request because the server has reached a limit. */
  busy(limit: string, id?: Id): void {
    const message = `the server has reached its limit \`${limit}\`; try again later`;
    this.refuse(refusal(503, message, { id, headers: ["retry-after", "1"], data: { limit } }));
  }

  /** Replies to a request that failed inside the server. Only the operator sees the cause. */
  broken(error: unknown): void {
    this.state.platform.warn(`an HTTP request failed inside the server: ${String(error)}`);
    this.refuse(refusal(500, "the request failed inside the server"));
  }

  /**
   * Replies with an event stream that answers no JSON-RPC request. Returns undefined and sends nothing if a limit
   * forbids it.
   */
  openEvents(extra?: HeaderList): SseConnection | undefined {
    this.finished();
    return this.#openStream(extra);
  }

  /**
   * Calls `open`, which opens a stream that answers no JSON-RPC request, unless the caller has reached its limit of
   * streams.
   */
  async openCounted(open: () => Promise<void>): Promise<void> {
    const place = await this.state.endpoint.takeStream?.(this);
    if (typeof place === "object") return this.reply(place);
    this.#freePlace = place;
    try {
      await open();
    } finally {
      if (!this.#streaming) place?.();
    }
  }

  /** Begins an event stream as the reply. */
  #openStream(extra?: HeaderList): SseConnection | undefined {
    const { state } = this;
    const key = this.principal?.key;
    if (state.connections.size >= state.limits.maxStreams) return undefined;
    if (key !== undefined && !state.streamsOf.tryAdd(key, state.limits.maxStreamsPerPrincipal)) {
      this.streamLimit = "maxStreamsPerPrincipal";
      return undefined;
    }
    const out = this.http.stream(200, this.#headers(SSE_HEADERS, extra));
    const connection = new SseConnection(state, out, this.principal, () => {
      if (key !== undefined) state.streamsOf.change(key, -1);
      this.#freePlace?.();
      this.#streams(false);
      if (state.options.onRequest !== undefined) logRequest(state, this, 200, this.#startedAt);
    });
    this.#streams(true);
    // From now on the stream handles a disconnect.
    this.http.onLeave(() => connection.lose());
    return connection;
  }

  /**
   * Marks the stream of the reply as open or ended. While the stream is open, it counts towards `maxStreams`, and the
   * requests that it answers do not count as in flight.
   */
  #streams(isOpen: boolean): void {
    this.#streaming = isOpen;
    this.recount();
    for (const request of this.#waiting ?? []) request.recount();
    if (!isOpen) this.#settle();
  }

  #headers(base: HeaderList, extra?: HeaderList): HeaderList {
    // Fast path: the common reply allocates nothing.
    if (extra === undefined && this.corsHeaders === undefined) return base;
    return [...base, ...(extra ?? EMPTY), ...(this.corsHeaders ?? EMPTY)];
  }

  #send(status: number, headers: HeaderList, body: string | undefined): void {
    this.http.send(status, headers, body);
    if (!this.#complete) this.finished();
    if (this.state.options.onRequest !== undefined) logRequest(this.state, this, status, this.#startedAt);
  }
}

function closedByClient(): Error {
  return new Error("the client closed the connection");
}
