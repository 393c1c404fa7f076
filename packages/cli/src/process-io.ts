import { homedir } from "node:os";
import { runProgram } from "./program.js";
import { EXIT } from "./terminal/exit-code.js";
import type { Io } from "./terminal/io.js";

/** Runs the command line of this process, and sets its exit code. */
export async function runProcess(): Promise<void> {
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => {
    // The first asks the command to end; whoever asks twice does not want to wait for it.
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted);
    interrupted.abort(new Error(`interrupted by ${signal}`));
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  // A reader that has left (`parley list … | head`) wants no more, and is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) =>
    process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failed),
  );
  // A command may wait for what holds no process, such as a change of a server within this one; without this Node ends it with 0.
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
  process.exitCode = await runProgram(process.argv.slice(2), io);
  // What a command started has been closed; a server's timer or a kept connection must not hold the shell.
  if (process.stdout.writableLength > 0) {
    await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  }
  process.exit();
}
