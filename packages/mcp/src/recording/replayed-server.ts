import { channelPair } from "@parley/mcp/testing";
import { channelTransport, type Transport } from "@parley/mcp/transport";
import type { RecordedExchange, RecordedStep } from "./recorded-exchanges.js";
import { exchangesOf } from "./recorded-exchanges.js";
import { recordedList, withoutOpenCursor } from "./recorded-lists.js";
import { isRecord, type Recording } from "./recording.js";
import { RequestMatcher, requestLine } from "./request-matcher.js";

type Message = Readonly<Record<string, unknown>>;

/** Answers the requests of clients as the recorded server did. */
export class ReplayedServer {
  readonly #exchanges: readonly RecordedExchange[];
  readonly #matcher: RequestMatcher;
  readonly #name: string;

  constructor(recording: Recording) {
    this.#exchanges = exchangesOf(recording);
    this.#matcher = new RequestMatcher(this.#exchanges);
    this.#name = `the recording of ${recording.header.server?.name ?? recording.header.target.name}`;
  }

  /** A new connection to it, in the revision of the recording. All connections share what was given already. */
  makeTransport(): Transport {
    const [here, there] = channelPair();
    const connection = new ReplayedConnection((message) => there.send(JSON.stringify(message)), this);
    there.open({
      // What a client of the library writes is an object of JSON-RPC.
      message: (text) => connection.received(JSON.parse(text) as Message),
      fault: () => {},
      closed: () => connection.closed(),
    });
    return channelTransport(here, this.#name);
  }

  /** The exchange that answers a request; one with an error that names the nearest if there is none. */
  answer(method: string, params: Record<string, unknown>): RecordedExchange {
    const found = this.#matcher.take(method, params);
    if (found !== undefined) return withoutOpenCursor(found, this.#matcher);
    const made = recordedList(method, params, this.#exchanges) ?? (ACCEPTED.has(method) ? {} : undefined);
    const base = { method, params, steps: [], after: [] };
    if (made !== undefined) return { ...base, outcome: { result: { resultType: "complete", ...made } } };
    const nearest = this.#matcher.nearest(method, params);
    const hint = nearest === undefined ? `It has no ${method} at all.` : `The nearest that it has is ${nearest}`;
    const message = `the recording has no answer to ${requestLine(method, params)}. ${hint}`;
    return { ...base, outcome: { error: { code: INVALID_PARAMS, message } } };
  }
}

const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
/** Requests that change nothing that a recording could show. */
const ACCEPTED = new Set(["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);
const LISTEN = "subscriptions/listen";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
/** Which part of a filter asks for a notification. */
const WANTED: Readonly<Record<string, string>> = {
  "notifications/tools/list_changed": "toolsListChanged",
  "notifications/prompts/list_changed": "promptsListChanged",
  "notifications/resources/list_changed": "resourcesListChanged",
};

class ReplayedConnection {
  readonly #send: (message: object) => void;
  readonly #server: ReplayedServer;
  readonly #waiting = new Map<string, (answered: boolean) => void>();
  readonly #cancelled = new Set<unknown>();
  readonly #running = new Set<unknown>();
  /** What streams of changes want, by the id of their request. */
  readonly #listening = new Map<unknown, Record<string, unknown>>();
  #stateless = false;
  #asked = 0;

  constructor(send: (message: object) => void, server: ReplayedServer) {
    this.#send = send;
    this.#server = server;
  }

  received(message: Message): void {
    const { id, method } = message;
    const params = isRecord(message["params"]) ? message["params"] : {};
    if (typeof method !== "string") return this.#waiting.get(String(id))?.(true);
    if (id !== undefined) void this.#request(id, method, params).catch((reason: unknown) => this.#failed(id, reason));
    else if (method === "notifications/cancelled") this.#cancel(params["requestId"]);
  }

  closed(): void {
    for (const settle of this.#waiting.values()) settle(false);
    this.#listening.clear();
  }

  /** Parameters may be nested so deeply that they cannot be compared. */
  #failed(id: unknown, reason: unknown): void {
    this.#running.delete(id);
    this.#send({
      jsonrpc: "2.0",
      id,
      error: { code: INTERNAL_ERROR, message: `the replay failed: ${String(reason)}` },
    });
  }

  #cancel(id: unknown): void {
    this.#listening.delete(id);
    if (this.#running.has(id)) this.#cancelled.add(id);
  }

  async #request(id: unknown, method: string, params: Record<string, unknown>): Promise<void> {
    const { _meta: meta, ...rest } = params;
    if (method === "server/discover") this.#stateless = true;
    if (method === LISTEN) return this.#listen(id, rest["notifications"]);
    const { steps, outcome, after } = this.#server.answer(method, rest);
    this.#running.add(id);
    const token = isRecord(meta) ? meta["progressToken"] : undefined;
    for (const step of steps) {
      if (this.#cancelled.has(id)) break;
      await this.#play(step, token);
    }
    this.#running.delete(id);
    if (!this.#cancelled.delete(id)) this.#send({ jsonrpc: "2.0", id, ...outcome });
    for (const step of after) await this.#play(step, undefined);
  }

  #listen(id: unknown, filter: unknown): void {
    const wanted = isRecord(filter) ? filter : {};
    this.#listening.set(id, wanted);
    const params = { notifications: wanted, _meta: { [SUBSCRIPTION]: id } };
    this.#send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params });
  }

  async #play({ kind, method, params }: RecordedStep, token: unknown): Promise<void> {
    if (kind === "question") return this.#ask(method, params);
    if (method !== "notifications/progress") return this.#tell(method, params);
    // Who did not ask for progress gets none.
    if (token !== undefined) this.#send({ jsonrpc: "2.0", method, params: { ...params, progressToken: token } });
  }

  #tell(method: string, params: Record<string, unknown>): void {
    const change =
      WANTED[method] ?? (method === "notifications/resources/updated" ? "resourceSubscriptions" : undefined);
    if (!this.#stateless || change === undefined) return this.#send({ jsonrpc: "2.0", method, params });
    for (const [id, wanted] of this.#listening) {
      const part = wanted[change];
      if (part !== true && !(Array.isArray(part) && part.includes(params["uri"]))) continue;
      this.#send({ jsonrpc: "2.0", method, params: { ...params, _meta: { [SUBSCRIPTION]: id } } });
    }
  }

  /** Waits for the client's answer, whatever it is: what the server did next is recorded. */
  async #ask(method: string, params: Record<string, unknown>): Promise<void> {
    const id = `replayed-${++this.#asked}`;
    const answered = new Promise<boolean>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ jsonrpc: "2.0", id, method, params });
    await answered;
    this.#waiting.delete(id);
  }
}
