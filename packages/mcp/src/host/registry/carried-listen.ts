import type { Accepted } from "../../era/era.js";
import { isObject } from "../../jsonrpc/message.js";
import { CHANGING_LISTS, listNotice, Notice } from "../../server/changes/change.js";
import type { Answer, Endpoint, Exchange } from "../../transport/transport.js";

/**
 * One listening client whose request outlives the server that it was sent to: when the server is replaced, the request ends
 * there and begins at the next, and the client hears that its lists may have changed.
 */
export class CarriedListen {
  readonly #accepted: Accepted;
  readonly #exchange: Exchange;
  #leave: AbortController | undefined;
  #next: Endpoint | undefined;

  constructor(accepted: Accepted, exchange: Exchange) {
    this.#accepted = accepted;
    this.#exchange = exchange;
  }

  /** Resolves with the answer of the server at which the request ends for good. */
  async run(first: Endpoint): Promise<Answer> {
    const exchange = this.#exchange;
    for (let endpoint = first, isFirst = true; ; isFirst = false) {
      const leave = new AbortController();
      const left = () => leave.abort(exchange.signal.reason);
      this.#leave = leave;
      exchange.signal.addEventListener("abort", left, { once: true });
      if (exchange.signal.aborted) left();
      const part = new PartOfExchange(exchange, leave.signal, !isFirst);
      const answer = await endpoint.request(this.#accepted, part);
      exchange.signal.removeEventListener("abort", left);
      const next = this.#next;
      this.#next = undefined;
      if (next === undefined || exchange.signal.aborted) return answer;
      endpoint = next;
    }
  }

  /** Ends the request where it is, in good order, and begins it at another server if there is one. */
  moveTo(next: Endpoint | undefined): void {
    this.#next = next;
    if (next !== undefined) this.#tellOfChanges();
    this.#leave?.abort(new Error("the server was replaced"));
  }

  #tellOfChanges(): void {
    const { id } = this.#exchange;
    const asked = this.#accepted.message.params?.["notifications"];
    for (const list of CHANGING_LISTS) {
      const notice = listNotice(list);
      if (isObject(asked) && asked[notice.filter] === true) this.#exchange.say(new Notice(notice).tagged(id));
    }
  }
}

/** The exchange of a listening client as one server sees it. The client has its acknowledgment from the first of them. */
class PartOfExchange implements Exchange {
  readonly id: Exchange["id"];
  readonly signal: AbortSignal;
  readonly peer: Exchange["peer"];
  readonly http: Exchange["http"];
  readonly principal: Exchange["principal"];
  readonly remote: Exchange["remote"];
  readonly batched: Exchange["batched"];
  readonly #whole: Exchange;
  #isAcknowledgment: boolean;

  constructor(whole: Exchange, signal: AbortSignal, acknowledged: boolean) {
    this.id = whole.id;
    this.signal = signal;
    this.peer = whole.peer;
    this.http = whole.http;
    this.principal = whole.principal;
    this.remote = whole.remote;
    this.batched = whole.batched;
    this.#whole = whole;
    this.#isAcknowledgment = acknowledged;
  }

  say(text: string): void {
    if (!this.#isAcknowledgment) return this.#whole.say(text);
    this.#isAcknowledgment = false;
  }
}
