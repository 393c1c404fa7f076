import { McpError } from "@parley/mcp/protocol";
import type { Redactor } from "@parley/mcp/recording";
import type { ClientObserver } from "@parley/mcp/telemetry";
import type { LoginStep } from "../contract/connections.js";
import type { HttpExchange } from "../contract/timeline.js";
import { refusedProbeNote } from "../timeline/message-facts.js";
import type { Timeline } from "../timeline/timeline.js";
import type { LoginProgress } from "./login-progress.js";
import {
  headersOf,
  jsonRecord,
  type SendRequest,
  type SendResponse,
  shownBody,
  shownHeaders,
} from "./shown-exchange.js";
import type { ExchangeFollower } from "./watched-sender.js";

/** Messages of which the exchange is awaited, or is kept for the answer. */
const MOST_AWAITED = 2_000;
/** Characters of an address in a label. */
const MOST_LABEL = 200;

/** What the watcher needs of its connection. */
export interface HttpWatcherParts {
  readonly connection: string;
  readonly timeline: Timeline;
  readonly redactor: Redactor;
  /** Told of the steps of a login, where the inspector does it. */
  readonly login?: LoginProgress | undefined;
}

type Id = string | number;

/** Notes the HTTP exchanges of one connection: at the messages that they carry, or as entries of their own. */
export class HttpWatcher {
  readonly #parts: HttpWatcherParts;
  /** Entries of messages that were sent, by what their body says. */
  readonly #sent = new Map<string, number>();
  readonly #exchanges = new Map<Id, HttpExchange>();
  /** Shows what came in place of an answer, by the request. */
  readonly #bodies = new Map<Id, () => void>();

  constructor(parts: HttpWatcherParts) {
    this.#parts = parts;
  }

