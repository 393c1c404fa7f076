import { connect, type Server } from "@parley/mcp";
import { openInBrowser } from "@parley/mcp/login";
import type { InspectorTarget } from "./connections/inspector-target.js";
import type { Inspector } from "./inspector-options.js";
import { startInspector } from "./start-inspector.js";

/** Options of `inspect`. */
export interface InspectOptions {
  /** The port on this machine. Default: 0, which picks a free port. */
  port?: number | undefined;
  /** True to open the browser. Default: true if stderr is a terminal and the environment variable `CI` is empty. */
  open?: boolean | undefined;
}

/**
 * Opens an inspector for a server in this process, for use during development. The page connects to the server in
 * memory. Writes the address of the page to stderr.
 *
 * @example
 * ```ts
 * import { Server } from "@parley/mcp";
 * import { inspect } from "@parley/inspector";
 *
 * const inspector = await inspect(new Server({ name: "notes", version: "1.0.0" }));
 * ```
 */
export async function inspect(server: Server, { port, open }: InspectOptions = {}): Promise<Inspector> {
  const inspector = await startInspector({ port, targets: [targetOf(server)] });
  process.stderr.write(`inspector: ${inspector.url}\n`);
  const isWatched = process.stderr.isTTY === true && (process.env["CI"] ?? "") === "";
  if (open ?? isWatched) openPage(inspector.url);
  return inspector;
}

function openPage(url: string): void {
  try {
    openInBrowser(url);
  } catch {
    // This system has no known program that opens a browser. The user can open the address that is on stderr.
  }
}

function targetOf(server: Server): InspectorTarget {
  return { kind: "server", shown: "the server of this process", open: (options) => connect(server, options) };
}
