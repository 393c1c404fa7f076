import type { ChildHandle, Platform, Timer } from "../../platform/platform.js";
import type { ByteStream, ByteStreamEvents } from "../../transport/channel/stream-channel.js";
import type { LaunchReport } from "./launch-report.js";

/** Times of the shutdown steps after stdin was closed, in milliseconds. Together they take less than four seconds. */
const TERM_AFTER_MS = 1500;
const KILL_AFTER_MS = 3000;
const GIVE_UP_AFTER_MS = 3500;
/**
 * Time between SIGTERM and SIGKILL for orphaned grandchildren, in milliseconds. Shorter, because the child has already
 * exited.
 */
const KILL_TREE_AFTER_MS = 300;
/** If the process has exited and stdout is silent for this many milliseconds, stdout counts as closed. */
const SILENCE_MS = 15;
/**
 * Milliseconds to wait for the exit of a child that has closed its stdin. After that, the error says that the child is
 * still running. Longer than a busy machine takes to report an exit, so that the error describes the exit if there is
 * one.
 */
const EXIT_AFTER_INPUT_MS = 2_000;
/**
 * The same for a child that has closed its stdout. Shorter, because pending requests must be rejected within 50 ms,
 * even if the child does not exit.
 */
const EXIT_AFTER_OUTPUT_MS = 40;

/**
 * The pipes of a child process as one byte stream, and the shutdown of the process.
 *
 * `closed` is called when no more output is expected, or when the child has stopped reading. `gone` resolves when the
 * process tree has exited or its remaining processes were sent SIGKILL, at most 3.5 seconds after `end`.
 */
export class ChildStream implements ByteStream {
  readonly gone: Promise<void>;
  readonly #start: () => ChildHandle;
  readonly #stderr: (chunk: Uint8Array) => void;
  readonly #platform: Platform;
  readonly #report: LaunchReport;
  readonly #ladder: Timer[] = [];
  #resolveGone: () => void = () => {};
  #child: ChildHandle | undefined;
  #events: ByteStreamEvents | undefined;
  #exited = false;
  #stdoutClosed = false;
  #ending = false;
  #closed = false;
  /** Number of chunks received, to detect that stdout is silent. */
  #chunks = 0;

  constructor(
    start: () => ChildHandle,
    platform: Platform,
    report: LaunchReport,
    stderr: (chunk: Uint8Array) => void = () => {},
  ) {
    this.#start = start;
    this.#stderr = stderr;
    this.#platform = platform;
    this.#report = report;
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }

  open(events: ByteStreamEvents): void {
    this.#events = events;
    this.#child = this.#start();
    this.#child.on({
      stdout: (chunk) => {
        this.#chunks++;
        events.data(chunk);
      },
      stderr: (chunk) => {
        this.#report.stderr.push(chunk);
        this.#stderr(chunk);
      },
      drained: () => events.drained(),
      stdinClosed: () => {
        this.#after(EXIT_AFTER_INPUT_MS, () => this.#platform.defer(() => this.#close("stdin_closed")));
      },
      stdoutClosed: () => {
        this.#stdoutClosed = true;
        if (this.#exited) this.#close("exited");
        // `defer`, so that an exit event that is already pending is handled first, even if the event loop was blocked
        // for a long time.
        else this.#after(EXIT_AFTER_OUTPUT_MS, () => this.#platform.defer(() => this.#close("stdout_closed")));
      },
      exited: (end) => {
        this.#report.ended(end);
        this.#exited = true;
        if (this.#stdoutClosed) this.#close("exited");
        else this.#closeWhenSilent();
        this.#endTree();
      },
    });
  }

  write(text: string): boolean {
    return this.#child?.write(text) ?? true;
  }

  pause(): void {
    this.#child?.pause();
  }

  resume(): void {
    this.#child?.resume();
  }

  /**
   * Spec: Lifecycle, "Shutdown", https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#stdio
   *
   * "For the stdio transport, the client SHOULD initiate shutdown by: first, closing the input stream to the child
   * process …, waiting for the server to exit, or sending SIGTERM if the server does not exit within a reasonable time;
   * sending SIGKILL if the server does not exit within a reasonable time after SIGTERM."
   */
  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    const child = this.#child;
    // After the child has exited only its descendants are left. `#endTree` ends them.
    if (child === undefined || this.#exited) return;
    child.endInput();
    this.#ladder.push(
      this.#after(TERM_AFTER_MS, () => child.kill("SIGTERM")),
      this.#after(KILL_AFTER_MS, () => child.kill("SIGKILL")),
      this.#after(GIVE_UP_AFTER_MS, () => this.#finish()),
    );
  }

  destroy(): void {
    this.#ending = true;
    this.#child?.kill("SIGKILL");
    this.#finish();
  }

  /**
   * Closes the stream once stdout is silent. A grandchild may keep stdout open indefinitely, and the child's last
   * answers may still be in the pipe.
   */
  #closeWhenSilent(): void {
    const seen = this.#chunks;
    this.#after(SILENCE_MS, () =>
      // `defer`, so that available data is read first, even if the event loop was blocked for a long time.
      this.#platform.defer(() => {
        if (this.#chunks === seen) this.#close("exited");
        else this.#closeWhenSilent();
      }),
    );
  }

  /** Ends the child's descendants: SIGTERM, then SIGKILL. */
  #endTree(): void {
    const child = this.#child;
    if (child?.treeAlive?.() !== true) {
      this.#finish();
      return;
    }
    child.kill("SIGTERM");
    this.#after(KILL_TREE_AFTER_MS, () => {
      child.kill("SIGKILL");
      this.#finish();
    });
  }

  #close(what: "exited" | "stdout_closed" | "stdin_closed"): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#events?.closed(this.#ending ? undefined : this.#report.failure(what));
    this.end();
  }

  /**
   * Called when the process tree has exited, or when waiting for it ends. After an unexpected exit, the rest of stdout
   * is still read.
   */
  #finish(): void {
    for (const timer of this.#ladder.splice(0)) timer.cancel();
    if (this.#ending) this.#close("exited");
    this.#resolveGone();
  }

  #after(ms: number, run: () => void): Timer {
    return this.#platform.timer(ms, run, true);
  }
}