  /** A message was given to the transport; its exchange follows. */
  noteSent(message: Readonly<Record<string, unknown>>, seq: number): void {
    keep(this.#sent, keyOf(message), seq);
  }

  /** The exchange that brought the answer to a request, or its stream. */
  exchangeOf(id: unknown): HttpExchange | undefined {
    if (typeof id !== "string" && typeof id !== "number") return undefined;
    const exchange = this.#exchanges.get(id);
    this.#exchanges.delete(id);
    this.#bodies.delete(id);
    return exchange;
  }

  /** The answer to a request is none: what came in its place is shown with the request. */
  showBody(id: Id): void {
    this.#bodies.get(id)?.();
    this.#bodies.delete(id);
  }

  follow(request: SendRequest): ExchangeFollower {
    const begun = this.#parts.timeline.now();
    const message = messageIn(request);
    if (message !== undefined) return this.#followMessage(request, message, begun);
    const accepts = [...headersOf(request)].some(
      ([name, value]) => name === "accept" && value.includes("event-stream"),
    );
    if (request.method === "DELETE" || (request.method === "GET" && accepts)) return this.#followPlain(request, begun);
    return this.#followLogin(request, begun);
  }

  #followMessage(request: SendRequest, message: Readonly<Record<string, unknown>>, begun: number): ExchangeFollower {
    const { timeline } = this.#parts;
    const seq = this.#sent.get(keyOf(message));
    const show = (exchange: HttpExchange) => {
      if (seq !== undefined) timeline.attachHttp(seq, exchange);
      const { id } = message;
      if (message["method"] !== undefined && (typeof id === "string" || typeof id === "number")) {
        keep(this.#exchanges, id, exchange);
      }
    };
    show(this.#exchange(request));
    const follower: ExchangeFollower = {
      responded: (response) => {
        const exchange = this.#answered(request, response, begun);
        show(exchange);
        if (response.status < 400) {
          follower.body = this.#keptBody(message["id"], (responseBody) => show({ ...exchange, responseBody }));
          return;
        }
        const note = seq !== undefined && timeline.isProbe(seq) ? refusedProbeNote(response.status) : undefined;
        const refused = this.#noteRefusal(request, exchange, note);
        // What is answered in place of a message is often the page of a proxy, which explains it.
        follower.body = (text) => {
          timeline.attachHttp(refused, { ...exchange, responseBody: shownBody(text, this.#parts.redactor) });
        };
      },
      failed: (error) => {
        const exchange = this.#failed(request, error, begun);
        show(exchange);
        this.#add(request, exchange, `failed: ${exchange.failure}`);
      },
    };
    return follower;
  }

  /** Keeps the body of a response until its message is there; `show` is called once it is clear that there is none. */
  #keptBody(id: unknown, show: (body: string) => void): ((text: string) => void) | undefined {
    if (typeof id !== "string" && typeof id !== "number") return undefined;
    let body: string | undefined;
    let isWanted = false;
    const showWanted = () => isWanted && body !== undefined && show(shownBody(body, this.#parts.redactor));
    keep(this.#bodies, id, () => {
      isWanted = true;
      showWanted();
    });
    return (text) => {
      body = text;
      showWanted();
    };
  }

  /** Streams, and the end of a session. */
  #followPlain(request: SendRequest, begun: number): ExchangeFollower {
    return {
      responded: (response) => {
        const exchange = this.#answered(request, response, begun);
        if (response.status === 401 || response.status === 403) this.#noteRefusal(request, exchange);
        else this.#add(request, exchange, `HTTP ${response.status}`);
      },
      failed: (error) => {
        const exchange = this.#failed(request, error, begun);
        this.#add(request, exchange, `failed: ${exchange.failure}`);
      },
    };
  }

  #followLogin(request: SendRequest, begun: number): ExchangeFollower {
    const { timeline, login, redactor } = this.#parts;
    const step = stepOf(request);
    const sent = request.body === undefined ? {} : { requestBody: shownBody(request.body, redactor) };
    let noted: { seq: number; exchange: HttpExchange } | undefined;
    return {
      responded: (response) => {
        const exchange = { ...this.#answered(request, response, begun), ...sent };
        const seq = this.#add(request, exchange, `HTTP ${response.status}`);
        noted = { seq, exchange };
        const ok = response.status < 400;
        login?.note({ step, seq, shown: this.#shown(request), outcome: `HTTP ${response.status}`, ok });
      },
      body: (text) => {
        if (noted === undefined) return;
        timeline.attachHttp(noted.seq, { ...noted.exchange, responseBody: shownBody(text, redactor) });
        const outcome = outcomeOf(step, text);
        if (outcome === undefined) return;
        login?.amend(noted.seq, `HTTP ${noted.exchange.status}: ${outcome.text}`);
        if (outcome.scopes !== undefined) login?.granted(outcome.scopes);
      },
      failed: (error) => {
        const exchange = { ...this.#failed(request, error, begun), ...sent };
        const seq = this.#add(request, exchange, `failed: ${exchange.failure}`);
        login?.note({ step, seq, shown: this.#shown(request), outcome: exchange.failure ?? "failed", ok: false });
      },
    };
  }

  #noteRefusal(request: SendRequest, exchange: HttpExchange, note?: string): number {
    const { status } = exchange;
    const seq = this.#add(request, exchange, `HTTP ${status}`, note);
    if (status !== 401 && status !== 403) return seq;
    const challenge = exchange.responseHeaders?.["www-authenticate"] ?? "no WWW-Authenticate";
    const outcome = `HTTP ${status}: ${challenge.slice(0, 500)}`;
    this.#parts.login?.note({ step: "challenge", seq, shown: this.#shown(request), outcome, ok: true });
    return seq;
  }

  #add(request: SendRequest, exchange: HttpExchange, outcome: string, note?: string): number {
    const { timeline, connection } = this.#parts;
    const { status = 0, failure } = exchange;
    // A server may have no stream of its own, and may let no client end a session; it says so in this way.
    const isDeclined = status === 405 && request.method !== "POST";
    const failed = failure !== undefined || (status >= 400 && !isDeclined && note === undefined);
    return timeline.addHttp({ connection, label: `${this.#shown(request)}: ${outcome}`, exchange, failed, note });
  }

  #shown({ method, url }: SendRequest): string {
    return `${method} ${this.#parts.redactor.text(url).slice(0, MOST_LABEL)}`;
  }

  #exchange(request: SendRequest): HttpExchange {
    const { redactor } = this.#parts;
    const { method, url } = request;
    return { method, url: redactor.text(url), requestHeaders: shownHeaders(headersOf(request), redactor) };
  }

  #answered(request: SendRequest, response: SendResponse, begun: number): HttpExchange {
    const { redactor, timeline } = this.#parts;
    return {
      ...this.#exchange(request),
      status: response.status,
      responseHeaders: shownHeaders(Object.entries(response.headers?.() ?? {}), redactor),
      durationMs: timeline.now() - begun,
    };
  }

  #failed(request: SendRequest, error: unknown, begun: number): HttpExchange {
    const { redactor, timeline } = this.#parts;
    const failure = redactor.text(error instanceof Error ? error.message : String(error)).slice(0, 1_000);
    return { ...this.#exchange(request), durationMs: timeline.now() - begun, failure };
  }
}

/**
 * Tells what a server sent that is no message, or no answer to its request. Such things are in no message of the timeline, which
 * would show the request as if it still waited; over HTTP, the request then has the body that came.
 */
export function protocolFaults(
  tell: (text: string) => void,
  http?: HttpWatcher,
): Pick<ClientObserver, "request" | "fault"> {
  return {
    fault: ({ message }) => tell(`the server broke the protocol: ${message}`),
    request: () => ({
      ended: ({ outcome, error, requestId }) => {
        if (outcome !== "error") return;
        const { kind, message } = McpError.from(error);
        if (kind === "timeout") tell(message);
        if (kind !== "invalid_response") return;
        tell(`the server broke the protocol: ${message}`);
        http?.showBody(requestId);
      },
    }),
  };
}

/** The JSON-RPC message in the body of a request. */
function messageIn({ method, body }: SendRequest): Readonly<Record<string, unknown>> | undefined {
  if (method !== "POST" || body === undefined || !body.startsWith("{")) return undefined;
  try {
    // Safe: a JSON text that begins with a brace is an object.
    const message = JSON.parse(body) as Readonly<Record<string, unknown>>;
    return message["jsonrpc"] === undefined ? undefined : message;
  } catch {
    return undefined;
  }
}

function keyOf({ id, method }: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([id, method]);
}

function keep<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MOST_AWAITED) return;
  for (const oldest of map.keys()) return void map.delete(oldest);
}

function stepOf({ method, url, body = "" }: SendRequest): LoginStep["step"] {
  if (method === "GET") return url.includes("/.well-known/") ? "discovery" : "other";
  const grant = new URLSearchParams(body).get("grant_type");
  if (grant !== null) return grant === "refresh_token" ? "refresh" : "token";
  return jsonRecord(body)?.["redirect_uris"] === undefined ? "other" : "registration";
}

/** What the answer of an authorization server comes to, in words without secrets. */
function outcomeOf(step: LoginStep["step"], text: string): { text: string; scopes?: string[] } | undefined {
  const record = jsonRecord(text);
  if (record === undefined) return undefined;
  const { error, error_description: description, issuer, scope, client_id: client } = record;
  if (typeof error === "string") {
    return { text: `${error}${typeof description === "string" ? `: ${description}` : ""}`.slice(0, 500) };
  }
  if (step === "discovery" && typeof issuer === "string") return { text: `issuer ${issuer.slice(0, 300)}` };
  if (step === "discovery" && Array.isArray(record["authorization_servers"])) {
    return { text: `authorization servers ${record["authorization_servers"].slice(0, 5).join(", ").slice(0, 300)}` };
  }
  if (step === "registration" && typeof client === "string") return { text: `registered as ${client.slice(0, 100)}` };
  if (step !== "token" && step !== "refresh") return undefined;
  if (typeof scope !== "string") return { text: "a token, without a word about its scopes" };
  return { text: `a token for ${scope.slice(0, 300)}`, scopes: scope.split(" ").filter((one) => one !== "") };
}
