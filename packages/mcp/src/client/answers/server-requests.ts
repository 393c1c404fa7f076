import { INTERNAL_ERROR, INVALID_REQUEST } from "../../jsonrpc/error.js";
import type { Id, RequestMessage } from "../../jsonrpc/message.js";
import { errorText, resultText } from "../../jsonrpc/message-text.js";
import { McpError } from "../../protocol/error.js";
import type { ClientConnection } from "../connection/connection.js";
import type { RequestObservers } from "../connection/request-observers.js";
import type { Answerer } from "./answerer.js";

/** Requests of the server that are answered at the same time; the user could not follow more. */
const MAX_ASKED = 100;

/** A request of the server that has no answer yet. */
interface OpenQuestion {
  readonly unwanted: AbortController;
  /** The server took it back. */
  cancelled: boolean;
  /** Lets the silence of calls in flight count again. */
  release(): void;
}

/** Answers the requests that a server sends, in the era that has them. */
export class ServerRequests {
  readonly #connection: ClientConnection;
  readonly #answerer: Answerer;
  readonly #hold: () => () => void;
  readonly #fault: (error: Error) => void;
  readonly #observers: RequestObservers | undefined;
  /** One that was taken back stays until its handler ends, so that no server can start more handlers than the limit. */
  readonly #asked = new Map<Id, OpenQuestion>();

  constructor(
    connection: ClientConnection,
    answerer: Answerer,
    hold: () => () => void,
    fault: (error: Error) => void,
    observers: RequestObservers | undefined,
  ) {
    this.#connection = connection;
    this.#answerer = answerer;
    this.#hold = hold;
    this.#fault = fault;
    this.#observers = observers;
  }

  /**
   * The text of the answer; an empty one where the protocol allows none. Before the handshake only `ping` is answered: nobody
   * knows yet who asks. Never rejects.
   */
  async answer(message: RequestMessage, about?: Id): Promise<string> {
    const { id, method } = message;
    const { asking } = this.#connection;
    if (asking?.serverMayAsk === false) {
      this.#fault(
        new McpError("invalid_response", `the server sent the request ${method}, which this revision forbids`, {
          fix: "Report it to the author of the server.",
        }),
      );
      return "";
    }
    if (method === "ping") return resultText(id, "{}");
    if (asking === undefined)
      return errorText(id, INVALID_REQUEST, "only `ping` is answered before the handshake is done");
    if (this.#asked.has(id)) return errorText(id, INVALID_REQUEST, "a request with this id is still in flight");
    if (this.#asked.size >= MAX_ASKED) {
      return errorText(id, INTERNAL_ERROR, `more than ${MAX_ASKED} requests wait for an answer`);
    }
    // While the server waits for this user, its silence must not count as a timeout.
    const asked: OpenQuestion = { unwanted: new AbortController(), cancelled: false, release: this.#hold() };
    this.#asked.set(id, asked);
    const respond = async () => {
      const text = await this.#answerer.respond(message, asking, asked.unwanted, about);
      return asked.cancelled ? "" : text;
    };
    try {
      return await (this.#observers?.answer(message, asking, respond) ?? respond());
    } finally {
      asked.release();
      this.#asked.delete(id);
    }
  }

  /** The server no longer wants an answer. */
  cancel(id: unknown): void {
    // A foreign value finds nothing in the map.
    const asked = this.#asked.get(id as Id);
    if (asked === undefined) return;
    asked.cancelled = true;
    asked.release();
    asked.unwanted.abort(new McpError("cancelled", "the server no longer waits for this answer"));
  }

  /** Aborts all answers in progress. */
  cancelAll(): void {
    for (const id of this.#asked.keys()) this.cancel(id);
  }
}
