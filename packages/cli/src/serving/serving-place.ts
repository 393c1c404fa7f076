import type { ServeHandle } from "@parley/mcp/node";
import type { Invocation } from "../commands/command.js";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** Where a command serves: on stdin and stdout, or at a port of this machine, if one is named. */
export type ServingPlace = { readonly kind: "stdio" } | { readonly kind: "http"; readonly port?: number };

const PORT = /^\d+$/;

/**
 * What `--http [port]` and `--stdio` say; without them stdio, unless a person sits there or `wantsHttp`. Throws a `UsageError` for
 * both, and for what is no port.
 */
export function servingPlace(
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  wantsHttp = false,
): ServingPlace {
  const text = options.text("http");
  const http = text !== undefined || options.flag("http");
  if (http && options.flag("stdio")) throw new UsageError("--http and --stdio exclude each other", "Give one of them.");
  if (!http && (options.flag("stdio") || (!wantsHttp && terminal.io.stdin.isTTY !== true))) return { kind: "stdio" };
  if (text === undefined || !PORT.test(text)) return { kind: "http" };
  if (Number(text) <= 65_535) return { kind: "http", port: Number(text) };
  throw new UsageError(`"${text}" is not a port`, "Give one up to 65535; 0 is any.");
}

/** The words of the command line. What follows `--http` and is no port is the only one: `--http session.jsonl`. */
export function wordsWithoutPort({ words, options }: Pick<Invocation, "words" | "options">): readonly string[] {
  const text = options.text("http");
  if (text === undefined || PORT.test(text)) return words;
  if (words.length > 0)
    throw new UsageError(`"${text}" is not a port`, "Give one up to 65535 behind --http; 0 is any.");
  return [text];
}

/** How long calls may go on after a signal. */
const DRAIN_MS = 10_000;

/** Serves until the client is gone or a signal comes; then calls under way may end. */
export async function serveUntilEnded(handle: ServeHandle, { signal }: Io): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([handle.closed, interrupted]);
  await handle.drain(DRAIN_MS);
}

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
