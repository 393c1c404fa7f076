/** A client of one server or of a cluster. */
export interface Connectable {
  connect(): Promise<unknown>;
  /** Closes the connection after its pending commands are answered. */
  close(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: (error: Error) => void): unknown;
}

export interface ReconnectingConnectionOptions<C> {
  /** Creates a client that does not reconnect by itself. */
  readonly make: () => C | Promise<C>;
  /** Prepares a new connection before its first use. */
  readonly prepare?: (client: C) => Promise<unknown>;
  /** Called when a connection is ready. */
  readonly onReady?: (client: C) => unknown;
  /** Called when the connection is lost. */
  readonly onLost?: () => void;
  /** True if an error ends the connection. False for a cluster client, which repairs its own connections. */
  readonly endsOnError: boolean;
  /** Maximum time for connecting and preparing, in milliseconds. */
  readonly connectMs: number;
}

/**
 * First and longest delay before a new attempt, in milliseconds. Up to half of the delay is random, so that processes
 * do not reconnect at the same time.
 */
const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 2_000;
/**
 * Minimum age of a connection that is retired, in milliseconds. Without this limit, a server that stays a replica would
 * cause a new connection for every command.
 */
const MIN_RETIRE_INTERVAL_MS = 1_000;

/** A connection that opens on first use and reconnects after every loss until it is closed. */
export class ReconnectingConnection<C extends Connectable> {
  readonly #options: ReconnectingConnectionOptions<C>;
  #client: C | undefined;
  #attempt: C | undefined;
  #connecting = false;
  #closed = false;
  #waiting: ((client: C) => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Retired connections that still have pending commands. */
  readonly #retired = new Set<C>();
  /** Time at which the connection became ready, in milliseconds of `performance.now()`. */
  readyAt = 0;
  /** Time since which there has been no connection, in milliseconds of `performance.now()`. */
  #downSince: number | undefined;
  /** The error of the last failed attempt or lost connection. */
  lastError: Error | undefined;

  constructor(options: ReconnectingConnectionOptions<C>) {
    this.#options = options;
  }

  /** The current connection. If there is none, starts to connect and returns undefined. */
  get client(): C | undefined {
    if (this.#client === undefined) this.#start();
    return this.#client;
  }

  /** Time without a connection, in milliseconds. 0 while connected and before the first use. */
  get downMs(): number {
    return this.#downSince === undefined ? 0 : performance.now() - this.#downSince;
  }

  /** Calls `use` now or as soon as a connection is ready, in the order of the calls. */
  whenReady(use: (client: C) => void): void {
    const { client } = this;
    if (client === undefined) this.#waiting.push(use);
    else use(client);
  }

  /** Drops a connection that does not respond. */
  reset(client: C, cause: Error): void {
    if (this.#client !== client) return;
    this.lastError = cause;
    this.#lose(client);
  }

  /**
   * Replaces this connection and lets its pending commands finish. Does nothing if the connection is less than a second
   * old.
   */
  retire(client: C, cause: Error): void {
    if (this.#client !== client || performance.now() - this.readyAt < MIN_RETIRE_INTERVAL_MS) return;
    this.lastError = cause;
    this.#retired.add(client);
    const timer = setTimeout(() => client.destroy(), this.#options.connectMs);
    const done = () => {
      clearTimeout(timer);
      this.#retired.delete(client);
    };
    client.close().then(done, done);
    this.#replace(client);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#waiting = [];
    this.#attempt?.destroy();
    for (const client of this.#retired) client.destroy();
    const client = this.#client;
    this.#client = undefined;
    client?.destroy();
  }

  #start(): void {
    if (this.#connecting || this.#closed) return;
    this.#connecting = true;
    this.#downSince ??= performance.now();
    void this.#connect(0);
  }

  async #connect(attempts: number): Promise<void> {
    try {
      const client = await this.#options.make();
      if (this.#closed) return;
      await this.#connectInTime(client);
      if (this.#closed) return client.destroy();
      this.#attempt = undefined;
      this.#client = client;
      this.#connecting = false;
      this.#downSince = undefined;
      this.readyAt = performance.now();
      this.#onConnected(client);
    } catch (error) {
      this.lastError = error instanceof Error ? error : new Error(String(error));
      this.#attempt?.destroy();
      this.#attempt = undefined;
      this.#retryLater(attempts);
    }
  }

  #retryLater(attempts: number): void {
    if (this.#closed) return;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempts, 10), MAX_WAIT_MS);
    this.#timer = setTimeout(() => void this.#connect(attempts + 1), wait * (0.5 + Math.random() / 2));
  }

  /**
   * Connects and prepares within `connectMs`. Without this limit, a server that accepts connections but never responds
   * would block the attempt.
   */
  async #connectInTime(client: C): Promise<void> {
    this.#attempt = client;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const failed = new Promise<never>((_resolve, reject) => {
      client.on("error", (error) => {
        this.lastError = error;
        if (!this.#options.endsOnError) return;
        reject(error);
        this.#lose(client);
      });
      const { connectMs } = this.#options;
      timer = setTimeout(() => reject(new Error(`no answer to the handshake within ${connectMs} ms`)), connectMs);
    });
    const connected = client.connect().then(() => this.#options.prepare?.(client));
    // The promise that loses the race may still reject.
    connected.catch(() => {});
    failed.catch(() => {});
    try {
      await Promise.race([connected, failed]);
    } finally {
      clearTimeout(timer);
    }
  }

  #onConnected(client: C): void {
    this.#options.onReady?.(client);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const use of waiting) use(client);
  }

  #lose(client: C): void {
    if (this.#client !== client) return;
    // Deferred, because the client first rejects its pending commands with the cause.
    queueMicrotask(() => client.destroy());
    this.#replace(client);
  }

  #replace(client: C): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#options.onLost?.();
    if (this.#closed || this.#connecting) return;
    this.#connecting = true;
    this.#downSince = performance.now();
    this.#retryLater(0);
  }
}
