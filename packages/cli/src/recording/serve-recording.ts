import type { Server } from "@parley/mcp";
import { serveHttp, serveStdio } from "@parley/mcp/node";
import type { Invocation } from "../commands/command.js";
import { type ServingPlace, serveUntilEnded } from "../serving/serving-place.js";
import { show } from "../terminal/terminal-text.js";

/**
 * Serves until the client closes stdin or the user interrupts, then closes the server. If `place` has no port, listens
 * on any free port.
 */
export async function serveRecording(
  server: Server,
  place: ServingPlace,
  { terminal }: Pick<Invocation, "terminal">,
): Promise<void> {
  try {
    await using handle =
      place.kind === "http"
        ? await serveHttp(server, { port: place.port ?? 0 })
        : await serveStdio(server, { exit: false, terminalHint: false });
    if (terminal.json && handle.url !== undefined) terminal.printJsonLine({ url: handle.url });
    else if (handle.url !== undefined) terminal.note(show`serving at ${handle.url}`);
    await serveUntilEnded(handle, terminal.io);
  } finally {
    await server.close();
  }
}
