import type { Client, ClientOptions } from "@parley/mcp";
import type { TokenStore } from "@parley/mcp/auth";
import { type LoggingLevel, McpError, type Revision, type Root } from "@parley/mcp/protocol";
import { Redactor } from "@parley/mcp/recording";
import type { WireMessage } from "@parley/mcp/transport";
import { callContext } from "../calls/call-context.js";
import type { ConnectionInfo, OfferKind, TargetInfo } from "../contract/connections.js";
import { toProblemInfo } from "../engine/problem-info.js";
import type { Timeline } from "../timeline/timeline.js";
import { ConnectionAttempt } from "./connection-attempt.js";
import { httpAccess } from "./http-access.js";
import { protocolFaults } from "./http-watcher.js";
import { type InspectedExtensions, inspectedExtensions } from "./inspected-extensions.js";
import type { InspectorTarget } from "./inspector-target.js";
import type { LoginProgress } from "./login-progress.js";
import { NO_SERVER_DETAILS, type ServerDetails, serverDetails } from "./server-details.js";
import { watchLists } from "./watch-lists.js";

/** The parts of the inspector that all connections share. */
export interface ConnectionContext {
  readonly timeline: Timeline;
  /** Called after every change of `info`. */
  readonly changed: () => void;
  /** Returns the handlers for the questions of a connection's server. */
  readonly answerers: (connection: string) => Pick<ClientOptions, "onElicit" | "onSample">;
  /** Returns the running call of a connection, if there is exactly one. */
  readonly onlyCall: (connection: string) => string | undefined;
  readonly tokens: TokenStore;
  /** Time within which a handshake must complete, in milliseconds. Default: 30 s. */
  readonly connectMs?: number | undefined;
}

const CONNECT_MS = 30_000;
/**
 * The client's handshake timeout if the user may have to log in. It includes the time of the login. `ConnectDeadline`
 * then enforces `connectMs` without the time of the login.
 */
const CONNECT_WITH_LOGIN_MS = 600_000;
/** The idle timeout of calls. It is long, because the user sees a running call and can cancel it. */
const IDLE_MS = 600_000;
/**
 * Maximum length of an event, such as a line of stderr, in characters. Longer texts are truncated before they are
 * redacted, and the timeline truncates them further.
 */
const MAX_EVENT_LENGTH = 8_000;
/** Maximum number of extra clients per connection. Further ones are rejected. */
const MAX_EXTRA_CLIENTS = 8;

/**
 * A connection of the inspector. Opens and closes the client, reports the status, and adds messages and events to the
 * timeline.
 */
export class InspectedConnection {
  readonly id: string;
  readonly target: InspectorTarget;
  readonly extensions: InspectedExtensions = inspectedExtensions();
  /** Redacts secrets, including those of the target. */
  readonly redactor: Redactor;
  readonly #context: ConnectionContext;
  /** Extra clients, including those that are still connecting. */
  readonly #extraClients = new Set<Promise<Client>>();
  /** Aborted by `close`. Replaced when the connection is opened again. */
  #ended = new AbortController();
  #info: ConnectionInfo;
  #attempt: ConnectionAttempt | undefined;
  /**
   * The highest counter of each list so far. Counters continue when the connection is opened again, so that the page
   * never sees the same number for different content.
   */
  #listCounts: ConnectionInfo["lists"] = {};

  constructor(
    target: InspectorTarget,
    info: Pick<ConnectionInfo, "id" | "status"> & { targetId: string },
    context: ConnectionContext,
  ) {
    this.id = info.id;
    this.target = target;
    this.redactor = new Redactor({ values: target.secrets ?? [] });
    this.#context = context;
    const shown: TargetInfo = { id: info.targetId, kind: target.kind, shown: target.shown };
    this.#info = { ...NO_SERVER_DETAILS, id: info.id, target: shown, status: info.status, opened: 0, roots: [] };
  }

  get info(): ConnectionInfo {
    return this.#info;
  }

  /**
   * The client, even while the client restores a lost connection. Throws `connection_closed` if there is no client.
   */
  get client(): Client {
    const client = this.#attempt?.client;
    if (client !== undefined) return client;
    const { status } = this.#info;
    const fix = status === "imported" ? "Choose a connection with a server." : "Open the connection again.";
    throw new McpError("connection_closed", `${this.target.shown} is not connected: its status is ${status}`, { fix });
  }

