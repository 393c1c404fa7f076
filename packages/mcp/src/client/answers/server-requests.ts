import { INTERNAL_ERROR } from "../../jsonrpc/error.js";
import type { Id, RequestMessage } from "../../jsonrpc/message.js";
import { errorText } from "../../jsonrpc/message-text.js";
import { McpError } from "../../protocol/error.js";
import type { CallDeadlines } from "../call/pending-call.js";
import type { ClientConnection } from "../connection/connection.js";
import type { Answerer } from "./answerer.js";

/** Requests of the server that are answered at the same time; the user could not follow more. */
const MAX_ASKED = 100;

/** Answers the requests that a server sends, in the era that has them. */
export class ServerRequests {
  readonly #connection: ClientConnection;
  readonly #answerer: Answerer;
  readonly #deadlines: CallDeadlines;
  readonly #fault: (error: Error) => void;
  readonly #asked = new Map<Id, AbortController>();

  constructor(
    connection: ClientConnection,
    answerer: Answerer,
    deadlines: CallDeadlines,
    fault: (error: Error) => void,
  ) {
    this.#connection = connection;
    this.#answerer = answerer;
    this.#deadlines = deadlines;
    this.#fault = fault;
  }

  /** The text of the answer; an empty one where the protocol allows none. Never rejects. */
  async answer(message: RequestMessage): Promise<string> {
    const { last } = this.#connection;
    if (last?.era.serverAsks === false) {
      this.#fault(
        new McpError("invalid_response", `the server sent the request ${message.method}, which this revision forbids`, {
          fix: "Report it to the author of the server.",
        }),
      );
      return "";
    }
    if (this.#asked.size >= MAX_ASKED) {
      return errorText(message.id, INTERNAL_ERROR, `more than ${MAX_ASKED} requests wait for an answer`);
    }
    const unwanted = new AbortController();
    this.#asked.set(message.id, unwanted);
    // While the server waits for this user, its silence must not count as a timeout.
    this.#deadlines.hold();
    try {
      const context = { signal: unwanted.signal, server: last?.serverInfo };
      const text = await this.#answerer.respond(message, context, last?.era);
      return unwanted.signal.aborted ? "" : text;
    } finally {
      this.#deadlines.release();
      this.#asked.delete(message.id);
    }
  }

  /** The server no longer wants an answer. */
  cancel(id: unknown): void {
    // A foreign value finds nothing in the map.
    this.#asked.get(id as Id)?.abort();
  }

  /** Aborts all answers in progress. */
  cancelAll(): void {
    for (const unwanted of this.#asked.values()) unwanted.abort();
  }
}
