import { homedir } from "node:os";
import { EXIT, type ExitCode } from "./terminal/exit-code.js";
import type { Io } from "./terminal/io.js";

/** Runs the command line of this process with `program`, and sets its exit code. */
export async function runProcess(program: (argv: readonly string[], io: Io) => Promise<ExitCode>): Promise<void> {
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => {
    // The first signal asks the command to end. A second one exits at once.
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted);
    interrupted.abort(new Error(`interrupted by ${signal}`));
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  // A reader that closes the pipe (`parley list … | head`) is not an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) =>
    process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failed),
  );
  // Keeps the process alive. A command may wait for something that is not a handle of Node, such as a change in a
  // server that runs in this process. Without this timer, Node would exit with 0.
  setInterval(() => {}, 2 ** 30);
  const io: Io = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    platform: process.platform,
    signal: interrupted.signal,
  };
  process.exitCode = await program(process.argv.slice(2), io);
  // The command has closed everything that it started. Flush and exit, so that a leftover timer or keep-alive
  // connection does not keep the process running.
  if (process.stdout.writableLength > 0) {
    await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  }
  process.exit();
}
