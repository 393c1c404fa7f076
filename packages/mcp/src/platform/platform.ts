/**
 * The functions that the library needs from its runtime. Every clock, timer, random number, cipher, request and process
 * goes through this interface, so that tests can replace any of them and run a whole system on a simulated clock.
 */
export interface Platform {
  /**
   * Returns the time in milliseconds since the epoch. It jumps when the system clock is set. Use it for times that
   * others read, such as an expiry date.
   */
  now(): number;
  /** Returns milliseconds since an arbitrary point, and never goes back. Use it for ages and deadlines. */
  monotonic(): number;
  /**
   * Calls `run` once after `ms` milliseconds. A pending timer does not keep a process alive unless `keepAlive` is set.
   */
  timer(ms: number, run: () => void, keepAlive?: boolean): Timer;
  /** Calls `run` on the next turn of the event loop, after the I/O that is ready now. */
  defer(run: () => void): void;
  /** Returns cryptographically strong random bytes. */
  randomBytes(count: number): Uint8Array;
  /**
   * Returns the SHA-256 digest. Synchronous, because a handler may ask the client before its first `await`, and each
   * question needs a digest as its key.
   */
  sha256(data: Uint8Array): Uint8Array;
  /** Returns a cipher for authenticated encryption, with a key derived from `secret` for one `purpose`. */
  cipher(secret: string, purpose: string): Cipher;
  /** The `fetch` of the runtime. */
  fetch: Fetch;
  /** Starts a child process. Absent if the runtime has no processes. */
  spawn?: Spawn | undefined;
  /** Returns access to files. Absent if the runtime has no files. */
  files?: (() => Files) | undefined;
  /** Opens the inspector for a server of this process. Absent if the runtime cannot open it. */
  inspect?: Inspect | undefined;
  /** Prints a message for the operator of the program, with control characters escaped. Never sent to the peer. */
  warn(message: string): void;
  /**
   * Prevents rejections that `isOurs` recognises from being reported as unhandled and from ending the process. Other
   * rejections are not affected. Only the first call has an effect. Absent if the runtime cannot do it.
   */
  guardRejections?(isOurs: (reason: unknown) => boolean): void;
}

/** A pending timer. */
export interface Timer {
  /** Stops the timer. Does nothing after it has fired. */
  cancel(): void;
}

