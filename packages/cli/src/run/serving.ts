import { McpError } from "@parley/mcp";
import type { LoadedConfig } from "@parley/mcp/host";
import {
  type ServeHandle,
  type ServeHttpOptions,
  type ServeStdioOptions,
  serveHttp,
  serveStdio,
} from "@parley/mcp/node";
import type { Invocation } from "../commands/command.js";
import type { Io } from "../terminal/io.js";
import { UsageError } from "../terminal/usage-error.js";

/** How a command serves. */
export type Serving =
  | { readonly kind: "http"; readonly options: ServeHttpOptions }
  | { readonly kind: "stdio"; readonly options: ServeStdioOptions };

/** What can be served. */
export type Served = Parameters<typeof serveHttp>[0];

/** How long calls may go on after a signal. */
const DRAIN_MS = 10_000;

/**
 * The words of a command that serves. `--http` may be followed by a port; what is no port there is a word: `--http ./server.ts`.
 */
export function wordsOf({ words, options }: Invocation): readonly string[] {
  const text = options.text("http");
  return text === undefined || /^\d+$/.test(text) ? words : [text, ...words];
}

/** How to serve, by flags before settings: stdio if nobody sits at stdin, HTTP on loopback otherwise. */
export function servingOf({ options, terminal }: Invocation, config: LoadedConfig): Serving {
  const http = options.flag("http") || options.text("http") !== undefined;
  if (http && options.flag("stdio")) {
    throw new UsageError("--http and --stdio exclude each other", "Give one of them.");
  }
  const forHttp = HTTP_FLAGS.filter((name) => options.text(name) !== undefined || options.many(name).length > 0);
  if (options.flag("stdio") || (!http && forHttp.length === 0 && terminal.io.stdin.isTTY !== true)) {
    if (forHttp.length > 0) throw new UsageError(`--${forHttp[0]} is for HTTP`, "Leave it out, or give --http.");
    return { kind: "stdio", options: { ...config.stdio, exit: false } };
  }
  return { kind: "http", options: { ...config.http, ...httpFlags(options) } };
}

const HTTP_FLAGS = ["host", "path", "allow"];

function httpFlags(options: Invocation["options"]): ServeHttpOptions {
  const text = options.text("http");
  const port = text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
  if (port !== undefined && port > 65_535)
    throw new UsageError(`${port} is no port`, "Give one up to 65535; 0 is any.");
  const [host, path, allowed] = [options.text("host"), options.text("path"), options.many("allow")];
  const origins = allowed.filter((one) => one.includes("://"));
  const hosts = allowed.filter((one) => !one.includes("://"));
  return {
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    ...(path === undefined ? {} : { path: path.startsWith("/") ? path : `/${path}` }),
    ...(hosts.length === 0 ? {} : { allowedHosts: hosts }),
    ...(origins.length === 0 ? {} : { allowedOrigins: origins }),
    ...(options.flag("allowUnauthenticated") ? { allowUnauthenticated: true } : {}),
  };
}

/** Begins to serve. */
export async function beginServing(served: Served, { kind, options }: Serving): Promise<ServeHandle> {
  if (kind === "stdio") return serveStdio(served, options);
  try {
    return await serveHttp(served, options);
  } catch (reason) {
    if (!McpError.is(reason) || !/no `authenticate` option/.test(reason.message)) throw reason;
    throw new UsageError(
      "other machines could call the server, and nothing checks who they are",
      "Serve on loopback behind a proxy that checks, or add --allow-unauthenticated if everyone may use every tool.",
    );
  }
}

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
