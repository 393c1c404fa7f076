/**
 * What the library asks of the runtime it runs on. Every clock, timer, random number, cipher, request and process comes
 * through here, so that a test can replace any of them and a whole system can run on a simulated clock.
 */
export interface Platform {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once after `ms` milliseconds. A pending timer does not keep a process alive unless `keepAlive` is set. */
  timer(ms: number, run: () => void, keepAlive?: boolean): Timer;
  /** Calls `run` on the next turn of the event loop, after the I/O that is ready now. */
  defer(run: () => void): void;
  /** Cryptographically strong random bytes. */
  randomBytes(count: number): Uint8Array;
  /** SHA-256. Synchronous, because keys of questions are needed before the first `await`. */
  sha256(data: Uint8Array): Uint8Array;
  /** Authenticated encryption under a key derived from `secret` for one `purpose`. */
  cipher(secret: string, purpose: string): Cipher;
  /** The runtime's `fetch`. */
  fetch: Fetch;
  /** Starts a child process; absent where the runtime has none. */
  spawn?: Spawn;
  /** Says one line to the operator of the program; never to the peer. */
  warn(message: string): void;
  /**
   * Keeps rejections that `isOurs` recognises from being reported as unhandled, or from ending the process; all others are
   * treated as before. Called more than once; only the first call counts. Absent where the runtime cannot do it.
   */
  guardRejections?(isOurs: (reason: unknown) => boolean): void;
}

/** A pending timer. */
export interface Timer {
  /** Stops the timer; does nothing when it has fired. */
  cancel(): void;
}

/** AES-256-GCM with a derived key; synchronous where the runtime can. */
export interface Cipher {
  /** Returns nonce and ciphertext as one array. */
  seal(plain: Uint8Array, bound: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Returns the plaintext, or undefined when `sealed` was not made by `seal` with the same key and `bound`. */
  open(sealed: Uint8Array, bound: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

/** The part of `fetch` that the library uses. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** How a child process is started; no shell is ever involved. */
export interface SpawnOptions {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd?: string;
}

/** Starts a child process. Failure to start arrives through `exited`. */
export type Spawn = (options: SpawnOptions) => ChildHandle;

/** A running child process seen as three pipes and an end. */
export interface ChildHandle {
  readonly pid: number | undefined;
  /** Writes to the child's stdin; `false` asks the caller to wait for `drained`. */
  write(text: string): boolean;
  /** Closes the child's stdin. */
  endInput(): void;
  /** Sends a signal to the child and to everything it started. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
  /** Whether anything that the child started may still run after the child's own end; absent where nobody can tell. */
  treeAlive?(): boolean;
  /** Stops and restarts reading of stdout. */
  pause(): void;
  resume(): void;
  on(events: ChildEvents): void;
}

/** What a child process reports. Each `…Closed` and `exited` comes at most once. */
export interface ChildEvents {
  stdout(chunk: Uint8Array): void;
  stderr(chunk: Uint8Array): void;
  stdoutClosed(): void;
  drained(): void;
  exited(end: ChildEnd): void;
}

/** How a child process ended. */
export interface ChildEnd {
  code?: number;
  signal?: string;
  /** Set when the process could not be started at all. */
  error?: Error;
}
