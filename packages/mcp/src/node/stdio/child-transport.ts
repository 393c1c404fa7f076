import type { Channel, ChannelReceiver } from "../../jsonrpc/connection.js";
import { callHook } from "../../platform/call-hook.js";
import type { Platform, Spawn } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { channelTransport } from "../../transport/channel/client.js";
import { StreamChannel } from "../../transport/channel/stream-channel.js";
import type { Receiver, Transport } from "../../transport/transport.js";
import { builtin } from "../builtin.js";
import { decodeUtf8 } from "../decode-utf8.js";
import { ChildStream } from "./child-stream.js";
import { LaunchReport } from "./launch-report.js";
import type { StdioOptions } from "./stdio-client.js";

/**
 * Maximum time for closing the channel, in milliseconds. Longer than the whole shutdown up to SIGKILL, shorter than the
 * documented four seconds.
 */
const CLOSE_TIMEOUT_MS = 3700;

/**
 * Creates a transport over a child process that `open` starts. A separate module, so that `stdioTransport` loads it on
 * demand.
 */
export function childTransport(
  options: StdioOptions,
  target: string,
  platform: Platform & { spawn: Spawn },
): Transport {
  const { command, args = [], cwd } = options;
  const env = childEnvironment(options.env, options.inheritEnv);
  const report = new LaunchReport(command, env, cwd);
  const forward = stderrForwarder(options.stderr ?? "capture", (line) => platform.warn(line));
  const start = () => platform.spawn({ command, args, env, ...(cwd === undefined ? {} : { cwd }) });
  const stream = new ChildStream(start, platform, report, forward);
  const channel = new NoiseFilter(
    new StreamChannel(stream, {
      platform,
      decode: decodeUtf8,
      closeTimeoutMs: CLOSE_TIMEOUT_MS,
      ...(options.maxMessageBytes === undefined ? {} : { maxMessageBytes: options.maxMessageBytes }),
    }),
    report,
  );
  const inner = channelTransport(channel, target);
  return {
    kind: inner.kind,
    target: inner.target,
    network: { transport: "pipe" },
    open: (receiver) => inner.open(channel.watch(receiver)),
    request: (request) => inner.request(request),
    notify: (notification) => inner.notify(notification),
    abandon: (id, reason) => inner.abandon(id, reason),
    explain: (cause) => (isLaunchFailure(cause) ? cause : report.failure("no_answer", cause)),
    async close() {
      await inner.close();
      await stream.gone;
    },
  };
}

function isLaunchFailure(cause: unknown): cause is McpError {
  return McpError.is(cause) && (cause.kind === "connect_failed" || cause.kind === "connection_closed");
}

/** Filters out text that a server prints to stdout by mistake, and records it for error messages. */
class NoiseFilter implements Channel {
  readonly #inner: Channel;
  readonly #report: LaunchReport;
  /** The line being delivered. A fault that is reported during delivery concerns this line. */
  #line: string | undefined;
  #closed = false;

  constructor(inner: Channel, report: LaunchReport) {
    this.#inner = inner;
    this.#report = report;
  }

  open(receiver: ChannelReceiver): void {
    const closed = (reason?: Error) => {
      if (this.#closed) return;
      this.#closed = true;
      receiver.closed(reason);
    };
    this.#inner.open({
      message: (text) => {
        if (this.#closed) return;
        if (this.#report.nonJsonLines >= MAX_REPORTED_LINES && !mayBeMessage(text)) {
          this.#report.noise(text);
          if (!this.#report.answered && this.#report.nonJsonLines > MAX_LINES_BEFORE_ANSWER) {
            closed(this.#report.failure("no_answer"));
            void this.#inner.close();
          }
          return;
        }
        this.#line = text;
        receiver.message(text);
        // If `#line` is still set, no fault was reported, so the line was a message.
        if (this.#line !== undefined) this.#report.answered = true;
        this.#line = undefined;
      },
      fault: (error) => receiver.fault(error),
      closed,
    });
  }

  watch(receiver: Receiver): Receiver {
    return {
      request: (message, about) => receiver.request(message, about),
      notification: (message, about) => receiver.notification(message, about),
      late: (id, result) => receiver.late?.(id, result),
      closed: (reason) => receiver.closed(reason),
      fault: (error) => {
        const line = this.#line;
        this.#line = undefined;
        if (line !== undefined) this.#report.noise(line);
        receiver.fault(line === undefined ? error : withLine(error, line));
      },
    };
  }

  send(text: string): void {
    this.#inner.send(text);
  }

  close(): void | Promise<void> {
    return this.#inner.close();
  }
}

/**
 * Maximum number of lines other than messages that are reported one by one. Further lines are only counted, because a
 * program that prints without end would keep the process busy with faults.
 */
const MAX_REPORTED_LINES = 1000;
/**
 * Maximum number of lines other than messages before the first message. A program that prints more is not a server, so
 * the connection is closed.
 */
const MAX_LINES_BEFORE_ANSWER = 10_000;

function mayBeMessage(line: string): boolean {
  return /^\s*[{[]/.test(line);
}

/**
 * Adds the printed line to an error, because the line helps the author of the server more than the parser's message.
 */
function withLine(error: Error, line: string): McpError {
  const { kind, fix } = McpError.from(error);
  const printed = line.slice(0, MAX_SHOWN_LENGTH);
  return new McpError(kind, `${error.message}: ${JSON.stringify(printed)}`, {
    data: { line: printed },
    fix,
    cause: error,
  });
}

/**
 * Maximum number of characters shown of a line that is not a message. The beginning is enough to find the code that
 * printed the line.
 */
const MAX_SHOWN_LENGTH = 200;

function stderrForwarder(
  target: NonNullable<StdioOptions["stderr"]>,
  warn: Platform["warn"],
): (chunk: Uint8Array) => void {
  if (target === "capture") return () => {};
  if (target === "inherit") return (chunk) => void process.stderr.write(chunk);
  const { StringDecoder } = builtin("node:string_decoder");
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return (chunk) => {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split(/\r?\n/);
    rest = (lines.pop() ?? "").slice(-MAX_STDERR_LINE);
    for (const line of lines) callHook(warn, "stderr", () => target(line));
  };
}

/** Maximum stored length of an unfinished line, to limit the memory for a line that never ends. */
const MAX_STDERR_LINE = 64 * 1024;

const POSIX_NAMES = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

const WINDOWS_NAMES = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/**
 * The environment of a child process: the few variables that most programs need, then `env`.
 *
 * A server is third-party code, so it does not inherit the secrets in this process's environment unless they are named.
 * `inherit` adds names; `true` inherits everything.
 */
function childEnvironment(
  env: Readonly<Record<string, string>> = {},
  inherit: boolean | readonly string[] = false,
  parent: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const allowed = allowedNames(inherit);
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || (allowed !== undefined && !allowed.has(comparable(name)))) continue;
    // An exported shell function is code that the child's shell would run, so it is not inherited.
    if (value.startsWith("()")) continue;
    result[name] = value;
  }
  return { ...result, ...env };
}

function allowedNames(inherit: boolean | readonly string[]): Set<string> | undefined {
  if (inherit === true) return undefined;
  const base = process.platform === "win32" ? WINDOWS_NAMES : POSIX_NAMES;
  return new Set([...base, ...(inherit === false ? [] : inherit)].map(comparable));
}

/** Normalizes a name. Names are case-insensitive on Windows. */
function comparable(name: string): string {
  return process.platform === "win32" ? name.toUpperCase() : name;
}
