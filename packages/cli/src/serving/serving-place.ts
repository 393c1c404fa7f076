import type { ServeHandle } from "@parley/mcp/node";
import type { Invocation } from "../commands/command.js";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/**
 * The transport of a serving command: stdin and stdout, or HTTP on this machine. Without `port`, the command picks a
 * port.
 */
export type ServingPlace = { readonly kind: "stdio" } | { readonly kind: "http"; readonly port?: number };

const PORT = /^\d+$/;

/**
 * Reads `--http [port]` and `--stdio`. If neither is given, the result is stdio, or HTTP if stdin is a terminal or
 * `wantsHttp` is set. Throws a `UsageError` if both are given, or if the port is out of range.
 */
export function servingPlace(
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  wantsHttp = false,
): ServingPlace {
  const text = options.text("http");
  const http = text !== undefined || options.flag("http");
  if (http && options.flag("stdio")) throw new UsageError("--http and --stdio cannot be combined", "Use one of them.");
  if (!http && (options.flag("stdio") || (!wantsHttp && terminal.io.stdin.isTTY !== true))) return { kind: "stdio" };
  if (text === undefined || !PORT.test(text)) return { kind: "http" };
  if (Number(text) <= 65_535) return { kind: "http", port: Number(text) };
  throw new UsageError(`"${text}" is not a port`, "Use a number from 0 to 65535; 0 picks a free port.");
}

/**
 * The positional arguments. In `--http session.jsonl`, the text after `--http` is not a port, so it is the only
 * positional argument.
 */
export function wordsWithoutPort({ words, options }: Pick<Invocation, "words" | "options">): readonly string[] {
  const text = options.text("http");
  if (text === undefined || PORT.test(text)) return words;
  if (words.length > 0)
    throw new UsageError(`"${text}" is not a port`, "Use a number from 0 to 65535; 0 picks a free port.");
  return [text];
}

/** Time limit for running calls to finish when serving ends. */
const DRAIN_MS = 10_000;

/** Serves until the client disconnects or a signal arrives, then waits for running calls. */
export async function serveUntilEnded(handle: ServeHandle, { signal }: Io): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([handle.closed, interrupted]);
  await handle.drain(DRAIN_MS);
}

/** Redirects stdout to stderr during `work`. A module may print while it loads, but stdout belongs to the protocol. */
export async function withStdoutGuarded<T>({ stdout, stderr }: Io, work: () => Promise<T>): Promise<T> {
  const write = stdout.write;
  // One implementation covers all overloads, which are the same on both streams.
  stdout.write = ((...args: Parameters<typeof write>) => stderr.write(...args)) as typeof write;
  try {
    return await work();
  } finally {
    stdout.write = write;
  }
}
