import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect, Server } from "@parley/mcp";
import { nodeHandler } from "@parley/mcp/node";
import { expect, it, onTestFinished } from "vitest";
import { impatient } from "./impatient.js";

const ERAS = ["2025-11-25", "2026-07-28"] as const;
const LANES = 4;

/** Serves as a proxy does that is configured anew: it drops every request that arrives over a connection from before. */
async function serveBehindReloads(server: Server) {
  const handler = nodeHandler(server);
  const old = new WeakSet<Socket>();
  const open = new Set<Socket>();
  const http = createServer((request, response) => {
    if (old.has(request.socket)) request.socket.destroy();
    else handler(request, response);
  });
  http.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  // A server that listens on TCP has an address object.
  const { port } = http.address() as AddressInfo;
  const reload = () => {
    for (const socket of open) old.add(socket);
    return open.size;
  };
  return { url: `http://127.0.0.1:${port}/mcp`, reload };
}

it.each(ERAS)(
  "a call that is sent again goes over a new connection, not another that was kept (%s)",
  async (revision) => {
    const ran: string[] = [];
    let waiting: (() => void)[] = [];
    const server = new Server({ name: "kept", version: "1.0.0" })
      .tool("together", {}, async () => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === LANES) for (const go of waiting) go();
        });
        return "";
      })
      .tool("note", { annotations: { idempotentHint: true } }, () => {
        ran.push("note");
        return "noted";
      });
    const { url, reload } = await serveBehindReloads(server as unknown as Server);
    const client = await connect(url, { revisions: [revision], platform: impatient });
    onTestFinished(() => client.close());
    for (let round = 1; round <= 3; round++) {
      waiting = [];
      await Promise.all(Array.from({ length: LANES }, () => client.callTool("together")));
      expect(reload()).toBeGreaterThanOrEqual(LANES);
      expect(await client.callTool("note", {}, { resend: "always" })).toMatchObject({ content: [{ text: "noted" }] });
      expect(ran).toHaveLength(round);
    }
  },
);
