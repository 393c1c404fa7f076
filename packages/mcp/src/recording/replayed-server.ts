import { remoteServer } from "../host/remote-server.js";
import { INTERNAL_ERROR, INVALID_PARAMS } from "../jsonrpc/error.js";
import { isObject } from "../jsonrpc/message.js";
import { McpError } from "../protocol/error.js";
import { changedKinds, OFFER_KINDS } from "../protocol/features/offer-kinds.js";
import { REVISIONS } from "../protocol/revisions.js";
import type { Server } from "../server/server.js";
import { channelPair } from "../transport/channel/channel-pair.js";
import { channelTransport } from "../transport/channel/client.js";
import type { Transport } from "../transport/transport.js";
import { recordedList, withoutOpenCursor } from "./recorded-calls.js";
import { exchangesOf, type RecordedExchange, type RecordedStep } from "./recorded-exchanges.js";
import type { Recording } from "./recording.js";
import { RequestMatcher, requestLine } from "./request-matcher.js";

type Message = Readonly<Record<string, unknown>>;

/**
 * Creates a server that answers as the recorded server did, to clients of every revision. Rejects with
 * `invalid_definition` if the recording has no complete handshake.
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { connect } from "@parley/mcp";
 * import { parseRecording, replayedServer } from "@parley/mcp/recording";
 *
 * const server = await replayedServer(parseRecording(readFileSync("session.jsonl", "utf8"), "session.jsonl"));
 * const client = await connect(server);
 * ```
 */
export async function replayedServer(recording: Recording): Promise<Server> {
  const { revision: spoken, server } = recording.header;
  const revision = REVISIONS.find((known) => known === spoken);
  if (revision === undefined) {
    const fix = "Record a session in which the server answers.";
    throw new McpError("invalid_definition", "the recording has no complete handshake", { fix });
  }
  const recorded = new RecordedServer(recording);
  return remoteServer(
    { makeTransport: () => recorded.makeTransport() },
    {
      client: { revisions: [revision], cache: false, onWarning: () => {} },
      health: false,
      circuit: false,
      info: server,
    },
  );
}

/** Answers the requests of clients as the recorded server did. */
class RecordedServer {
  readonly #exchanges: readonly RecordedExchange[];
  readonly #matcher: RequestMatcher;
  readonly #name: string;
  /** Notifications of changes that were already sent. */
  readonly #sent = new Set<RecordedStep>();

  constructor(recording: Recording) {
    this.#exchanges = exchangesOf(recording);
    this.#matcher = new RequestMatcher(this.#exchanges);
    this.#name = `the recording of ${recording.header.server?.name ?? recording.header.target.name}`;
  }

