import type { ClientSelf } from "../era/era.js";
import type { Id, NotificationMessage, RequestMessage } from "../jsonrpc/message.js";
import type { Platform } from "../platform/platform.js";
import { McpError } from "../protocol/error.js";
import { MethodTable } from "../protocol/methods.js";
import { REVISIONS } from "../protocol/revisions.js";
import type { Receiver, Transport } from "../transport/transport.js";
import { Answerer } from "./input.js";
import { type Established, type Negotiation, negotiate } from "./negotiate.js";
import { type ClientOptions, DEFAULT_TIMEOUTS, type Timeouts } from "./options.js";
import { type ConnectionState, transition } from "./state-machine.js";

/** How to reach a server, again and again if need be. */
export interface Route {
  /** Makes a transport that has not been opened. */
  make(): Transport;
  /** True when a lost connection may be opened again by `make`. */
  readonly repeatable: boolean;
  /** Ways to try when the handshake finds nobody, for example an older transport. */
  readonly fallback?: (error: unknown) => Route | undefined;
}

/** What is told about a connection as it goes. */
export interface LinkEvents {
  notification(message: NotificationMessage, about: Id | undefined): void;
  fault(error: Error): void;
  state(state: ConnectionState, reason: Error | undefined): void;
}

const NAME = "parley";
const VERSION = "0.1.0";

/** One connection to one server: opens it, finds the era, and opens it again when it may. */
export class Link {
  readonly options: ClientOptions;
  readonly platform: Platform;
  readonly timeouts: Timeouts;
  readonly methods: MethodTable;
  readonly answerer: Answerer;
  readonly #events: LinkEvents;
  readonly #asked = new Map<Id, AbortController>();
  #route: Route;
  #transport: Transport | undefined;
  #established: Established | undefined;
  #state: ConnectionState = "disconnected";
  #recovery: Promise<void> | undefined;
  #lastId = 0;

  constructor(route: Route, options: ClientOptions, platform: Platform, events: LinkEvents) {
    this.#route = route;
    this.options = options;
    this.platform = platform;
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
    this.methods = new MethodTable(options.extensions?.flatMap((extension) => extension.methods ?? []));
    this.answerer = new Answerer(options);
    this.#events = events;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** What is known of the server. Throws before the first connection and after the last. */
  get established(): Established {
    if (this.#established === undefined) throw this.#notConnected();
    return this.#established;
  }

  get transport(): Transport {
    if (this.#transport === undefined || this.#state === "closed") throw this.#notConnected();
    return this.#transport;
  }

  nextId(): Id {
    this.#lastId++;
    return this.#lastId;
  }

  /** Opens the connection. Rejects when no way leads to a handshake before the `connect` deadline. */
  async connect(): Promise<void> {
    this.#move("connect");
    try {
      await this.#open();
      this.#move("established");
    } catch (error) {
      await this.#drop();
      if (this.#state !== "closed") this.#move("failed");
      throw McpError.from(error);
    }
  }

  /** Opens a lost connection again; concurrent callers share one attempt. */
  recover(lost: McpError): Promise<void> {
    this.#recovery ??= this.#reopen(lost).finally(() => {
      this.#recovery = undefined;
    });
    return this.#recovery;
  }

  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#move("close");
    for (const controller of this.#asked.values()) controller.abort();
    await this.#transport?.close();
  }

  async #reopen(lost: McpError): Promise<void> {
    this.#move("lost", lost);
    try {
      if (lost.kind === "session_lost") {
        this.#transport?.reset?.();
        this.#established = await this.#bounded(negotiate(this.#negotiation(this.transport)));
      } else {
        await this.#drop();
        await this.#open();
      }
      this.#move("established");
    } catch (error) {
      if (this.state !== "closed") this.#move("failed", McpError.from(error));
      throw error;
    }
  }

  async #open(): Promise<void> {
    const transport = this.#route.make();
    this.#transport = transport;
    try {
      await this.#bounded(this.#greet(transport));
    } catch (error) {
      const next = this.#route.fallback?.(error);
      if (next === undefined) throw error;
      await transport.close();
      this.#route = next;
      await this.#open();
    }
  }

  async #greet(transport: Transport): Promise<void> {
    await transport.open(this.#receiver(transport));
    this.#established = await negotiate(this.#negotiation(transport));
  }

  #negotiation(transport: Transport): Negotiation {
    const { name = NAME, version = VERSION, revisions = REVISIONS, prior, extensions = [] } = this.options;
    const self: ClientSelf = {
      info: { name, version },
      capabilities: this.answerer.capabilities(),
      headers: transport.kind === "http",
    };
    return {
      transport,
      self,
      methods: this.methods,
      resultTypes: extensions.flatMap((extension) => extension.resultTypes ?? []),
      revisions,
      prior: prior?.revision,
      platform: this.platform,
      nextId: () => this.nextId(),
    };
  }

  #receiver(transport: Transport): Receiver {
    return {
      request: (message) => this.#answer(message),
      notification: (message, about) => {
        const id = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined;
        if (id !== undefined) this.#asked.get(id as Id)?.abort();
        this.#events.notification(message, about);
      },
      fault: (error) => this.#events.fault(error),
      closed: (reason) => {
        // A transport that was replaced has nothing to say any more.
        if (this.#transport !== transport || this.#state !== "ready") return;
        this.#ended(reason);
      },
    };
  }

  #ended(reason: Error | undefined): void {
    const error = new McpError("connection_closed", `the connection to ${this.transport.target} ended`, {
      cause: reason,
    });
    if (this.#route.repeatable) void this.recover(error).catch(() => {});
    else this.#move("failed", error);
  }

  async #answer(message: RequestMessage): Promise<string> {
    const controller = new AbortController();
    this.#asked.set(message.id, controller);
    try {
      return await this.answerer.respond(message, { signal: controller.signal, server: this.#established?.serverInfo });
    } finally {
      this.#asked.delete(message.id);
    }
  }

  async #drop(): Promise<void> {
    const transport = this.#transport;
    this.#transport = undefined;
    await transport?.close();
  }

  /** Settles with the work, the `connect` deadline, or the caller's signal, whichever is first. */
  #bounded<T>(work: Promise<T>): Promise<T> {
    const { connect } = this.timeouts;
    const { signal } = this.options;
    return new Promise((resolve, reject) => {
      const timer = this.platform.timer(connect, () => reject(this.#tooSlow(connect)), true);
      const stop = () => reject(new McpError("cancelled", "connecting was cancelled", { cause: signal?.reason }));
      if (signal?.aborted === true) stop();
      signal?.addEventListener("abort", stop, { once: true });
      work.then(resolve, reject).finally(() => {
        timer.cancel();
        signal?.removeEventListener("abort", stop);
      });
    });
  }

  #tooSlow(ms: number): McpError {
    return new McpError(
      "timeout",
      `no handshake with ${this.#transport?.target ?? "the server"} within the connect deadline of ${ms} ms`,
      {
        data: { deadline: "connect", ms },
        fix: "Raise `timeouts.connect`, or look at what the server does when it starts.",
      },
    );
  }

  #move(event: Parameters<typeof transition>[1], reason?: Error): void {
    this.#state = transition(this.#state, event);
    this.#events.state(this.#state, reason);
  }

  #notConnected(): McpError {
    return new McpError("connection_closed", `the client is ${this.#state}`, { fix: "Call `connect` again." });
  }
}
