import { isObject } from "../jsonrpc/message.js";
import type { RecordedMessage, Recording } from "./recording.js";

/** A message that the server sent while it handled a request. */
export type RecordedStep =
  | { readonly kind: "notification"; readonly method: string; readonly params: Record<string, unknown> }
  | {
      readonly kind: "question";
      readonly method: string;
      readonly params: Record<string, unknown>;
      /** The client's answer, with `result` or `error`. Absent if the client did not answer. */
      answer?: Record<string, unknown>;
    };

/** The answer to a request. */
export type RecordedOutcome =
  | { readonly result: Record<string, unknown> }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** One request of the client, with every message from the server that belongs to it. */
export interface RecordedExchange {
  readonly method: string;
  /** The parameters without `_meta`. */
  readonly params: Record<string, unknown>;
  /** Messages from the server before the answer, in order. */
  readonly steps: RecordedStep[];
  /** The answer. Absent if the session ended or the client cancelled before it arrived. */
  outcome?: RecordedOutcome;
  /** Messages from the server that belong to no request and arrived after the answer to this request. */
  readonly after: RecordedStep[];
}

/** Groups the messages of a recording by request, in the order in which the requests were sent. */
export function exchangesOf(recording: Pick<Recording, "messages">): RecordedExchange[] {
  const sorter = new ExchangeSorter();
  for (const message of recording.messages) sorter.add(message);
  return sorter.exchanges;
}

interface OpenExchange {
  readonly exchange: RecordedExchange;
  readonly connection: number;
  readonly progressToken: unknown;
}

/**
 * The method of streams that stay open for changes. Messages on such a stream are not grouped under the stream's
 * request.
 */
const LISTEN = "subscriptions/listen";

class ExchangeSorter {
  readonly exchanges: RecordedExchange[] = [];
  readonly #open = new Map<string, OpenExchange>();
  readonly #asked = new Map<string, Extract<RecordedStep, { kind: "question" }>>();
  #answered: RecordedExchange | undefined;

  add({ direction, message, about, connection = 1 }: RecordedMessage): void {
    const { id, method } = message;
    const key = keyOf(connection, id);
    if (direction === "sent") {
      if (typeof method === "string" && id !== undefined) this.#request(key, method, message, connection);
      else if (method === undefined) this.#answer(key, message);
    } else if (typeof method !== "string") this.#outcome(key, message);
    else this.#step(id === undefined ? undefined : key, method, message, { about, connection });
  }

  #request(key: string, method: string, message: Readonly<Record<string, unknown>>, connection: number): void {
    const { _meta: meta, ...params } = paramsOf(message);
    const exchange: RecordedExchange = { method, params, steps: [], after: [] };
    this.exchanges.push(exchange);
    const progressToken = isObject(meta) ? meta["progressToken"] : undefined;
    this.#open.set(key, { exchange, connection, progressToken });
  }

  #outcome(key: string, { result, error }: Readonly<Record<string, unknown>>): void {
    const found = this.#open.get(key)?.exchange;
    if (found === undefined) return;
    this.#open.delete(key);
    this.#answered = found;
    if (isObject(result)) found.outcome = { result };
    else if (isObject(error)) {
      const { code, message, data } = error;
      found.outcome = {
        error: { code: Number(code), message: String(message), ...(data === undefined ? {} : { data }) },
      };
    }
  }

  #answer(key: string, { result, error }: Readonly<Record<string, unknown>>): void {
    const question = this.#asked.get(key);
    this.#asked.delete(key);
    if (question !== undefined) question.answer = error === undefined ? { result } : { error };
  }

  #step(
    key: string | undefined,
    method: string,
    message: Readonly<Record<string, unknown>>,
    place: { readonly about: unknown; readonly connection: number },
  ): void {
    if (method === "notifications/subscriptions/acknowledged") return;
    const params = paramsOf(message);
    const open = this.#openFor(method, params, place);
    const steps = open?.exchange.steps ?? this.#answered?.after;
    if (steps === undefined) return;
    if (key === undefined) {
      steps.push({ kind: "notification", method, params });
      return;
    }
    const question: RecordedStep = { kind: "question", method, params };
    steps.push(question);
    this.#asked.set(key, question);
  }

  /**
   * Returns the open request that a message from the server belongs to. Progress belongs to the request with its token.
   * Any other message belongs to the request on whose stream it arrived, otherwise to the latest open request.
   */
  #openFor(
    method: string,
    params: Record<string, unknown>,
    { about, connection }: { readonly about: unknown; readonly connection: number },
  ): OpenExchange | undefined {
    const here = [...this.#open.values()].filter((open) => open.connection === connection);
    if (method === "notifications/progress")
      return here.find(({ progressToken }) => progressToken !== undefined && progressToken === params["progressToken"]);
    const named = about === undefined ? undefined : this.#open.get(keyOf(connection, about));
    if (named !== undefined && named.exchange.method !== LISTEN) return named;
    return here.filter(({ exchange }) => exchange.method !== LISTEN).at(-1);
  }
}

function keyOf(connection: number, id: unknown): string {
  return `${connection} ${JSON.stringify(id)}`;
}

function paramsOf({ params }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return isObject(params) ? params : {};
}
