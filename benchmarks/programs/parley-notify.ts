// A server that changes a resource as often as it can while it is told to, and says how often that was.
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { WATCHED } from "../messages.js";
import { listening } from "../rounds.mjs";

const limits = { maxStreams: 20_000, maxStreamsPerPrincipal: 20_000 };
const server = new Server({ name: "bench", version: "1.0.0" }, { limits: { listens: 100_000 } });
server.resource(WATCHED, {}, () => "text");
const { url } = await serveHttp(server, { port: 0, limits });

process.on("message", async (message: { notifyForMs?: number } | string) => {
  if (typeof message === "string" || message.notifyForMs === undefined) return;
  const end = performance.now() + message.notifyForMs;
  let changes = 0;
  while (performance.now() < end) {
    server.resourceUpdated(WATCHED);
    changes += 1;
    // Sockets write between two turns.
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.send?.({ changes });
});
listening(url);
