import type { Accepted } from "../../../era/era.js";
import type { HttpFacts } from "../../../http/http.js";
import type { Id } from "../../../jsonrpc/message.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { Answer, Exchange, Outgoing, Principal } from "../../transport.js";
import { LazyAbort } from "../server/lazy-abort.js";
import type { Lane, Member, PostReply } from "../server/post-reply.js";
import { failedAnswer } from "../server/refusal.js";
import type { Pending, ServerState, Stoppable } from "../server/state.js";
import type { Visit } from "../server/visit.js";
import type { HttpSession, RunningRequest } from "./session.js";

/** A request inside a session. Its client may lose the connection and come back for the answer. */
class SessionExchange implements Exchange, Member, Pending, RunningRequest, Stoppable {
  readonly id: Id;
  readonly peer: HttpSession;
  readonly batched: boolean;
  readonly http: HttpFacts;
  readonly principal: Principal | undefined;
  readonly endless: boolean;
  readonly pause?: (retryMs: number) => void;
  readonly #state: ServerState;
  readonly #reply: PostReply;
  #abort: LazyAbort | undefined;
  #settled = false;

  constructor(state: ServerState, accepted: Accepted, session: HttpSession, reply: PostReply, batched: boolean) {
    this.#state = state;
    this.id = accepted.message.id;
    this.endless = accepted.endless;
    this.peer = session;
    this.batched = batched;
    this.http = reply.visit.incoming;
    this.principal = reply.visit.principal;
    this.#reply = reply;
    // Earlier revisions take a closed connection for a failure.
    if (session.primes) this.pause = (retryMs) => reply.pause(retryMs);
  }

  get signal(): AbortSignal {
    return this.#lazyAbort().signal;
  }

  say(text: string): void {
    if (!this.#settled) this.#reply.say(text);
  }

  ask(request: Outgoing, signal?: AbortSignal): Promise<unknown> {
    return this.peer.askOn(request, (text) => this.say(text), signal);
  }

  stop(reason: Error): void {
    this.#lazyAbort().abort(reason);
  }

  left(): void {
    // Losing the connection is no cancellation in this era; only the answer has nowhere to go.
  }

  /** The client cancelled, or its session is over: the stream ends without an answer. */
  abort(reason: unknown): void {
    this.#lazyAbort().abort(reason);
    this.settle(undefined);
  }

  turnEnded(): void {
    if (this.#settled) return;
    this.#state.started(this);
    this.#reply.wait(this);
  }

  /** Answers once what the request changed in the session is stored, so that the client can rely on it. */
  settleWhenStored(answer: Answer): void {
    const { saving } = this.peer;
    if (saving === undefined) this.settle(answer);
    else void saving.then(() => this.settle(answer));
  }

  settle(answer: Answer | undefined): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#state.settled(this);
    this.peer.finish(this.id, this);
    this.#reply.answer(answer);
  }

  #lazyAbort(): LazyAbort {
    this.#abort ??= new LazyAbort();
    return this.#abort;
  }
}

/** Runs one request inside a session; no other with its id may be running. */
export function runInSession(
  state: ServerState,
  session: HttpSession,
  accepted: Accepted,
  reply: PostReply,
  batched: boolean,
): void {
  const exchange = new SessionExchange(state, accepted, session, reply, batched);
  // Before the handler runs, so that it can be cancelled by what it does.
  session.begin(exchange.id, exchange);
  let answer: Answer | Promise<Answer>;
  try {
    answer = state.endpoint.request(accepted, exchange);
  } catch (error) {
    answer = failedAnswer(state.platform, exchange.id, error);
  }
  if (!(answer instanceof Promise)) {
    if (session.saving !== undefined) state.afterTurn(exchange);
    return exchange.settleWhenStored(answer);
  }
  state.afterTurn(exchange);
  answer.then(
    (settled) => exchange.settleWhenStored(settled),
    (error) => exchange.settle(failedAnswer(state.platform, exchange.id, error)),
  );
}

/** The stream of a request's reply: it outlives its connection. */
export function sessionLane(session: HttpSession, visit: Visit): Lane | undefined {
  if (session.ended) return undefined;
  const connection = visit.stream();
  if (connection === undefined) return undefined;
  const stream = session.newStream();
  stream.attach(connection, 0);
  // Older decoders take an event without data for a message.
  if (session.primes) stream.prime();
  return {
    message: (text) => stream.say(text),
    finish: (text) => stream.finish(text),
    pause: (retryMs) => stream.pause(encodeEvent({ retry: Math.max(0, Math.round(retryMs)) })),
  };
}
