/**
 * Sends what the program prints on stdout to stderr, because stdout belongs to the protocol. Says so once, with the place
 * that printed. It stays for the life of the process: after the protocol's end nobody reads stdout either.
 *
 * It covers `console.*` and `process.stdout`, worker threads included; it cannot cover writes to file descriptor 1 that
 * go past Node's stream, as those of a child process with inherited stdout do.
 */
export function guardStdout(): void {
  const { stdout } = process;
  let noticed = false;
  const write: typeof stdout.write = (...args: unknown[]) => {
    // Looked up here: opening stderr changes how its pipe behaves for those who write to it directly.
    const { stderr } = process;
    if (!noticed) {
      noticed = true;
      stderr.write(notice(callSite()));
    }
    // The overloads are the same on both streams; a rest parameter cannot express that.
    return stderr.write(...(args as Parameters<typeof stderr.write>));
  };
  stdout.write = write;
  stdout.end = ((chunk?: unknown) => {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) write(chunk);
    return stdout;
    // One implementation for all overloads of `end`, none of whose other parameters matter here.
  }) as typeof stdout.end;
}

function notice(place: string): string {
  return (
    `[parley] stdout carries the protocol, so what was printed ${place} goes to stderr, and all later output too. ` +
    "Log with console.error, or pass `guardStdout: false`.\n"
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
  return place === undefined ? "at an unknown place" : `at ${place}`;
}
