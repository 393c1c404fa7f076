import { INTERNAL_ERROR } from "../../../jsonrpc/error.js";
import type { Id } from "../../../jsonrpc/message.js";
import type { Answer, Principal } from "../../transport.js";
import type { HeaderList, Incoming } from "./incoming.js";
import { type Refusal, refusal } from "./refusal.js";
import { requestLogEntry } from "./request-log.js";
import { SseConnection } from "./sse-connection.js";
import type { ServerState } from "./state.js";

const JSON_REPLY: HeaderList = ["content-type", "application/json"];
const EMPTY: HeaderList = [];
const SSE_REPLY: HeaderList = [
  "content-type",
  "text/event-stream",
  // `no-transform` keeps compressing proxies from holding events back.
  "cache-control",
  "no-cache, no-transform",
  "x-accel-buffering",
  "no",
];

/** One HTTP request on its way through the server, and the only place that answers it. */
export class Visit {
  readonly incoming: Incoming;
  readonly #state: ServerState;
  principal: Principal | undefined;
  /** What CORS adds to the reply. */
  corsHeaders: HeaderList | undefined;
  readonly #startedAt: number;

  constructor(state: ServerState, incoming: Incoming) {
    this.#state = state;
    this.incoming = incoming;
    this.#startedAt = state.options.onRequest === undefined ? 0 : state.platform.now();
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

  /** Sends an answer whose status nothing has fixed yet. */
  answer(answer: Answer, extra?: HeaderList): void {
    if (answer.scopes === undefined) return this.json(answer.status ?? 200, answer.text, extra);
    const challenge = this.#state.options.challenge?.(answer.scopes) ?? {
      "www-authenticate": `Bearer error="insufficient_scope", scope="${answer.scopes.filter(isScope).join(" ")}"`,
    };
    this.json(403, answer.text, [...(extra ?? []), ...flatten(challenge)]);
  }

  /** Begins an event stream; undefined when a limit forbids it, and then nothing was sent. */
  stream(extra?: HeaderList): SseConnection | undefined {
    const key = this.principal?.key;
    if (this.#state.takeStream(key) !== undefined) return undefined;
    const out = this.incoming.stream(200, this.#headers(SSE_REPLY, extra));
    const connection = new SseConnection(this.#state, out, this.principal, () => {
      this.#state.returnStream(key);
      this.#log(200);
    });
    // From here on the stream decides what it means that the client left.
    this.incoming.onLeave(() => connection.lose());
    return connection;
  }

  /** Answers for a fault of the server's own. Its cause goes to the operator only. */
  broken(error: unknown): void {
    this.#state.platform.warn(`an HTTP request failed inside the server: ${String(error)}`);
    this.refuse(refusal(500, INTERNAL_ERROR, "the request failed inside the server"));
  }

  /** Refuses because the server is at one of its limits. */
  busy(limit: string, id?: Id): void {
    const message = `the server is at its limit \`${limit}\`; try again later`;
    this.refuse(refusal(503, INTERNAL_ERROR, message, { id, headers: ["retry-after", "1"], data: { limit } }));
  }

  #headers(base: HeaderList, extra?: HeaderList): HeaderList {
    // The common reply allocates nothing.
    if (extra === undefined && this.corsHeaders === undefined) return base;
    return [...base, ...(extra ?? EMPTY), ...(this.corsHeaders ?? EMPTY)];
  }

  #send(status: number, headers: HeaderList, body: string | undefined): void {
    this.incoming.send(status, headers, body);
    this.#log(status);
  }

  #log(status: number): void {
    const { onRequest } = this.#state.options;
    if (onRequest === undefined) return;
    const durationMs = this.#state.platform.now() - this.#startedAt;
    try {
      onRequest(requestLogEntry(this.incoming, this.principal, status, durationMs));
    } catch (error) {
      this.#state.platform.warn(`the \`onRequest\` hook threw: ${String(error)}`);
    }
  }
}

/** Header names and values in turn, from an object. */
export function flatten(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}

/** RFC 6749, section 3.3; anything else could break out of the quotes. */
function isScope(scope: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope);
}
