/** What is connected: a client of one server, or of a cluster. */
export interface Connectable {
  connect(): Promise<unknown>;
  /** Ends the connection when its open commands are answered. */
  close(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: (error: Error) => void): unknown;
}

export interface LastingConnectionOptions<C> {
  /** Makes a client that does not connect again by itself. */
  readonly make: () => C | Promise<C>;
  /** What a new connection needs before it can be used. */
  readonly prepare?: (client: C) => Promise<unknown>;
  readonly onReady?: (client: C) => unknown;
  readonly onLost?: () => void;
  /** Whether an error ends the connection. A cluster looks after its own. */
  readonly endsOnError: boolean;
  readonly connectMs: number;
}

/** The first wait before a new attempt, and the longest; up to half is random, so that processes do not come together. */
const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 2_000;
/** The least time between two connections of which the first was retired: a server may be a replica for long. */
const RETIRE_MS = 1_000;

/** One connection that is made when it is first needed, and made again when it is lost, until it is closed. */
export class LastingConnection<C extends Connectable> {
  readonly #options: LastingConnectionOptions<C>;
  #client: C | undefined;
  #attempt: C | undefined;
  #running = false;
  #closed = false;
  #waiting: ((client: C) => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Retired connections whose open commands are being answered. */
  readonly #retired = new Set<C>();
  /** When the connection was made, in milliseconds of `performance.now()`. */
  readyAt = 0;
  /** Since when there is no connection, in milliseconds of `performance.now()`. */
  #downSince: number | undefined;
  /** Why the last attempt failed, or the connection was lost. */
  lastError: Error | undefined;

  constructor(options: LastingConnectionOptions<C>) {
    this.#options = options;
  }

  /** The connection, if there is one now. Otherwise one is made. */
  get client(): C | undefined {
    if (this.#client === undefined) this.#start();
    return this.#client;
  }

  /** How long there has been no connection. */
  get downMs(): number {
    return this.#downSince === undefined ? 0 : performance.now() - this.#downSince;
  }

  /** Calls `use` at once or as soon as there is a connection, in the order of the calls. */
  whenReady(use: (client: C) => void): void {
    const { client } = this;
    if (client === undefined) this.#waiting.push(use);
    else use(client);
  }

  /** Gives a connection up that does not answer. */
  reset(client: C, cause: Error): void {
    if (this.#client !== client) return;
    this.lastError = cause;
    this.#lose(client);
  }

  /** Makes a new connection in place of this one, whose open commands are still answered. At most once a second. */
  retire(client: C, cause: Error): void {
    if (this.#client !== client || performance.now() - this.readyAt < RETIRE_MS) return;
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
    if (this.#running || this.#closed) return;
    this.#running = true;
    this.#downSince ??= performance.now();
    void this.#connect(0);
  }

  async #connect(attempts: number): Promise<void> {
    try {
      const client = await this.#options.make();
      if (this.#closed) return;
      await this.#within(client);
      if (this.#closed) return client.destroy();
      this.#attempt = undefined;
      this.#client = client;
      this.#running = false;
      this.#downSince = undefined;
      this.readyAt = performance.now();
      this.#serve(client);
    } catch (error) {
      this.lastError = error instanceof Error ? error : new Error(String(error));
      this.#attempt?.destroy();
      this.#attempt = undefined;
      this.#again(attempts);
    }
  }

  #again(attempts: number): void {
    if (this.#closed) return;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempts, 10), MAX_WAIT_MS);
    this.#timer = setTimeout(() => void this.#connect(attempts + 1), wait * (0.5 + Math.random() / 2));
  }

  /** Connects and prepares within `connectMs`; a server that accepts and says nothing would hold it for ever. */
  async #within(client: C): Promise<void> {
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
      timer = setTimeout(() => reject(new Error(`no answer to the greeting within ${connectMs} ms`)), connectMs);
    });
    const connected = client.connect().then(() => this.#options.prepare?.(client));
    // The one that loses the race may still reject.
    connected.catch(() => {});
    failed.catch(() => {});
    try {
      await Promise.race([connected, failed]);
    } finally {
      clearTimeout(timer);
    }
  }

  #serve(client: C): void {
    this.#options.onReady?.(client);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const use of waiting) use(client);
  }

  #lose(client: C): void {
    if (this.#client !== client) return;
    // Later, because the client first tells its open commands why it was cut.
    queueMicrotask(() => client.destroy());
    this.#replace(client);
  }

  #replace(client: C): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#options.onLost?.();
    if (this.#closed || this.#running) return;
    this.#running = true;
    this.#downSince = performance.now();
    this.#again(0);
  }
}
