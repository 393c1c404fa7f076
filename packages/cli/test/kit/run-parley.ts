import { PassThrough } from "node:stream";
import { runProgram } from "../../src/program.js";
import type { Io } from "../../src/terminal/io.js";

/** What a command line ended with. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What differs from a pipe in an empty environment. */
export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Io["env"];
  readonly cwd?: string;
  readonly home?: string;
  /** Whether the streams say that they are terminals. Interactive tests use a real one: `Screen`. */
  readonly tty?: boolean;
  readonly columns?: number;
  readonly signal?: AbortSignal;
  /** Called with what is written to stderr, as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** Runs a command line in this process, with streams of its own. */
export async function runParley(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const [stdout, stderr] = [collected(options), collected(options)];
  const stdin = Object.assign(new PassThrough(), { isTTY: options.tty ?? false });
  stdin.end(options.stdin ?? "");
  if (options.onStderr !== undefined) stderr.stream.on("data", (chunk: Buffer) => options.onStderr?.(String(chunk)));
  const code = await runProgram(args, {
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: options.env ?? { PATH: process.env["PATH"] },
    cwd: options.cwd ?? process.cwd(),
    // No home of a person: tests find no configuration and no tokens that they did not write.
    home: options.home ?? "/nonexistent",
    platform: process.platform,
    signal: options.signal ?? new AbortController().signal,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collected({ tty = false, columns }: RunOptions) {
  const chunks: Buffer[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY: tty, columns });
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
