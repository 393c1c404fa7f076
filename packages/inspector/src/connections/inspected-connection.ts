import type { Client, ClientOptions } from "@parley/mcp";
import type { TokenStore } from "@parley/mcp/auth";
import { type LoggingLevel, McpError, type Revision, type Root } from "@parley/mcp/protocol";
import { Redactor } from "@parley/mcp/recording";
import type { WireMessage } from "@parley/mcp/transport";
import { callContext } from "../calls/call-context.js";
import type { ConnectionInfo, OfferKind, TargetInfo } from "../contract/connections.js";
import { shownProblem } from "../engine/shown-problem.js";
import type { Timeline } from "../timeline/timeline.js";
import { type ConnectionFacts, factsOfServer, NO_FACTS } from "./connection-facts.js";
import { httpAccess } from "./http-access.js";
import { protocolFaults } from "./http-watcher.js";
import { type InspectedExtensions, inspectedExtensions } from "./inspected-extensions.js";
import type { InspectorTarget } from "./inspector-target.js";
import type { LoginProgress } from "./login-progress.js";
import { Opening } from "./opening.js";
import { watchLists } from "./watch-lists.js";

/** What all connections of an inspector share. */
export interface ConnectionSurroundings {
  readonly timeline: Timeline;
  /** Called after every change of `info`. */
  readonly changed: () => void;
  /** Who answers the questions of a connection's server. */
  readonly answerers: (connection: string) => Pick<ClientOptions, "onElicit" | "onSample">;
  /** The call that runs, if only one does. */
  readonly onlyCall: (connection: string) => string | undefined;
  readonly tokens: TokenStore;
  /** How long a handshake may take. Default 30 s. */
  readonly connectMs?: number | undefined;
}

const CONNECT_MS = 30_000;
/** A user who logs in is waited for by the login, not by the handshake. */
const CONNECT_WITH_LOGIN_MS = 600_000;
/** The user sees that a call runs and can cancel it, so that silence alone ends it late. */
const IDLE_MS = 600_000;
/** Characters of an event, such as a line of stderr, that are looked at; fewer of them are shown. */
const MOST_EVENT_READ = 8_000;
/** Further clients of one connection at a time. */
const MOST_OTHERS = 8;

/** One connection of the inspector: opens it, shows how it is, and notes everything that passes. */
export class InspectedConnection {
  readonly id: string;
  readonly target: InspectorTarget;
  readonly extensions: InspectedExtensions = inspectedExtensions();
  /** Takes secrets out, also those of the target. */
  readonly redactor: Redactor;
  readonly #around: ConnectionSurroundings;
  /** Further clients, also while they are being opened. */
  readonly #others = new Set<Promise<Client>>();
  /** Aborted when it is closed, until it is opened again. */
  #ended = new AbortController();
  #info: ConnectionInfo;
  #opening: Opening | undefined;
  /** Changes of every list so far; a page that saw a number never sees it again for another content. */
  #listCounts: ConnectionInfo["lists"] = {};

  constructor(
    target: InspectorTarget,
    info: Pick<ConnectionInfo, "id" | "status"> & { targetId: string },
    around: ConnectionSurroundings,
  ) {
    this.id = info.id;
    this.target = target;
    this.redactor = new Redactor({ values: target.secrets ?? [] });
    this.#around = around;
    const shown: TargetInfo = { id: info.targetId, kind: target.kind, shown: target.shown };
    this.#info = { ...NO_FACTS, id: info.id, target: shown, status: info.status, opened: 0, roots: [] };
  }

  get info(): ConnectionInfo {
    return this.#info;
  }

  /** The client, also while its connection is lost and calls wait. Throws `connection_closed` where there is none. */
  get client(): Client {
    const client = this.#opening?.client;
    if (client !== undefined) return client;
    const { status } = this.#info;
    const fix = status === "imported" ? "Choose a connection with a server." : "Open the connection again.";
    throw new McpError("connection_closed", `${this.target.shown} is not connected: its status is ${status}`, { fix });
  }

