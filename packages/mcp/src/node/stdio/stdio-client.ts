import type { Channel, ChannelReceiver } from "../../jsonrpc/channel.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { channelTransport } from "../../transport/channel/client.js";
import { StreamChannel } from "../../transport/channel/stream-channel.js";
import type { Receiver, Transport } from "../../transport/transport.js";
import { decodeUtf8 } from "../decode-utf8.js";
import { platform as nodePlatform } from "../platform.js";
import { childEnvironment } from "./child-environment.js";
import { ChildStream } from "./child-stream.js";
import { LaunchReport } from "./launch-report.js";
import { shownCommand } from "./shown-command.js";

/** How to start a server as a child process. */
export interface StdioOptions {
  /** The program: a path, or a name that is looked up in `PATH`. Never a shell line. */
  command: string;
  args?: readonly string[];
  /** Variables for the server, beside the short list that every child gets. */
  env?: Readonly<Record<string, string>>;
  /** Names that the server inherits in addition, or `true` for the whole environment; default none. */
  inheritEnv?: boolean | readonly string[];
  cwd?: string;
  /**
   * Where the server's stderr goes. It is always read, and its last 64 KiB are kept for error messages; default that
   * only. `inherit` also copies it to this process's stderr, a function receives it line by line.
   */
  stderr?: "capture" | "inherit" | ((line: string) => void);
  /** Longest message that is read, in bytes; default 16 MiB. */
  maxFrameBytes?: number;
}

/** Longer than the whole way from closed stdin to SIGKILL, shorter than the promised four seconds. */
const CLOSE_TIMEOUT_MS = 3700;

/**
 * A transport that starts the server as a child process and talks over its stdin and stdout.
 *
 * The process starts with `open` and ends with `close`, with everything it started, within four seconds. Lines on its
 * stdout that are no messages are skipped and reported as faults. When it ends by itself, everything pending rejects with
 * an `McpError` whose `data` is a `LaunchReportData`. A transport starts one process; to start again, make another one.
 */
export function stdioTransport(options: StdioOptions, platform: Platform = nodePlatform): Transport {
  const { spawn } = platform;
  if (spawn === undefined) {
    throw new McpError("unsupported", "this platform starts no processes", { fix: "Use another transport here." });
  }
  const { command, args = [], cwd } = options;
  const env = childEnvironment(options.env, options.inheritEnv);
  const report = new LaunchReport(command, env, cwd);
  const forward = stderrForwarder(options.stderr ?? "capture");
  const start = () => spawn({ command, args, env, ...(cwd === undefined ? {} : { cwd }) });
  const stream = new ChildStream(start, platform, report, forward);
  const channel = new NoiseFilter(
    new StreamChannel(stream, {
      platform,
      decode: decodeUtf8,
      closeTimeoutMs: CLOSE_TIMEOUT_MS,
      ...(options.maxFrameBytes === undefined ? {} : { maxFrameBytes: options.maxFrameBytes }),
    }),
    report,
  );
  const inner = channelTransport(channel, shownCommand(command, args));
  return {
    kind: inner.kind,
    target: inner.target,
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

/** Keeps what a server prints by mistake away from the protocol, and remembers it for error messages. */
class NoiseFilter implements Channel {
  readonly #inner: Channel;
  readonly #report: LaunchReport;
  /** The line being delivered; a fault reported meanwhile is about it. */
  #line: string | undefined;

  constructor(inner: Channel, report: LaunchReport) {
    this.#inner = inner;
    this.#report = report;
  }

  open(receiver: ChannelReceiver): void {
    this.#inner.open({
      message: (text) => {
        this.#line = text;
        receiver.message(text);
        // Still set: nobody objected, so it was a message.
        if (this.#line !== undefined) this.#report.answered = true;
        this.#line = undefined;
      },
      fault: (error) => receiver.fault(error),
      closed: (reason) => receiver.closed(reason),
    });
  }

  watch(receiver: Receiver): Receiver {
    return {
      request: (message) => receiver.request(message),
      notification: (message, about) => receiver.notification(message, about),
      closed: (reason) => receiver.closed(reason),
      fault: (error) => {
        if (this.#line !== undefined) this.#report.noise(this.#line);
        this.#line = undefined;
        receiver.fault(error);
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

function stderrForwarder(target: NonNullable<StdioOptions["stderr"]>): (chunk: Uint8Array) => void {
  if (target === "capture") return () => {};
  if (target === "inherit") return (chunk) => void process.stderr.write(chunk);
  const { StringDecoder } = process.getBuiltinModule("node:string_decoder");
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return (chunk) => {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split(/\r?\n/);
    rest = (lines.pop() ?? "").slice(-MAX_STDERR_LINE);
    for (const line of lines) target(line);
  };
}

/** A line without an end must not grow for ever. */
const MAX_STDERR_LINE = 64 * 1024;
