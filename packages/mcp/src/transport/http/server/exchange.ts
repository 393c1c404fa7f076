import { isThenable } from "../../../encoding/maybe-promise.js";
import type { Accepted } from "../../../era/era.js";
import { LazyAbort } from "../../../jsonrpc/lazy-abort.js";
import type { Id } from "../../../jsonrpc/message.js";
import type { Answer, Exchange } from "../../transport.js";
import type { Incoming } from "./incoming.js";
import { type EndedError, failedAnswer } from "./refusal.js";
import { HttpReply } from "./reply.js";
import { ALONE, type ReplyRules, type ReplySession, type ReplyStream } from "./reply-rules.js";
import type { RunningRequest, ServerState } from "./state.js";

/**
 * One HTTP request and its reply: JSON if the answer is all there is to send, otherwise an event stream. Each request of a
 * batch has an exchange of its own and shares the reply of the `outer` one.
 * Spec: Streamable HTTP, "Receiving Messages", https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#receiving-messages
 */
export class HttpExchange extends HttpReply implements Exchange, RunningRequest {
  readonly batched: boolean;
  /** True while `authenticate` decides who sends it. */
  identifying = false;
  /** True if the client has disconnected. */
  left = false;
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
  /** The requests of a batch. */
  #ids: Id[] | undefined;
  /** Requests that have outlived the turn in which they arrived; only these can be cancelled by a disconnect. */
  #waiting: HttpExchange[] | undefined;
  #stream: ReplyStream | undefined;
  #done = false;
  /** True once a handler has returned a promise. */
  #waits = false;
  #running = false;
  #abort: LazyAbort | undefined;

  constructor(state: ServerState, incoming: Incoming, outer?: HttpExchange) {
    super(state, incoming, outer);
    this.batched = outer !== undefined;
    this.#outer = outer ?? this;
  }

  get signal(): AbortSignal {
    return this.#lazyAbort().signal;
  }

  /** Runs the one request of this POST. */
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

  /** Runs one request of the batch, unless `begin` returns an answer that refuses it. */
  runInBatch(accepted: Accepted, begin?: (exchange: HttpExchange) => string | undefined): void {
    const inner = new HttpExchange(this.state, this.http, this);
    const refused = begin?.(inner);
    if (refused === undefined) this.#ids?.push(accepted.message.id);
    if (refused === undefined) inner.#run(accepted, this.#rules.session);
    else this.answered({ text: refused });
  }

  say(text: string): void {
    if (!this.settled) this.#outer.#write(text);
  }

  turnEnded(): void {
    if (this.arriving) return this.http.onLeave(() => this.#leave());
    if (this.#waits) this.#outlive();
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

  fail(error: EndedError, goesOn: boolean): void {
    this.#lazyAbort().abort(error);
    const isElsewhere = goesOn && this.#outer.#stream !== undefined;
    this.#end(isElsewhere ? undefined : { text: error.answerTo(this.id) });
  }

  settle(answer: Answer): void {
    const saving = this.peer?.saving;
    if (saving === undefined) return this.#end(answer);
    this.#outlive();
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
    this.#waits = true;
    this.working = true;
    this.recount();
    this.http.afterTurn(this);
    answer.then(
      (settled) => this.#worked(settled),
      (error) => this.#worked(failedAnswer(this.state.platform, this.id, error)),
    );
  }

  #worked(answer: Answer): void {
    this.working = false;
    this.settle(answer);
    // A reply that is complete now has done this already.
    if (this.counted) this.recount();
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

  /** The request has outlived the turn in which it arrived. */
  #outlive(): void {
    if (this.settled || this.#running) return;
    this.#running = true;
    this.state.started(this);
    this.#outer.#wait(this);
  }

  /** Keeps the reply open for a request that has no answer yet. */
  #wait(request: HttpExchange): void {
    if (this.#done) return this.#rules.leavingCancels ? request.cancel(closedByClient()) : undefined;
    if (this.#waiting === undefined) {
      this.#waiting = [];
      if (this.#stream === undefined) this.http.onLeave(() => this.#leave());
    }
    this.#waiting.push(request);
    request.recount();
  }

  #write(text: string): void {
    if (this.#done) return;
    if (this.#toStream()) return this.#stream?.message(text);
    this.busy(this.streamLimit);
    this.#finish();
    // A refused request must not continue, even where a disconnect does not cancel it.
    for (const request of this.#waiting ?? [])
      request.cancel(new Error(`the limit \`${this.streamLimit}\` is reached`));
  }

  #interrupt(retryMs: number): void {
    if (!this.#done && this.#toStream()) this.#stream?.pause?.(retryMs);
  }

  #toStream(): boolean {
    if (this.#stream !== undefined) return true;
    const open = () => this.openStream();
    const stream = this.#rules.openStream(
      open,
      () => this.#leave(),
      () => this.#ids ?? [this.id],
    );
    if (stream === undefined) return false;
    this.#stream = stream;
    for (const text of this.#batch ?? []) stream.message(text);
    return true;
  }

  protected override streams(isOpen: boolean): void {
    super.streams(isOpen);
    for (const request of this.#waiting ?? []) request.recount();
  }

  /** The client has disconnected. */
  #leave(): void {
    if (this.#done) return;
    // Counted until `authenticate` has decided: it works on, also for nobody.
    this.left = true;
    if (this.identifying) return;
    this.#finish();
    if (this.#rules.leavingCancels) for (const request of this.#waiting ?? []) request.cancel(closedByClient());
  }

  #finish(): void {
    this.#done = true;
    this.finished();
  }

  #lazyAbort(): LazyAbort {
    this.#abort ??= new LazyAbort();
    return this.#abort;
  }
}

function closedByClient(): Error {
  return new Error("the client closed the connection");
}
