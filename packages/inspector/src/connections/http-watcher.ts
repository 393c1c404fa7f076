import { McpError } from "@parley/mcp/protocol";
import type { Redactor } from "@parley/mcp/recording";
import type { ClientObserver } from "@parley/mcp/telemetry";
import type { LoginStep } from "../contract/connections.js";
import type { HttpExchange } from "../contract/timeline.js";
import { refusedProbeNote } from "../timeline/message-info.js";
import type { Timeline } from "../timeline/timeline.js";
import type { ExchangeFollower } from "./follow-exchanges.js";
import type { LoginProgress } from "./login-progress.js";
import {
  headersOf,
  jsonRecord,
  redactBody,
  redactHeaders,
  type SendRequest,
  type SendResponse,
} from "./redact-exchange.js";

/** Maximum number of entries in each map of a watcher. Beyond it, the oldest entry is dropped. */
const MAX_PENDING = 2_000;
/** Maximum length of an address in a label, in characters. Longer addresses are truncated. */
const MAX_LABEL_LENGTH = 200;

/** Options of an `HttpWatcher`. */
export interface HttpWatcherOptions {
  readonly connection: string;
  readonly timeline: Timeline;
  readonly redactor: Redactor;
  /** Receives the steps of a login. Absent if the target has its own credentials. */
  readonly login?: LoginProgress | undefined;
}

type Id = string | number;

/**
 * Records the HTTP exchanges of one connection. Attaches each exchange to the message that it carries. An exchange that
 * carries no message, or that failed, gets an entry of its own.
 */
export class HttpWatcher {
  readonly #options: HttpWatcherOptions;
  /** The sequence numbers of sent messages, by the id and method of the message. */
  readonly #sent = new Map<string, number>();
  readonly #exchanges = new Map<Id, HttpExchange>();
  /** Functions that show the response body of a request, by the id of the request. */
  readonly #bodies = new Map<Id, () => void>();

  constructor(options: HttpWatcherOptions) {
    this.#options = options;
  }

