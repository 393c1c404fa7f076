import type { ChildHandle, Platform, Timer } from "../../platform/platform.js";
import type { ByteStream, ByteStreamEvents } from "../../transport/channel/byte-stream.js";
import type { LaunchReport } from "./launch-report.js";

/** When a child that was told to end gets each signal, and when the wait is over, all after its stdin was closed. */
const TERM_AFTER_MS = 1500;
const KILL_AFTER_MS = 3000;
const GIVE_UP_AFTER_MS = 3500;
/** What its children get after SIGTERM when the child itself has ended. */
const REST_AFTER_MS = 300;
/** How long the other of two events that come together is awaited: the end of stdout, and the end of the process. */
const TOGETHER_MS = 15;

/**
 * The pipes of a child process as one byte stream, and the ways in which a process ends.
 *
 * `closed` comes when the child can say no more; `gone` resolves when the whole process tree has ended or, for what
 * not even SIGKILL ends, after 3.5 seconds.
 */
export class ChildStream implements ByteStream {
  readonly gone: Promise<void>;
  readonly #start: () => ChildHandle;
  readonly #stderr: (chunk: Uint8Array) => void;
  readonly #platform: Platform;
  readonly #report: LaunchReport;
  readonly #ladder: Timer[] = [];
  #isGone: () => void = () => {};
  #child: ChildHandle | undefined;
  #events: ByteStreamEvents | undefined;
  #exited = false;
  #stdoutClosed = false;
  #ending = false;
  #closed = false;
  /** Chunks seen; tells whether stdout was silent over a while. */
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
      this.#isGone = resolve;
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
      stdoutClosed: () => {
        this.#stdoutClosed = true;
        if (this.#exited) this.#close("exited");
        else this.#after(TOGETHER_MS, () => this.#close("stdout_closed"));
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
   * "For the stdio transport, the client SHOULD initiate shutdown by: first, closing the input stream to the child
   * process …, waiting for the server to exit, or sending SIGTERM if the server does not exit within a reasonable time;
   * sending SIGKILL if the server does not exit within a reasonable time after SIGTERM."
   */
  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    const child = this.#child;
    // After the child's own end only its children are left, and `endTree` sees to them.
    if (child === undefined || this.#exited) return;
    child.endInput();
    this.#ladder.push(
      this.#after(TERM_AFTER_MS, () => child.kill("SIGTERM")),
      this.#after(KILL_AFTER_MS, () => child.kill("SIGKILL")),
      this.#after(GIVE_UP_AFTER_MS, () => this.#leave()),
    );
  }

  destroy(): void {
    this.#ending = true;
    this.#child?.kill("SIGKILL");
    this.#leave();
  }

  /** A grandchild may hold stdout open for ever, and the last answers of the child may still be in the pipe. */
  #closeWhenSilent(): void {
    const seen = this.#chunks;
    this.#after(TOGETHER_MS, () =>
      // What is ready to be read is read before this runs, also after the event loop was busy for long.
      this.#platform.defer(() => {
        if (this.#chunks === seen) this.#close("exited");
        else this.#closeWhenSilent();
      }),
    );
  }

  /** Ends what the child left behind: politely, then surely. */
  #endTree(): void {
    const child = this.#child;
    if (child?.treeAlive?.() !== true) {
      this.#leave();
      return;
    }
    child.kill("SIGTERM");
    this.#after(REST_AFTER_MS, () => {
      child.kill("SIGKILL");
      this.#leave();
    });
  }

  #close(what: "exited" | "stdout_closed"): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#events?.closed(this.#ending ? undefined : this.#report.failure(what));
    this.end();
  }

  /** Nothing is left to wait for but, after an end that nobody asked for, the rest of stdout. */
  #leave(): void {
    for (const timer of this.#ladder.splice(0)) timer.cancel();
    if (this.#ending) this.#close("exited");
    this.#isGone();
  }

  #after(ms: number, run: () => void): Timer {
    return this.#platform.timer(ms, run, true);
  }
}
