/**
 * What the library needs from its runtime. Every clock, timer, random number, cipher, request and process goes through
 * this interface, so that tests can replace any of them and run a whole system on a simulated clock.
 */
export interface Platform {
  /** Milliseconds since the epoch. Jumps when the clock is set; for facts that others read, such as an expiry date. */
  now(): number;
  /** Milliseconds from a point of its own, never going back; for ages and deadlines. */
  monotonic(): number;
  /** Calls `run` once after `ms` milliseconds. A pending timer does not keep a process alive unless `keepAlive` is set. */
  timer(ms: number, run: () => void, keepAlive?: boolean): Timer;
  /** Calls `run` on the next turn of the event loop, after the I/O that is ready now. */
  defer(run: () => void): void;
  /** Cryptographically strong random bytes. */
  randomBytes(count: number): Uint8Array;
  /** SHA-256. Synchronous, because a handler's questions need their keys before its first `await`. */
  sha256(data: Uint8Array): Uint8Array;
  /** Authenticated encryption under a key derived from `secret` for one `purpose`. */
  cipher(secret: string, purpose: string): Cipher;
  /** The runtime's `fetch`. */
  fetch: Fetch;
  /** Starts a child process; absent if the runtime has none. */
  spawn?: Spawn | undefined;
  /** Gives access to files; absent if the runtime has none. */
  files?: (() => Files) | undefined;
  /** Opens the inspector on a server of this process; absent if the runtime cannot. */
  inspect?: Inspect | undefined;
  /** Prints a message for the operator of the program, with control characters escaped; never sent to the peer. */
  warn(message: string): void;
  /**
   * Keeps rejections that `isOurs` recognises from being reported as unhandled, or from ending the process; others are
   * not affected. Only the first call has an effect. Absent if the runtime cannot do it.
   */
  guardRejections?(isOurs: (reason: unknown) => boolean): void;
}

/** A pending timer. */
export interface Timer {
  /** Stops the timer; does nothing after it has fired. */
  cancel(): void;
}

/** AES-256-GCM with a derived key; synchronous if the runtime allows it. */
export interface Cipher {
  /** Returns nonce and ciphertext as one array. */
  seal(plain: Uint8Array, bound: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Returns the plaintext, or undefined unless `seal` made `sealed` with the same key and `bound`. */
  open(sealed: Uint8Array, bound: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

/** The part of `fetch` that the library uses. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Options of `server.inspect`. */
export interface InspectOptions {
  /** The port of the page, on this machine alone. Default: any free one, so that several servers can be inspected. */
  port?: number | undefined;
  /** Whether the page is opened in the browser. Default: where stderr is a terminal, except in continuous integration. */
  open?: boolean | undefined;
}

/** An open inspector. */
export interface InspectHandle {
  /** The address of the page. It has the key to the page in it: whoever knows it may use the inspector. */
  readonly url: string;
  /** Ends the inspector and its connections; the server stays. */
  close(): Promise<void>;
}

/** Opens the inspector on a server. Rejects with an `McpError` where it is not installed or not allowed. */
export type Inspect = (server: object, options?: InspectOptions) => Promise<InspectHandle>;

/** How to start a child process; never through a shell. */
export interface SpawnOptions {
  /** The program: a path, or a name to look up in `PATH`. */
  command: string;
  /** Arguments, passed as they are. */
  args: readonly string[];
  /** The whole environment of the child. */
  env: Readonly<Record<string, string>>;
  /** The folder in which it starts. Default: the current folder of this process. */
  cwd?: string | undefined;
}

/** Starts a child process. Failure to start arrives through `exited`. */
export type Spawn = (options: SpawnOptions) => ChildHandle;

/** A running child process. */
export interface ChildHandle {
  readonly pid: number | undefined;
  /** Writes to the child's stdin; `false` asks the caller to wait for `drained`. */
  write(text: string): boolean;
  /** Closes the child's stdin. */
  endInput(): void;
  /** Sends a signal to the child and to everything it started. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
  /** Whether a descendant of the child may still run after the child has exited; absent if that is unknown. */
  treeAlive?(): boolean;
  /** Stops and restarts reading of stdout. */
  pause(): void;
  resume(): void;
  on(events: ChildEvents): void;
}

/** Events of a child process. Each `…Closed` and `exited` is called at most once. */
export interface ChildEvents {
  stdout(chunk: Uint8Array): void;
  stderr(chunk: Uint8Array): void;
  stdoutClosed(): void;
  drained(): void;
  /** The child reads no more from its stdin: a write failed. */
  stdinClosed?(): void;
  exited(end: ChildEnd): void;
}

/** How a child process ended. */
export interface ChildEnd {
  code?: number;
  signal?: string;
  /** Set if the process could not be started. */
  error?: Error;
}

/** What is read of files, in the names of Node's `fs`. */
export interface Files {
  readonly constants: { readonly O_RDONLY: number; readonly O_NOFOLLOW?: number; readonly O_NONBLOCK?: number };
  /** The path without links. */
  realpathSync(path: string): string;
  /** Does not follow links. */
  lstatSync(path: string): FileStatus;
  /** The names in a folder. */
  readdirSync(path: string): string[];
  openSync(path: string, flags: number): number;
  fstatSync(descriptor: number): FileStatus;
  /** Returns the number of bytes read; 0 at the end of the file. */
  readSync(descriptor: number, into: Uint8Array, offset: number, length: number, position: null): number;
  closeSync(descriptor: number): void;
}

/** What a path leads to. */
export interface FileStatus {
  readonly size: number;
  readonly ino: number;
  readonly dev: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** The runtime's platform with some members replaced. A program that replaces the clock alone means both clocks. */
export function replacedPlatform(platform: Platform, replaced: Partial<Platform> | undefined): Platform {
  const monotonic = replaced?.monotonic ?? replaced?.now ?? platform.monotonic;
  return { ...platform, ...replaced, monotonic };
}

/** The longest delay of `setTimeout`; runtimes treat a longer or infinite one as 0. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer of any length by chaining the runtime's own timers, which `start` creates. */
export function longTimer(ms: number, run: () => void, start: (ms: number, run: () => void) => Timer): Timer {
  if (ms <= MAX_TIMER_MS) return start(ms, run);
  let current = start(MAX_TIMER_MS, () => {
    current = longTimer(ms - MAX_TIMER_MS, run, start);
  });
  return { cancel: () => current.cancel() };
}
