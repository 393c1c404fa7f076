import type { Platform, Timer } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { type ServeStreamOptions, serveStream } from "../../transport/channel/stream-server.js";
import { endpointOf, type Servable, type ServeHandle } from "../../transport/serve-handle.js";
import type { Endpoint, NetworkInfo } from "../../transport/transport.js";
import { builtin } from "../builtin.js";
import { decodeUtf8 } from "../decode-utf8.js";
import { endOnSignals, endServer, exitSoon } from "../end-on-signals.js";
import { platform as nodePlatform } from "../platform.js";
import { processStream } from "./process-stream.js";

/** Options of `serveStdio`. */
export interface ServeStdioOptions extends Omit<ServeStreamOptions, "platform" | "decode" | "framing" | "network"> {
  /**
   * Exits the process after the client is gone. Waits until nothing else keeps the process alive, but at most half a
   * second. With false, the program decides when to exit, and can await `closed`. Default: true.
   */
  exit?: boolean | undefined;
  /** Redirects output of the program on stdout to stderr, because stray output breaks the protocol. Default: true. */
  guardStdout?: boolean | undefined;
  /** Treats the exit of the parent process like the end of stdin. Default: true. */
  watchParent?: boolean | undefined;
  /**
   * Prints to stderr what the program is and how to try it, if stdin is a terminal. Applications use a pipe, so they
   * never see it. Default: true.
   */
  terminalHint?: boolean | undefined;
  /** Replaces the runtime's clock, timers and network, for example in a test. Default: the runtime's own. */
  platform?: Platform | undefined;
}

const PIPE: NetworkInfo = { transport: "pipe" };

/**
 * Serves the process that started this one, over stdin and stdout. Serving begins with the call itself. The promise
 * resolves at once, with the same handle that every transport has.
 *
 * Stops when stdin ends, when stdout is closed, or when the parent process is gone. Answers pending requests first
 * (`drainMs`, default 2 s), then exits with code 0. SIGINT and SIGTERM end the process as usual. In each case
 * `terminate` of a handler object is called first.
 *
 * Spec: Transports, "stdio", https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/getting-started.md | Getting started}
 */
export async function serveStdio(server: Servable, options: ServeStdioOptions = {}): Promise<ServeHandle> {
  checkOptions(
    "serveStdio",
    options,
    "principal remote maxInFlight maxFaults onFault maxMessageBytes maxQueuedMessages maxQueuedBytes holdInputAbove drainMs exit guardStdout watchParent terminalHint platform",
  );
  const { platform = nodePlatform, exit = true } = options;
  if (options.guardStdout !== false) guardStdout();
  const endpoint = endpointOf(server);
  if (options.terminalHint !== false && builtin("node:tty").isatty(0)) void printHint(endpoint);
  const served = serveStream(endpoint, processStream(), { ...options, platform, network: PIPE, decode: decodeUtf8 });
  const unwatch = options.watchParent === false ? () => {} : watchParent(platform, () => void served.drain());
  let exits = exit;
  const closed = served.closed.then(async () => {
    unwatch();
    if (!exit) return;
    await endServer(endpoint, platform);
    if (exits) exitSoon(platform);
  });
  if (exit && endpoint.endsObjects === true) {
    // A signal ends the server even if the program handles the signal. In that case the program decides when to exit.
    const end = (handled: boolean) => {
      if (handled) exits = false;
      return served.close().then(() => closed);
    };
    void closed.then(endOnSignals(end, platform, true));
  }
  return { ...served, closed };
}

/** Never rejects: without the text, the server works all the same. */
async function printHint({ info }: Endpoint): Promise<void> {
  const hint = await import("./terminal-hint.js").catch(() => undefined);
  if (hint !== undefined) process.stderr.write(hint.terminalHint(info));
}

const PARENT_POLL_MS = 500;

/**
 * Calls `gone` when the process that started this one has exited, and only once. Returns a function that stops
 * watching.
 *
 * Usually stdin ends at the same time, but not if another process holds the other end of the pipe, for example when a
 * wrapper script between a host and its server is killed.
 */
function watchParent(platform: Platform, gone: () => void): () => void {
  const parent = process.ppid;
  let timer: Timer | undefined;
  const poll = () => {
    if (isGone(parent)) gone();
    else timer = platform.timer(PARENT_POLL_MS, poll);
  };
  timer = platform.timer(PARENT_POLL_MS, poll);
  return () => timer?.cancel();
}

function isGone(parent: number): boolean {
  // On POSIX an orphan gets another parent. On Windows `ppid` stays the id of the dead parent, so check whether that
  // process exists.
  if (process.platform !== "win32") return process.ppid !== parent;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/**
 * Redirects output of the program on stdout to stderr, because the server must write only messages to stdout. Warns
 * once, with the location in the code that printed. The redirection is never removed, because stdout has no reader
 * after the protocol ends.
 *
 * The redirection covers `console.*` and `process.stdout`, including worker threads. It cannot cover writes to file
 * descriptor 1 that bypass Node's stream, such as those of a child process with inherited stdout.
 *
 * Spec: Transports, "stdio", https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
function guardStdout(): void {
  const { stdout } = process;
  // `bytesWritten` is missing if stdout is a file.
  const before = (stdout as { bytesWritten?: number }).bytesWritten ?? 0;
  if (before > 0) process.stderr.write(tooEarly(before));
  let noticed = false;
  const write: typeof stdout.write = (...args: unknown[]) => {
    // Access `process.stderr` only here, because opening stderr changes how its pipe behaves for code that writes to it
    // directly.
    const { stderr } = process;
    if (!noticed) {
      noticed = true;
      stderr.write(notice(callSite(write)));
    }
    // Safe: both streams have the same overloads, which a rest parameter cannot express.
    return stderr.write(...(args as Parameters<typeof stderr.write>));
  };
  stdout.write = write;
  stdout.end = ((chunk?: unknown) => {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) write(chunk);
    return stdout;
    // Safe: one implementation for all overloads of `end`. Its other parameters are not needed.
  }) as typeof stdout.end;
}

function notice(place: string): string {
  return (
    `[parley] stdout is reserved for the protocol, so the output printed ${place} and all later output goes to stderr. ` +
    "Log with console.error, or pass `guardStdout: false`.\n"
  );
}

function tooEarly(bytes: number): string {
  return (
    `[parley] ${bytes} bytes were printed to stdout before \`serveStdio\` was called, where clients expect only messages. ` +
    "Call `serveStdio` first, or log with console.error.\n"
  );
}

/** Location of the innermost stack frame outside Node that called `write`, directly or indirectly. */
function callSite(write: typeof process.stdout.write): string {
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  Error.captureStackTrace(holder, write);
  Error.stackTraceLimit = limit;
  const frames = (holder.stack ?? "").split("\n").slice(1);
  const frame = frames.find((line) => !/\(?node:|(WriteStream|Socket)\.(write|end)/.test(line));
  const place = frame === undefined ? undefined : /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(frame.trim())?.[1];
  return place === undefined ? "somewhere" : `at ${place}`;
}
