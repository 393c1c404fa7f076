import type { Io } from "../terminal/io.js";

/** What a module prints while it is loaded goes to stderr: behind stdout is a client that expects messages. */
export async function withStdoutGuarded<T>({ stdout, stderr }: Io, work: () => Promise<T>): Promise<T> {
  const write = stdout.write;
  // One implementation for all overloads, which both streams have alike.
  stdout.write = ((...args: Parameters<typeof write>) => stderr.write(...args)) as typeof write;
  try {
    return await work();
  } finally {
    stdout.write = write;
  }
}
