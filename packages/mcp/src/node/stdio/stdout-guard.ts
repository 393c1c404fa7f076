/**
 * Redirects what the program prints to stdout to stderr, because the server must write only messages to stdout. Warns
 * once, with the place that printed. It is never removed: stdout has no reader after the protocol ends.
 *
 * It covers `console.*` and `process.stdout`, including worker threads; it cannot cover writes to file descriptor 1 that
 * bypass Node's stream, such as those of a child process with inherited stdout.
 *
 * Spec: Transports, "stdio", https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function guardStdout(): void {
  const { stdout } = process;
  // Files have no such count.
  const before = (stdout as { bytesWritten?: number }).bytesWritten ?? 0;
  if (before > 0) process.stderr.write(tooEarly(before));
  let noticed = false;
  const write: typeof stdout.write = (...args: unknown[]) => {
    // Read here, because opening stderr changes how its pipe behaves for code that writes to it directly.
    const { stderr } = process;
    if (!noticed) {
      noticed = true;
      stderr.write(notice(callSite()));
    }
    // Safe: both streams have the same overloads, which a rest parameter cannot express.
    return stderr.write(...(args as Parameters<typeof stderr.write>));
  };
  stdout.write = write;
  stdout.end = ((chunk?: unknown) => {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) write(chunk);
    return stdout;
    // Safe: one implementation for all overloads of `end`; its other parameters are not needed.
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
    `[parley] ${bytes} bytes were printed to stdout before \`serveStdio\` was called, where clients expect messages alone. ` +
    "Call `serveStdio` first, or log with console.error.\n"
  );
}

/** The innermost frame outside Node and this file. */
function callSite(): string {
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  Error.captureStackTrace(holder, callSite);
  Error.stackTraceLimit = limit;
  const frames = (holder.stack ?? "").split("\n").slice(1);
  const frame = frames.find((line) => !/\(?node:|stdout-guard|WriteStream\.write|Socket\.write/.test(line));
  const place = frame === undefined ? undefined : /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(frame.trim())?.[1];
  return place === undefined ? "somewhere" : `at ${place}`;
}
