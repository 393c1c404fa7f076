import type { Server } from "@parley/mcp";
import { serveHttp, serveStdio } from "@parley/mcp/node";
import type { Invocation } from "../commands/command.js";
import { show } from "../terminal/shown.js";
import { UsageError } from "../terminal/usage-error.js";

/** Where a command serves: on stdin and stdout, or at a port of this machine; 0 picks a free one. */
export type ServingPlace = { readonly kind: "stdio" } | { readonly kind: "http"; readonly port: number };

/** What `--http [port]` and `--stdio` say; without them stdio, unless a person sits there. Throws a `UsageError` for both. */
export function servingPlace({ options, terminal }: Pick<Invocation, "options" | "terminal">): ServingPlace {
  const port = options.text("http");
  const http = port !== undefined || options.flag("http");
  if (http && options.flag("stdio")) throw new UsageError("--http and --stdio exclude each other", "Give one of them.");
  if (!http && (options.flag("stdio") || terminal.io.stdin.isTTY !== true)) return { kind: "stdio" };
  const number = port !== undefined && PORT.test(port) ? Number(port) : 0;
  if (number <= 65_535) return { kind: "http", port: number };
  throw new UsageError(`${number} is no port`, "Give one up to 65535, or none for a free one.");
}

const PORT = /^\d+$/;

/** The words of the command line. What follows `--http` and is no port is one of them: `--http session.jsonl`. */
export function wordsBesidePort({ words, options }: Pick<Invocation, "words" | "options">): readonly string[] {
  const text = options.text("http");
  return text === undefined || PORT.test(text) ? words : [text, ...words];
}

/** Serves until the client leaves stdin or the user interrupts, then closes the server. */
export async function serveUntilEnd(
  server: Server,
  place: ServingPlace,
  { terminal }: Pick<Invocation, "terminal">,
): Promise<void> {
  const { io } = terminal;
  try {
    await using handle =
      place.kind === "http" ? await serveHttp(server, { port: place.port }) : await serveStdio(server, { exit: false });
    if (terminal.json && handle.url !== undefined) terminal.printJsonLine({ url: handle.url });
    else if (handle.url !== undefined) terminal.note(show`serving at ${handle.url}`);
    await Promise.race([handle.closed, aborted(io.signal)]);
  } finally {
    await server.close();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