/** AES-256-GCM with a derived key. Synchronous if the runtime allows it. */
export interface Cipher {
  /** Returns nonce and ciphertext as one array. `bound` is authenticated, but not encrypted. */
  seal(plain: Uint8Array, bound: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** Returns the plaintext, or undefined unless `seal` created `sealed` with the same key and `bound`. */
  open(sealed: Uint8Array, bound: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

/** The part of `fetch` that the library uses. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Options of `server.inspect`. */
export interface InspectOptions {
  /** The port of the page, on this machine only. Default: a free port, so that several servers can be inspected. */
  port?: number | undefined;
  /** True to open the page in the browser. Default: true if stderr is a terminal, except in continuous integration. */
  open?: boolean | undefined;
}

/** An open inspector. */
export interface InspectHandle {
  /** The address of the page. It contains the access key, so everyone who knows the address can use the inspector. */
  readonly url: string;
  /** Closes the inspector and its connections. The server keeps running. */
  close(): Promise<void>;
}

/** Opens the inspector for a server. Rejects with an `McpError` if the inspector is not installed or not allowed. */
export type Inspect = (server: object, options?: InspectOptions) => Promise<InspectHandle>;

/** Options for starting a child process. The process never runs in a shell. */
export interface SpawnOptions {
  /** The program: a path, or a name to search in `PATH`. */
  command: string;
  /** The arguments, passed as they are. */
  args: readonly string[];
  /** The complete environment of the child. */
  env: Readonly<Record<string, string>>;
  /** The working directory of the child. Default: that of this process. */
  cwd?: string | undefined;
}

/** Starts a child process. If it cannot be started, `exited` reports the error. */
export type Spawn = (options: SpawnOptions) => ChildHandle;

/** A running child process. */
export interface ChildHandle {
  /** The process id. Undefined if the process could not be started. */
  readonly pid: number | undefined;
  /** Writes to the stdin of the child. Returns false if the caller must wait for `drained`. */
  write(text: string): boolean;
  /** Closes the stdin of the child. */
  endInput(): void;
  /** Sends a signal to the child and all its descendants. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
  /** Returns true if a descendant of the child may still run after the child has exited. Absent if that is unknown. */
  treeAlive?(): boolean;
  /** Stops reading stdout. */
  pause(): void;
  /** Restarts reading stdout. */
  resume(): void;
  /** Sets the functions that receive events. Called once. */
  on(events: ChildEvents): void;
}

/** The events of a child process. Each `…Closed` and `exited` is called at most once. */
export interface ChildEvents {
  /** Delivers bytes from stdout. */
  stdout(chunk: Uint8Array): void;
  /** Delivers bytes from stderr. */
  stderr(chunk: Uint8Array): void;
  /** Reports the end of stdout. */
  stdoutClosed(): void;
  /** Reports that writing may continue after a `write` that returned false. */
  drained(): void;
  /** Reports that the child no longer reads its stdin: a write failed. */
  stdinClosed?(): void;
  /** Reports the end of the process. */
  exited(end: ChildEnd): void;
}

/** The outcome of a child process. */
export interface ChildEnd {
  /** The exit code. Absent if a signal ended the process. */
  code?: number;
  /** The name of the signal that ended the process. */
  signal?: string;
  /** Set if the process could not be started. */
  error?: Error;
}

/** The functions that read files, with the names of Node's `fs`. */
export interface Files {
  /** Flags of `openSync`. */
  readonly constants: { readonly O_RDONLY: number; readonly O_NOFOLLOW?: number; readonly O_NONBLOCK?: number };
  /** Returns the path with all links resolved. */
  realpathSync(path: string): string;
  /** Returns the status of a path without following links. */
  lstatSync(path: string): FileStatus;
  /** Returns the names in a folder. */
  readdirSync(path: string): string[];
  /** Opens a file and returns its descriptor. */
  openSync(path: string, flags: number): number;
  /** Returns the status of an open file. */
  fstatSync(descriptor: number): FileStatus;
  /** Reads bytes into an array and returns their number; 0 at the end of the file. */
  readSync(descriptor: number, into: Uint8Array, offset: number, length: number, position: null): number;
  /** Closes a descriptor. */
  closeSync(descriptor: number): void;
}

/** The status of a file, as in Node's `fs.Stats`. */
export interface FileStatus {
  /** Size in bytes. */
  readonly size: number;
  /** The inode number. */
  readonly ino: number;
  /** The device number. */
  readonly dev: number;
  /** True for a regular file. */
  isFile(): boolean;
  /** True for a folder. */
  isDirectory(): boolean;
  /** True for a symbolic link. */
  isSymbolicLink(): boolean;
}

/**
 * Returns the platform of the runtime with some members replaced. If `now` is replaced and `monotonic` is not, the new
 * `now` also serves as `monotonic`.
 */
export function replacedPlatform(platform: Platform, replaced: Partial<Platform> | undefined): Platform {
  const monotonic = replaced?.monotonic ?? replaced?.now ?? platform.monotonic;
  return { ...platform, ...replaced, monotonic };
}

/** The longest delay of `setTimeout`. Runtimes treat a longer or infinite delay as 0. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer of any length by chaining the runtime's own timers, which `start` creates. */
export function longTimer(ms: number, run: () => void, start: (ms: number, run: () => void) => Timer): Timer {
  if (ms <= MAX_TIMER_MS) return start(ms, run);
  let current = start(MAX_TIMER_MS, () => {
    current = longTimer(ms - MAX_TIMER_MS, run, start);
  });
  return { cancel: () => current.cancel() };
}