  /**
   * Records the sequence number of a message that the transport is about to send, so that its exchange can be attached.
   */
  recordSent(message: Readonly<Record<string, unknown>>, seq: number): void {
    setBounded(this.#sent, keyOf(message), seq);
  }

  /** Returns the exchange of a request and removes it from the watcher. */
  exchangeOf(id: unknown): HttpExchange | undefined {
    if (typeof id !== "string" && typeof id !== "number") return undefined;
    const exchange = this.#exchanges.get(id);
    this.#exchanges.delete(id);
    this.#bodies.delete(id);
    return exchange;
  }

  /** Shows the response body with the request, because the response is not a valid answer. */
  showBody(id: Id): void {
    this.#bodies.get(id)?.();
    this.#bodies.delete(id);
  }

  follow(request: SendRequest): ExchangeFollower {
    const begun = this.#options.timeline.now();
    const message = messageIn(request);
    if (message !== undefined) return this.#followMessage(request, message, begun);
    const accepts = [...headersOf(request)].some(
      ([name, value]) => name === "accept" && value.includes("event-stream"),
    );
    if (request.method === "DELETE" || (request.method === "GET" && accepts)) return this.#followPlain(request, begun);
    return this.#followLogin(request, begun);
  }

  #followMessage(request: SendRequest, message: Readonly<Record<string, unknown>>, begun: number): ExchangeFollower {
    const { timeline } = this.#options;
    const seq = this.#sent.get(keyOf(message));
    const show = (exchange: HttpExchange) => {
      if (seq !== undefined) timeline.attachHttp(seq, exchange);
      const { id } = message;
      if (message["method"] !== undefined && (typeof id === "string" || typeof id === "number")) {
        setBounded(this.#exchanges, id, exchange);
      }
    };
    show(this.#exchange(request));
    const follower: ExchangeFollower = {
      onResponse: (response) => {
        const exchange = this.#answered(request, response, begun);
        show(exchange);
        if (response.status < 400) {
          follower.onBody = this.#holdBody(message["id"], (responseBody) => show({ ...exchange, responseBody }));
          return;
        }
        const note = seq !== undefined && timeline.isProbe(seq) ? refusedProbeNote(response.status) : undefined;
        const refused = this.#addRefusal(request, exchange, note);
        // An error response is often the page of a proxy that explains the problem, so the entry shows the body.
        follower.onBody = (text) => {
          timeline.attachHttp(refused, { ...exchange, responseBody: redactBody(text, this.#options.redactor) });
        };
      },
      onFailure: (error) => {
        const exchange = this.#failed(request, error, begun);
        show(exchange);
        this.#add(request, exchange, `failed: ${exchange.failure}`);
      },
    };
    return follower;
  }

  /**
   * Stores the body of a response. If the response has no valid message, `showBody` is called, and `show` receives the
   * body.
   */
  #holdBody(id: unknown, show: (body: string) => void): ((text: string) => void) | undefined {
    if (typeof id !== "string" && typeof id !== "number") return undefined;
    let body: string | undefined;
    let isWanted = false;
    const showWanted = () => isWanted && body !== undefined && show(redactBody(body, this.#options.redactor));
    setBounded(this.#bodies, id, () => {
      isWanted = true;
      showWanted();
    });
    return (text) => {
      body = text;
      showWanted();
    };
  }

  /** Follows a request that opens a stream or ends a session. */
  #followPlain(request: SendRequest, begun: number): ExchangeFollower {
    return {
      onResponse: (response) => {
        const exchange = this.#answered(request, response, begun);
        if (response.status === 401 || response.status === 403) this.#addRefusal(request, exchange);
        else this.#add(request, exchange, `HTTP ${response.status}`);
      },
      onFailure: (error) => {
        const exchange = this.#failed(request, error, begun);
        this.#add(request, exchange, `failed: ${exchange.failure}`);
      },
    };
  }

  #followLogin(request: SendRequest, begun: number): ExchangeFollower {
    const { timeline, login, redactor } = this.#options;
    const step = stepOf(request);
    const sent = request.body === undefined ? {} : { requestBody: redactBody(request.body, redactor) };
    let noted: { seq: number; exchange: HttpExchange } | undefined;
    return {
      onResponse: (response) => {
        const exchange = { ...this.#answered(request, response, begun), ...sent };
        const seq = this.#add(request, exchange, `HTTP ${response.status}`);
        noted = { seq, exchange };
        const ok = response.status < 400;
        login?.addStep({ step, seq, shown: this.#describe(request), outcome: `HTTP ${response.status}`, ok });
      },
      onBody: (text) => {
        if (noted === undefined) return;
        timeline.attachHttp(noted.seq, { ...noted.exchange, responseBody: redactBody(text, redactor) });
        const outcome = outcomeOf(step, text);
        if (outcome === undefined) return;
        login?.setOutcome(noted.seq, `HTTP ${noted.exchange.status}: ${outcome.text}`);
        if (outcome.scopes !== undefined) login?.setScopes(outcome.scopes);
      },
      onFailure: (error) => {
        const exchange = { ...this.#failed(request, error, begun), ...sent };
        const seq = this.#add(request, exchange, `failed: ${exchange.failure}`);
        login?.addStep({ step, seq, shown: this.#describe(request), outcome: exchange.failure ?? "failed", ok: false });
      },
    };
  }

  #addRefusal(request: SendRequest, exchange: HttpExchange, note?: string): number {
    const { status } = exchange;
    const seq = this.#add(request, exchange, `HTTP ${status}`, note);
    if (status !== 401 && status !== 403) return seq;
    const challenge = exchange.responseHeaders?.["www-authenticate"] ?? "no WWW-Authenticate";
    const outcome = `HTTP ${status}: ${challenge.slice(0, 500)}`;
    this.#options.login?.addStep({ step: "challenge", seq, shown: this.#describe(request), outcome, ok: true });
    return seq;
  }

  #add(request: SendRequest, exchange: HttpExchange, outcome: string, note?: string): number {
    const { timeline, connection } = this.#options;
    const { status = 0, failure } = exchange;
    // With 405, a server declines to offer a stream or to let clients end a session. That is not a failure.
    const isDeclined = status === 405 && request.method !== "POST";
    const failed = failure !== undefined || (status >= 400 && !isDeclined && note === undefined);
    return timeline.addHttp({ connection, label: `${this.#describe(request)}: ${outcome}`, exchange, failed, note });
  }

  #describe({ method, url }: SendRequest): string {
    return `${method} ${this.#options.redactor.text(url).slice(0, MAX_LABEL_LENGTH)}`;
  }

  #exchange(request: SendRequest): HttpExchange {
    const { redactor } = this.#options;
    const { method, url } = request;
    return { method, url: redactor.text(url), requestHeaders: redactHeaders(headersOf(request), redactor) };
  }

  #answered(request: SendRequest, response: SendResponse, begun: number): HttpExchange {
    const { redactor, timeline } = this.#options;
    return {
      ...this.#exchange(request),
      status: response.status,
      responseHeaders: redactHeaders(Object.entries(response.headers?.() ?? {}), redactor),
      durationMs: timeline.now() - begun,
    };
  }

  #failed(request: SendRequest, error: unknown, begun: number): HttpExchange {
    const { redactor, timeline } = this.#options;
    const failure = redactor.text(error instanceof Error ? error.message : String(error)).slice(0, 1_000);
    return { ...this.#exchange(request), durationMs: timeline.now() - begun, failure };
  }
}

/**
 * Reports protocol violations of a server, and requests that time out. The timeline has no answer in these cases, so
 * without the report the request would seem to be pending. Over HTTP, the request also shows a response body that is
 * not a valid answer.
 */
export function protocolFaults(
  report: (text: string) => void,
  http?: HttpWatcher,
): Pick<ClientObserver, "request" | "fault"> {
  return {
    fault: ({ message }) => report(`the server violated the protocol: ${message}`),
    request: () => ({
      ended: ({ outcome, error, requestId }) => {
        if (outcome !== "error") return;
        const { kind, message } = McpError.from(error);
        if (kind === "timeout") report(message);
        if (kind !== "invalid_response") return;
        report(`the server violated the protocol: ${message}`);
        http?.showBody(requestId);
      },
    }),
  };
}

/** Returns the JSON-RPC message in the body of a request. */
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

function setBounded<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_PENDING) return;
  for (const oldest of map.keys()) return void map.delete(oldest);
}

function stepOf({ method, url, body = "" }: SendRequest): LoginStep["step"] {
  if (method === "GET") return url.includes("/.well-known/") ? "discovery" : "other";
  const grant = new URLSearchParams(body).get("grant_type");
  if (grant !== null) return grant === "refresh_token" ? "refresh" : "token";
  return jsonRecord(body)?.["redirect_uris"] === undefined ? "other" : "registration";
}

/** Summarizes the response of an authorization server, without secrets. */
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
  if (typeof scope !== "string") return { text: "a token, scopes not stated" };
  return { text: `a token for ${scope.slice(0, 300)}`, scopes: scope.split(" ").filter((one) => one !== "") };
}
