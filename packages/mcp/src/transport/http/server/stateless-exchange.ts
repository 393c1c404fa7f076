import type { Accepted } from "../../../era/era.js";
import type { HttpFacts } from "../../../http/http.js";
import type { Id, RequestMessage } from "../../../jsonrpc/message.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { Answer, Exchange, Principal } from "../../transport.js";
import { LazyAbort } from "./lazy-abort.js";
import { type Lane, type Member, PostReply, type PostReplyOptions } from "./post-reply.js";
import { failedAnswer } from "./refusal.js";
import type { Pending, ServerState, Stoppable } from "./state.js";
import type { Visit } from "./visit.js";

/** A request that stands alone: its stream has no ids, and nobody can come back to it. */
class StatelessExchange implements Exchange, Member, Pending, Stoppable {
  readonly id: Id;
  readonly batched: boolean;
  readonly http: HttpFacts;
  readonly principal: Principal | undefined;
  /** Subscriptions: a shutdown has to end them, because their client will not. */
  readonly endless: boolean;
  readonly #state: ServerState;
  readonly #reply: PostReply;
  #abort: LazyAbort | undefined;
  #settled = false;

  constructor(state: ServerState, accepted: Accepted, reply: PostReply, batched: boolean) {
    this.#state = state;
    this.id = accepted.message.id;
    this.endless = accepted.endless;
    this.batched = batched;
    this.http = reply.visit.incoming;
    this.principal = reply.visit.principal;
    this.#reply = reply;
  }

  get signal(): AbortSignal {
    return this.#lazyAbort().signal;
  }

  say(text: string): void {
    this.#reply.say(text);
  }

  turnEnded(): void {
    if (this.#settled) return;
    this.#state.started(this);
    this.#reply.wait(this);
  }

  settle(answer: Answer): void {
    this.#settled = true;
    this.#state.settled(this);
    this.#reply.answer(answer);
  }

  stop(reason: Error): void {
    this.#lazyAbort().abort(reason);
  }

  left(cancelled: boolean): void {
    if (!cancelled) return;
    // A handler that does not heed its signal must not hold the connection's memory.
    this.#state.settled(this);
    this.#lazyAbort().abort(new Error("the client closed the connection"));
  }

  #lazyAbort(): LazyAbort {
    this.#abort ??= new LazyAbort();
    return this.#abort;
  }
}

// Made once: the common request allocates no options.
const CANCELLED_BY_LEAVING: PostReplyOptions = { openLane: plainLane, leavingCancels: true };
const NOT_CANCELLED: PostReplyOptions = { openLane: plainLane, leavingCancels: false };

/** Runs one request that stands alone. `leavingCancels` says whether the client's leaving is its way to cancel. */
export function runAlone(state: ServerState, visit: Visit, accepted: Accepted, leavingCancels: boolean): void {
  if (state.inFlight >= state.limits.maxInFlight) return visit.busy("maxInFlight", accepted.message.id);
  run(state, accepted, new PostReply(state, visit, leavingCancels ? CANCELLED_BY_LEAVING : NOT_CANCELLED), false);
}

/** Runs a batch of requests that stand alone and share one reply. `known` are the answers to what was no message. */
export function runBatchAlone(
  state: ServerState,
  visit: Visit,
  messages: readonly RequestMessage[],
  known: readonly string[],
): void {
  if (state.inFlight >= state.limits.maxInFlight) return visit.busy("maxInFlight");
  const reply = new PostReply(state, visit, { ...NOT_CANCELLED, batchSize: messages.length + known.length });
  for (const text of known) reply.answer({ text });
  for (const message of messages) run(state, state.endpoint.accept(message, visit.incoming), reply, true);
}

function run(state: ServerState, accepted: Accepted, reply: PostReply, batched: boolean): void {
  const exchange = new StatelessExchange(state, accepted, reply, batched);
  const { id } = exchange;
  let answer: Answer | Promise<Answer>;
  try {
    answer = state.endpoint.request(accepted, exchange);
  } catch (error) {
    answer = failedAnswer(state.platform, id, error);
  }
  // The fast path: nothing was watched, nothing has to be forgotten.
  if (!(answer instanceof Promise)) return reply.answer(answer);
  state.afterTurn(exchange);
  answer.then(
    (settled) => exchange.settle(settled),
    (error) => exchange.settle(failedAnswer(state.platform, id, error)),
  );
}

/** A stream without ids: when its connection is gone, so is all that was to be said. */
function plainLane(visit: Visit, lost: () => void): Lane | undefined {
  const connection = visit.stream();
  if (connection === undefined) return undefined;
  connection.onLost = lost;
  return {
    message: (text) => connection.write(encodeEvent({ data: text })),
    finish(text) {
      if (text !== undefined) connection.write(encodeEvent({ data: text }));
      connection.end();
    },
  };
}