  /** Closes the current client, if any, and connects again. Never rejects: `info` has the outcome. */
  async open(wanted?: Revision | undefined): Promise<void> {
    const before = this.#attempt;
    if (this.#ended.signal.aborted) this.#ended = new AbortController();
    const attempt = this.#begin();
    this.#attempt = attempt;
    this.#update({ ...NO_SERVER_DETAILS, status: "connecting", wanted, problem: undefined, login: undefined });
    this.#addEvent(`connecting to ${this.target.shown}${wanted === undefined ? "" : ` in ${wanted}`}`);
    attempt.done = Promise.resolve(before?.close()).then(() => this.#connect(attempt));
    await attempt.done;
  }

  /** Closes the connection and waits until its clients and pending attempts have ended. Never rejects. */
  async close(): Promise<void> {
    const before = this.#attempt;
    this.#attempt = undefined;
    this.#ended.abort(new McpError("connection_closed", `the connection to ${this.target.shown} was closed`));
    if (before !== undefined) {
      const { login } = this.#info;
      this.#update({ status: "closed", login: login === undefined ? undefined : { ...login, visit: undefined } });
      this.#addEvent("closed");
    }
    await Promise.allSettled([before?.close(), ...[...this.#extraClients].map(async (other) => (await other).close())]);
  }

  /**
   * Deletes the tokens for the server and opens the connection again. Throws `invalid_params` if the connection is
   * closed, or if the target has its own credentials or is not a URL.
   */
  async logout(): Promise<void> {
    const attempt = this.#attempt;
    const login = attempt?.access?.login;
    const { url } = this.target;
    if (login === undefined || url === undefined) {
      throw new McpError("invalid_params", `the inspector did not log in at ${this.target.shown}`, {
        fix: "Connect first. If the target has its own credentials, log out where they come from.",
      });
    }
    // Closes the session first, because the request that closes it needs the tokens. Without tokens, that request would
    // start a login.
    await attempt?.close();
    await login.credentials.logout(url);
    this.#addEvent("logged out");
    if (this.#attempt === attempt) void this.open(this.#info.wanted);
  }

  /**
   * Opens another client for the same target with the same credentials. The messages of this client are not in the
   * timeline. The caller must close the client.
   */
  async openAnother(options: ClientOptions): Promise<Client> {
    if (this.#extraClients.size >= MAX_EXTRA_CLIENTS) {
      throw new McpError("limit_exceeded", `${MAX_EXTRA_CLIENTS} extra connections to ${this.target.shown} are open`, {
        fix: "Wait until a replay or comparison has ended.",
      });
    }
    const { signal: ended } = this.#ended;
    ended.throwIfAborted();
    const auth = this.#attempt?.access?.options.auth;
    const signal = options.signal === undefined ? ended : AbortSignal.any([ended, options.signal]);
    const clientOptions = { ...this.#commonOptions(), ...(auth === undefined ? {} : { auth }), ...options, signal };
    const opened = this.target.open(clientOptions, { onStderr: () => {}, onHandshakeChanged: () => {} });
    this.#extraClients.add(opened);
    const forget = () => this.#extraClients.delete(opened);
    opened.then((client) => client.on("state", ({ state }) => state === "closed" && forget()), forget);
    return opened;
  }

  async setRoots(roots: readonly Root[]): Promise<void> {
    this.#update({ roots });
    await this.#attempt?.client?.roots.set(roots);
  }

  async setLogLevel(logLevel: LoggingLevel): Promise<void> {
    await this.client.setLogLevel(logLevel);
    this.#update({ logLevel });
  }

  /** Increments the counter of a list. Ignores lists that the server does not declare. */
  listChanged(kind: OfferKind): void {
    const { lists } = this.#info;
    if (lists[kind] !== undefined) this.#updateLists({ ...lists, [kind]: lists[kind] + 1 });
  }

  /** Sets the details of a recorded session, which has no client. */
  describe(details: Partial<ServerDetails>): void {
    this.#update(details);
  }

  #begin(): ConnectionAttempt {
    const { timeline, tokens, connectMs = CONNECT_MS } = this.#context;
    if (this.target.kind !== "url") return new ConnectionAttempt(undefined, connectMs);
    const loginChanged = (progress: LoginProgress) => this.#loginChanged(attempt, progress);
    const { id: connection, redactor } = this;
    const access = httpAccess(this.target, { connection, timeline, redactor, tokens, loginChanged });
    const attempt: ConnectionAttempt = new ConnectionAttempt(access, connectMs);
    return attempt;
  }

  async #connect(attempt: ConnectionAttempt): Promise<void> {
    const onStderr = (line: string) => this.#addEvent(`stderr: ${line}`);
    const onHandshakeChanged = () => {
      if (this.#attempt === attempt) void this.open(this.#info.wanted);
    };
    try {
      if (this.#attempt !== attempt) return;
      const client = await this.target.open(this.#options(attempt), { onStderr, onHandshakeChanged });
      if (this.#attempt !== attempt) return await client.close();
      attempt.client = client;
      this.#connected(client);
      const problem = (error: unknown) =>
        this.#addEvent(`the subscription to list changes failed: ${toProblemInfo(error).message}`, true);
      watchLists(client, (kind) => this.listChanged(kind), problem);
    } catch (error) {
      if (this.#attempt !== attempt) return;
      const problem = toProblemInfo(attempt.deadline?.error ?? error);
      if (problem.kind === "authorization_failed") attempt.access?.login?.progress.markFailed();
      this.#update({ status: "failed", problem });
      this.#addEvent(`connection failed: ${problem.message}`, true);
    } finally {
      attempt.deadline?.stop();
    }
  }

  #commonOptions(): ClientOptions {
    const { answerers } = this.#context;
    const { tasks, skills, apps } = this.extensions;
    return {
      name: "parley-inspector",
      extensions: [tasks, skills, apps],
      roots: this.#info.roots,
      onWarning: () => {},
      ...answerers(this.id),
    };
  }

  #options(attempt: ConnectionAttempt): ClientOptions {
    const { access, deadline, signal } = attempt;
    const { wanted, logLevel } = this.#info;
    const { connectMs = CONNECT_MS } = this.#context;
    return {
      ...this.#commonOptions(),
      ...(wanted === undefined ? {} : { revisions: [wanted] }),
      ...(logLevel === undefined ? {} : { logLevel }),
      signal,
      timeouts: { connectMs: deadline === undefined ? connectMs : CONNECT_WITH_LOGIN_MS, idleMs: IDLE_MS },
      onMessage: (wire) => this.#addMessage(attempt, wire),
      onWarning: (text) => this.#addEvent(`warning: ${text}`, true),
      observe: {
        state: ({ state, reason }) => this.#stateChanged(attempt, state, reason),
        ...protocolFaults((text) => this.#addEvent(text, true), access?.watcher),
      },
      ...access?.options,
    };
  }

  #addMessage({ access }: ConnectionAttempt, wire: WireMessage): void {
    const { timeline, onlyCall } = this.#context;
    const { direction, message } = wire;
    const { id, method } = message;
    const isSent = direction === "sent";
    // A subscription stream may be reopened during a call, but it does not belong to the call.
    const call = isSent && method !== "subscriptions/listen" ? callContext.getStore() : undefined;
    const http = isSent || method !== undefined ? undefined : access?.watcher.exchangeOf(id);
    const { revision, wanted } = this.#info;
    const fallbackCall = isSent ? undefined : () => onlyCall(this.id);
    const seq = timeline.addMessage({
      connection: this.id,
      wire,
      revision,
      call,
      fallbackCall,
      http,
      wanted,
    });
    if (isSent) access?.watcher.recordSent(message, seq);
  }

  /** Follows the state of the client, which restores a lost connection itself. */
  #stateChanged(attempt: ConnectionAttempt, state: Client["state"], reason: Error | undefined): void {
    const { client } = attempt;
    if (client === undefined || this.#attempt !== attempt) return;
    if (state === "ready") return this.#connected(client);
    const problem = reason === undefined ? undefined : toProblemInfo(reason);
    if (state === "recovering" || state === "connecting") {
      this.#update({ status: "lost", problem });
      this.#addEvent(`connection lost: ${problem?.message ?? "reconnecting"}`, true);
    } else if (state === "disconnected") {
      this.#update({ status: "failed", problem });
      this.#addEvent(`reconnecting failed: ${problem?.message ?? "the server ended the connection"}`, true);
    } else if (state === "closed") {
      this.#update({ status: "closed" });
      this.#addEvent("closed");
    }
  }

  #connected(client: Client): void {
    const opened = this.#info.opened + 1;
    const details = serverDetails(client, this.#listCounts);
    this.#updateLists(details.lists);
    this.#update({ ...details, status: "ready", opened, problem: undefined });
    this.#addEvent(`connected${opened === 1 ? "" : " again"} in ${details.revision}`);
  }

  #loginChanged(attempt: ConnectionAttempt, progress: LoginProgress): void {
    if (this.#attempt !== attempt) return;
    const { client, deadline } = attempt;
    this.#update({ login: progress.info });
    if (progress.isWaiting && this.#info.status !== "login") {
      deadline?.stop();
      this.#update({ status: "login" });
      this.#addEvent("waiting for the user to log in");
    } else if (!progress.isWaiting && this.#info.status === "login") {
      if (client === undefined) deadline?.restart();
      this.#update({ status: client === undefined ? "connecting" : client.state === "ready" ? "ready" : "lost" });
    }
  }

  #updateLists(lists: ConnectionInfo["lists"]): void {
    this.#listCounts = { ...this.#listCounts, ...lists };
    this.#update({ lists });
  }

  #update(change: Partial<ConnectionInfo>): void {
    this.#info = { ...this.#info, ...change };
    this.#context.changed();
  }

  #addEvent(text: string, failed = false): void {
    const shown = this.redactor.text(text.slice(0, MAX_EVENT_LENGTH));
    this.#context.timeline.addEvent({ connection: this.id, text: shown, failed });
  }
}