  /** Opens it, after what stands is closed. Never rejects: `info` tells what came of it. */
  async open(wanted?: Revision | undefined): Promise<void> {
    const before = this.#opening;
    if (this.#ended.signal.aborted) this.#ended = new AbortController();
    const opening = this.#begin();
    this.#opening = opening;
    this.#set({ ...NO_FACTS, status: "connecting", wanted, problem: undefined, login: undefined });
    this.#event(`connecting to ${this.target.shown}${wanted === undefined ? "" : ` in ${wanted}`}`);
    opening.done = Promise.resolve(before?.leave()).then(() => this.#connect(opening));
    await opening.done;
  }

  /** Ends it; what stands or is being opened is closed when this resolves. Never rejects. */
  async close(): Promise<void> {
    const before = this.#opening;
    this.#opening = undefined;
    this.#ended.abort(new McpError("connection_closed", `the connection to ${this.target.shown} was closed`));
    if (before !== undefined) {
      const { login } = this.#info;
      this.#set({ status: "closed", login: login === undefined ? undefined : { ...login, visit: undefined } });
      this.#event("closed");
    }
    await Promise.allSettled([before?.leave(), ...[...this.#others].map(async (other) => (await other).close())]);
  }

  /** Forgets the tokens of its server, and opens it again. Throws where the inspector does not log in. */
  async logout(): Promise<void> {
    const opening = this.#opening;
    const login = opening?.access?.login;
    const { url } = this.target;
    if (login === undefined || url === undefined) {
      throw new McpError("invalid_params", `the inspector did not log in at ${this.target.shown}`, {
        fix: "Connect first; targets that bring credentials of their own are logged out where these come from.",
      });
    }
    // First, because a session is ended with the tokens: without them, what is still open would begin a login of its own.
    await opening?.leave();
    await login.credentials.logout(url);
    this.#event("logged out");
    if (this.#opening === opening) void this.open(this.#info.wanted);
  }

  /** A further client for the same target with the same credentials; its messages are not in the timeline. Whoever opens it closes it. */
  async openAnother(options: ClientOptions): Promise<Client> {
    if (this.#others.size >= MOST_OTHERS) {
      throw new McpError("limit_exceeded", `${MOST_OTHERS} further connections to ${this.target.shown} are open`, {
        fix: "Wait for what runs.",
      });
    }
    const { signal: ended } = this.#ended;
    ended.throwIfAborted();
    const auth = this.#opening?.access?.options.auth;
    const signal = options.signal === undefined ? ended : AbortSignal.any([ended, options.signal]);
    const given = { ...this.#common(), ...(auth === undefined ? {} : { auth }), ...options, signal };
    const other = this.target.open(given, { onStderr: () => {} });
    this.#others.add(other);
    const forget = () => this.#others.delete(other);
    other.then((client) => client.on("state", ({ state }) => state === "closed" && forget()), forget);
    return other;
  }

  async setRoots(roots: readonly Root[]): Promise<void> {
    this.#set({ roots });
    await this.#opening?.client?.roots.set(roots);
  }

  async setLogLevel(logLevel: LoggingLevel): Promise<void> {
    await this.client.setLogLevel(logLevel);
    this.#set({ logLevel });
  }

  /** A list of the server has changed; one that the server does not declare is none. */
  listChanged(kind: OfferKind): void {
    const { lists } = this.#info;
    if (lists[kind] !== undefined) this.#setLists({ ...lists, [kind]: lists[kind] + 1 });
  }

  /** Shows facts of a recorded session, which has no client. */
  describe(facts: Partial<ConnectionFacts>): void {
    this.#set(facts);
  }

  #begin(): Opening {
    const { timeline, tokens, connectMs = CONNECT_MS } = this.#around;
    if (this.target.kind !== "url") return new Opening(undefined, connectMs);
    const loginChanged = (progress: LoginProgress) => this.#loginChanged(opening, progress);
    const { id: connection, redactor } = this;
    const access = httpAccess(this.target, { connection, timeline, redactor, tokens, loginChanged });
    const opening: Opening = new Opening(access, connectMs);
    return opening;
  }

  async #connect(opening: Opening): Promise<void> {
    const onStderr = (line: string) => this.#event(`stderr: ${line}`);
    try {
      if (this.#opening !== opening) return;
      const client = await this.target.open(this.#options(opening), { onStderr });
      if (this.#opening !== opening) return await client.close();
      opening.client = client;
      this.#stands(client);
      const problem = (error: unknown) =>
        this.#event(`changes of lists are not announced: ${shownProblem(error).message}`, true);
      watchLists(client, (kind) => this.listChanged(kind), problem);
    } catch (error) {
      if (this.#opening !== opening) return;
      const problem = shownProblem(opening.deadline?.error ?? error);
      if (problem.kind === "authorization_failed") opening.access?.login?.progress.broke();
      this.#set({ status: "failed", problem });
      this.#event(`not connected: ${problem.message}`, true);
    } finally {
      opening.deadline?.stop();
    }
  }

  #common(): ClientOptions {
    const { answerers } = this.#around;
    const { tasks, skills, apps } = this.extensions;
    return {
      name: "parley-inspector",
      extensions: [tasks, skills, apps],
      roots: this.#info.roots,
      onWarning: () => {},
      ...answerers(this.id),
    };
  }

  #options(opening: Opening): ClientOptions {
    const { access, deadline, signal } = opening;
    const { wanted, logLevel } = this.#info;
    const { connectMs = CONNECT_MS } = this.#around;
    return {
      ...this.#common(),
      ...(wanted === undefined ? {} : { revisions: [wanted] }),
      ...(logLevel === undefined ? {} : { logLevel }),
      signal,
      timeouts: { connectMs: deadline === undefined ? connectMs : CONNECT_WITH_LOGIN_MS, idleMs: IDLE_MS },
      onMessage: (wire) => this.#note(opening, wire),
      onWarning: (text) => this.#event(`warning: ${text}`, true),
      observe: {
        state: ({ state, reason }) => this.#moved(opening, state, reason),
        ...protocolFaults((text) => this.#event(text, true), access?.watcher),
      },
      ...access?.options,
    };
  }

  #note({ access }: Opening, wire: WireMessage): void {
    const { timeline, onlyCall } = this.#around;
    const { direction, message } = wire;
    const { id, method } = message;
    const isSent = direction === "sent";
    // A stream of changes outlives the call in whose course a lost connection, and it, were opened again.
    const call = isSent && method !== "subscriptions/listen" ? callContext.getStore() : undefined;
    const http = isSent || method !== undefined ? undefined : access?.watcher.exchangeOf(id);
    const { revision, wanted } = this.#info;
    const otherwise = isSent ? undefined : () => onlyCall(this.id);
    const seq = timeline.addMessage({ connection: this.id, wire, revision, call, otherwise, http, wanted });
    if (isSent) access?.watcher.noteSent(message, seq);
  }

  /** The client opens a lost connection again by itself. */
  #moved(opening: Opening, state: Client["state"], reason: Error | undefined): void {
    const { client } = opening;
    if (client === undefined || this.#opening !== opening) return;
    if (state === "ready") return this.#stands(client);
    const problem = reason === undefined ? undefined : shownProblem(reason);
    if (state === "recovering" || state === "connecting") {
      this.#set({ status: "lost", problem });
      this.#event(`connection lost: ${problem?.message ?? "it is opened again"}`, true);
    } else if (state === "disconnected") {
      this.#set({ status: "failed", problem });
      this.#event(`not connected again: ${problem?.message ?? "the server ended the connection"}`, true);
    } else if (state === "closed") {
      this.#set({ status: "closed" });
      this.#event("closed");
    }
  }

  #stands(client: Client): void {
    const opened = this.#info.opened + 1;
    const facts = factsOfServer(client, this.#listCounts);
    this.#setLists(facts.lists);
    this.#set({ ...facts, status: "ready", opened, problem: undefined });
    this.#event(`connected${opened === 1 ? "" : " again"} in ${facts.revision}`);
  }

  #loginChanged(opening: Opening, progress: LoginProgress): void {
    if (this.#opening !== opening) return;
    const { client, deadline } = opening;
    this.#set({ login: progress.info });
    if (progress.waits && this.#info.status !== "login") {
      deadline?.stop();
      this.#set({ status: "login" });
      this.#event("waits for the user to log in");
    } else if (!progress.waits && this.#info.status === "login") {
      if (client === undefined) deadline?.go();
      this.#set({ status: client === undefined ? "connecting" : client.state === "ready" ? "ready" : "lost" });
    }
  }

  #setLists(lists: ConnectionInfo["lists"]): void {
    this.#listCounts = { ...this.#listCounts, ...lists };
    this.#set({ lists });
  }

  #set(change: Partial<ConnectionInfo>): void {
    this.#info = { ...this.#info, ...change };
    this.#around.changed();
  }

  #event(text: string, failed = false): void {
    const shown = this.redactor.text(text.slice(0, MOST_EVENT_READ));
    this.#around.timeline.addEvent({ connection: this.id, text: shown, failed });
  }
}