  /**
   * Creates a new connection in the revision of the recording. If a request was recorded several times, its answers are
   * used in order, across all connections.
   */
  makeTransport(): Transport {
    const [here, there] = channelPair();
    const connection = new ReplayedConnection((message) => there.send(JSON.stringify(message)), this);
    there.open({
      // Safe: clients of this library send JSON-RPC objects.
      message: (text) => connection.received(JSON.parse(text) as Message),
      fault: () => {},
      closed: () => connection.closed(),
    });
    return channelTransport(here, this.#name);
  }

  /**
   * Returns the exchange that answers a request. If no such request was recorded, builds an answer for list requests
   * and for requests in `ALWAYS_ACCEPTED`. For any other request, returns an error that names the nearest recorded
   * request.
   */
  answer(method: string, params: Record<string, unknown>): RecordedExchange {
    const found = this.#matcher.next(method, params);
    if (found !== undefined) return withoutOpenCursor(found, this.#matcher);
    const made = recordedList(method, params, this.#exchanges) ?? (ALWAYS_ACCEPTED.has(method) ? {} : undefined);
    const base = { method, params, steps: [], after: [] };
    if (made !== undefined) return { ...base, outcome: { result: { resultType: "complete", ...made } } };
    const nearest = this.#matcher.nearest(method, params);
    const hint =
      nearest === undefined ? `No ${method} request was recorded.` : `The nearest recorded request is ${nearest}`;
    const message = `the recording has no answer to ${requestLine(method, params)}. ${hint}`;
    return { ...base, outcome: { error: { code: INVALID_PARAMS, message } } };
  }

  /**
   * Sends a notification of a change only once. The last of several equal exchanges is repeated, so a client that lists
   * again on each notification would never finish. `send` returns false if the notification reached no receiver.
   */
  sendOnce(step: RecordedStep, send: () => boolean): void {
    if (!this.#sent.has(step) && send()) this.#sent.add(step);
  }
}

/** Requests whose effect is not visible in a recording. They are accepted even if they were not recorded. */
const ALWAYS_ACCEPTED = new Set(["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);
const LISTEN = "subscriptions/listen";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

class ReplayedConnection {
  readonly #send: (message: object) => void;
  readonly #server: RecordedServer;
  readonly #pendingQuestions = new Map<string, (answered: boolean) => void>();
  readonly #cancelled = new Set<unknown>();
  readonly #running = new Set<unknown>();
  /** Filters of open listen streams, by the id of their request. */
  readonly #listening = new Map<unknown, Record<string, unknown>>();
  /** True if changes are sent only on listen streams, as for clients that start with `server/discover`. */
  #usesListenStreams = false;
  #questionCount = 0;

  constructor(send: (message: object) => void, server: RecordedServer) {
    this.#send = send;
    this.#server = server;
  }

  received(message: Message): void {
    const { id, method } = message;
    const params = isObject(message["params"]) ? message["params"] : {};
    if (typeof method !== "string") return this.#pendingQuestions.get(String(id))?.(true);
    if (id !== undefined)
      void this.#request(id, method, params).catch((reason: unknown) => this.#sendFailure(id, reason));
    else if (method === "notifications/cancelled") this.#cancel(params["requestId"]);
  }

  closed(): void {
    for (const settle of this.#pendingQuestions.values()) settle(false);
    this.#listening.clear();
  }

  /** Answers a request that failed, for example because its parameters are nested too deeply to be compared. */
  #sendFailure(id: unknown, reason: unknown): void {
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
    if (method === "server/discover") this.#usesListenStreams = true;
    if (method === LISTEN) return this.#listen(id, rest["notifications"]);
    const { steps, outcome, after } = this.#server.answer(method, rest);
    this.#running.add(id);
    const token = isObject(meta) ? meta["progressToken"] : undefined;
    for (const step of steps) {
      if (this.#cancelled.has(id)) break;
      await this.#play(step, token);
    }
    this.#running.delete(id);
    if (!this.#cancelled.delete(id)) this.#send({ jsonrpc: "2.0", id, ...outcome });
    for (const step of after) await this.#play(step, undefined);
  }

  #listen(id: unknown, filter: unknown): void {
    const wanted = isObject(filter) ? filter : {};
    this.#listening.set(id, wanted);
    const params = { notifications: wanted, _meta: { [SUBSCRIPTION]: id } };
    this.#send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params });
  }

  async #play(step: RecordedStep, token: unknown): Promise<void> {
    const { kind, method, params } = step;
    if (kind === "question") return this.#ask(method, params);
    const [list] = changedKinds(method);
    const ofResource = method === "notifications/resources/updated" ? "resourceSubscriptions" : undefined;
    const change = list === undefined ? ofResource : OFFER_KINDS[list].filter;
    if (change !== undefined) this.#server.sendOnce(step, () => this.#sendChange(change, method, params));
    else if (method !== "notifications/progress") this.#send({ jsonrpc: "2.0", method, params });
    // Progress is sent only for requests with a token.
    else if (token !== undefined) this.#send({ jsonrpc: "2.0", method, params: { ...params, progressToken: token } });
  }

  /**
   * Sends a change on the connection or, if the client uses listen streams, on each listen stream whose filter includes
   * the change. Returns false if no filter includes the change.
   */
  #sendChange(change: string, method: string, params: Record<string, unknown>): boolean {
    if (!this.#usesListenStreams) {
      this.#send({ jsonrpc: "2.0", method, params });
      return true;
    }
    let sent = false;
    for (const [id, wanted] of this.#listening) {
      const part = wanted[change];
      if (part !== true && !(Array.isArray(part) && part.includes(params["uri"]))) continue;
      this.#send({ jsonrpc: "2.0", method, params: { ...params, _meta: { [SUBSCRIPTION]: id } } });
      sent = true;
    }
    return sent;
  }

  /**
   * Sends a question and waits for any answer. The content of the answer is ignored, because the recording determines
   * how the server continues.
   */
  async #ask(method: string, params: Record<string, unknown>): Promise<void> {
    const id = `replayed-${++this.#questionCount}`;
    const answered = new Promise<boolean>((resolve) => this.#pendingQuestions.set(id, resolve));
    this.#send({ jsonrpc: "2.0", id, method, params });
    await answered;
    this.#pendingQuestions.delete(id);
  }
}
